"""Labels as file names: kept as they are where possible, made safe where not."""

import hashlib
import re

__all__ = ["file_safe"]

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_LONGEST = 200  # bytes; most file systems allow 255 for the whole name


def file_safe(name: object) -> str:
    """Return `name` as a file name: unsafe characters become ``_``, very long names are cut.

    A name that is safe already is returned unchanged. A changed one ends in a digest
    of the whole, so that two names do not become one.
    """
    given = str(name)
    text = _UNSAFE.sub("_", given).encode("utf-8", "replace").decode()
    if text == given and len(text.encode()) <= _LONGEST:
        return text
    digest = hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:8]
    return text.encode()[: _LONGEST - 9].decode("utf-8", "ignore") + "-" + digest
