"""Named values that survive: what every place for them promises, and one in memory."""

from collections.abc import Iterator
from typing import Protocol, Self

from tapas.engine._entry import Entry
from tapas.errors import StoreError


class Store(Protocol):
    """Where a run keeps what it has finished; a ``with`` block closes it at its end."""

    def __contains__(self, key: str) -> bool:
        """Whether there is a value called `key`."""

    def load(self, key: str) -> Entry:
        """The value called `key`; StoreError if it is missing or damaged."""

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value; it is there whole or not at all."""

    def discard(self, key: str) -> None:
        """Forget a value, if it is there."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""

    def close(self) -> None:
        """Let go of what the store holds open; nothing can be read or saved afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


class MemoryStore(Store):
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] | None = {}

    @property
    def _entries(self) -> dict[str, bytes]:
        if self._held is None:
            raise StoreError("the store is closed")
        return self._held

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def load(self, key: str) -> Entry:
        """The value called `key`."""
        if key not in self._entries:
            raise StoreError(f"there is no entry {key!r}")
        return Entry.from_bytes(self._entries[key])

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value."""
        self._entries[key] = entry.to_bytes()

    def discard(self, key: str) -> None:
        """Forget a value."""
        self._entries.pop(key, None)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""
        return iter(sorted(key for key in self._entries if key.startswith(prefix)))

    def close(self) -> None:
        """Forget all values."""
        self._held = None
