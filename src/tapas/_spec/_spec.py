"""The identity of a thing."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tapas._spec._code import path_of
from tapas._spec._plain import Plain, digest_of
from tapas._spec._reader import ValueReader


@dataclass(frozen=True)
class Spec:
    """Identity of a thing.

    Attributes
    ----------
    path : str
        Import path of its class, or of the function that it is.
    arguments : mapping
        What it is made of, as plain values; data by digest.
    source : str or None
        Digest of its code, where that is no installed package's.
    doubts : tuple of str
        Parts that cannot be compared.
    """

    path: str
    arguments: Mapping[str, Plain]
    source: str | None = None
    doubts: tuple[str, ...] = ()

    def plain(self) -> dict[str, Plain]:
        """The spec as JSON values."""
        code = {} if self.source is None else {"source": self.source}
        return {"path": self.path, **code, **self.arguments}

    @cached_property
    def digest(self) -> str:
        """Equal for equal specs."""
        return digest_of(self.plain())


def spec_of(thing: object, *, code: bool = True) -> Spec:
    """The spec of a thing as it is now.

    Without `code`, what it is made of counts, but not how its classes are written or what its
    functions refer to: enough to tell whether one and the same object has changed.
    """
    reader = ValueReader(reads_code=code)
    try:
        described = reader.describe(thing, "it")
    except RecursionError:
        reader.doubts.append("it is too deep to be compared")
        described = None
    if not isinstance(described, dict) or "path" not in described:
        described = {"path": path_of(type(thing)), "value": described}
    path, source = described.pop("path"), described.pop("source", None)
    return Spec(str(path), described, None if source is None else str(source), tuple(reader.doubts))
