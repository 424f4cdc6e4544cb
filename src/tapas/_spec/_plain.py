"""Plain values: their digest, and where two trees of them differ."""

import hashlib
import json

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]


def digest_of(value: Plain | bytes) -> str:
    """Digest of plain values or bytes."""
    content = value if isinstance(value, bytes) else as_text(value).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def differences(stored: Plain, asked: Plain, path: str = "") -> list[str]:
    """Where two trees of plain values differ, one line each."""
    if isinstance(stored, dict) and isinstance(asked, dict):
        keys = sorted({*stored, *asked})
        pairs = [
            (f"{path}.{key}" if path else key, stored.get(key), asked.get(key)) for key in keys
        ]
    elif isinstance(stored, list) and isinstance(asked, list) and len(stored) == len(asked):
        pairs = [
            (f"{path}[{position}]", left, right)
            for position, (left, right) in enumerate(zip(stored, asked, strict=True))
        ]
    elif stored == asked:
        return []
    else:
        return [f"{path}: stored {_short(stored)}, asked {_short(asked)}"]
    return [line for below, left, right in pairs for line in differences(left, right, below)]


def as_text(value: Plain) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _short(value: Plain) -> str:
    text = json.dumps(value) if value is not None else "nothing"
    return text if len(text) <= 80 else text[:77] + "..."
