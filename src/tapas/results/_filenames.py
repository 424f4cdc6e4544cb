"""Labels as file names: kept as they are where possible, made safe where not."""

import hashlib
import re

__all__ = ["file_safe"]

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_LONGEST = 200  # bytes; most file systems allow 255 for the whole name


def file_safe(name: object) -> str:
    """Return `name` as a file name: unsafe characters become ``_``, very long names are cut.

    A name that is safe already is returned unchanged. A cut name ends in a digest
    of the whole, so that two long names do not become one.
    """
    text = _UNSAFE.sub("_", str(name)).encode("utf-8", "replace").decode()
    if len(text.encode()) > _LONGEST:
        digest = hashlib.sha256(str(name).encode("utf-8", "replace")).hexdigest()[:10]
        text = text.encode()[: _LONGEST - 11].decode("utf-8", "ignore") + "-" + digest
    return text
