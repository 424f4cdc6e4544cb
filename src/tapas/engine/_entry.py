"""A value that a store keeps: arrays and JSON, nothing that runs."""

import io
import json
import math
import zipfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib import format as npy

from tapas.errors import StoreError

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True, eq=False)
class Entry:
    """A value: arrays by name, and notes that JSON can hold."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Pack into one npz file; arrays and notes that hold other Python objects are refused."""
        try:
            notes = np.frombuffer(json.dumps(self.notes).encode(), dtype=np.uint8)
        except (TypeError, ValueError) as error:
            raise StoreError(f"notes must be what JSON can hold: {error}") from error
        buffer = io.BytesIO()
        for name, array in self.arrays.items():
            if array.dtype.hasobject:
                raise StoreError(f"array {name!r} holds Python objects, which are not stored")
        np.savez(buffer, allow_pickle=False, **{"notes": notes, **self._prefixed()})
        return buffer.getvalue()

    def _prefixed(self) -> dict[str, np.ndarray]:
        return {f"array:{name}": array for name, array in self.arrays.items()}

    @classmethod
    def from_bytes(cls, content: bytes) -> "Entry":
        """Unpack what `to_bytes` made; never more than the bytes themselves hold."""
        _refuse_expansion(content)
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            held = {
                name.removesuffix(".npy"): _array(packed.read(name)) for name in packed.namelist()
            }
        arrays = {
            name.removeprefix("array:"): array
            for name, array in held.items()
            if name.startswith("array:")
        }
        return cls(arrays, json.loads(held["notes"].tobytes()))


def _array(member: bytes) -> np.ndarray:
    """Of an npy file; numpy's reader makes room for what it says before it looks for it."""
    stream = io.BytesIO(member)
    shape, by_columns, dtype = _HEADERS[npy.read_magic(stream)](stream)
    if math.prod(shape) * dtype.itemsize != len(member) - stream.tell():
        raise ValueError("an array has another size than it says")
    values = np.frombuffer(member, dtype, offset=stream.tell())
    return values.reshape(shape, order="F" if by_columns else "C").copy(order="K")


def _refuse_expansion(content: bytes) -> None:
    """What is stored is not compressed: a member that says otherwise would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = packed.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("it is compressed")
    if sum(member.file_size for member in members) > len(content):
        raise ValueError("it claims to hold more than it does")
