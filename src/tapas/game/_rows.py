"""Arrays by the number of a trial, in little more memory than they hold."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

_BYTES_AT_ONCE, _ROWS_AT_ONCE = 1 << 16, 1024


class Rows(Mapping[int, np.ndarray]):
    """Arrays by number; those like the first lie side by side, blocks of them at a time."""

    def __init__(self) -> None:
        self._blocks: dict[int, np.ndarray] = {}
        self._filled: dict[int, np.ndarray] = {}
        self._others: dict[int, np.ndarray] = {}
        self._like = np.empty(0)
        self._at_once = 0

    def keep(self, number: int, row: np.ndarray) -> None:
        """Hold a row, in the place of one that was held under the same number."""
        if not self._at_once:
            self._like = np.empty(row.shape, row.dtype)
            self._at_once = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // max(1, row.nbytes)))
        block, place = divmod(number, self._at_once)
        if row.shape != self._like.shape or row.dtype != self._like.dtype:
            self._others[number] = row
            if block in self._filled:
                self._filled[block][place] = False
            return
        if block not in self._blocks:
            self._blocks[block] = np.empty((self._at_once, *row.shape), row.dtype)
            self._filled[block] = np.zeros(self._at_once, dtype=bool)
        self._blocks[block][place] = row
        self._filled[block][place] = True
        self._others.pop(number, None)

    def at(self, numbers: Sequence[int]) -> np.ndarray:
        """Rows of these numbers, in this order, as one array."""
        if self._others or not numbers:
            return np.stack([self[number] for number in numbers])
        blocks, places = np.divmod(np.array(numbers), self._at_once)
        found = np.empty((len(numbers), *self._like.shape), self._like.dtype)
        for block in np.unique(blocks).tolist():
            here = blocks == block
            found[here] = self._blocks[block][places[here]]
        return found

    def held(self, count: int) -> np.ndarray:
        """Which of the first `count` numbers have a row."""
        mask = np.zeros(count, dtype=bool)
        for block, filled in self._filled.items():
            part = mask[block * self._at_once : (block + 1) * self._at_once]
            part |= filled[: len(part)]
        mask[[number for number in self._others if number < count]] = True
        return mask

    def __getitem__(self, number: int) -> np.ndarray:
        block, place = divmod(number, self._at_once or 1)
        if block in self._filled and self._filled[block][place]:
            return self._blocks[block][place, ...]
        return self._others[number]

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        block, place = divmod(number, self._at_once or 1)
        return (block in self._filled and bool(self._filled[block][place])) or (
            number in self._others
        )

    def __iter__(self) -> Iterator[int]:
        found = [
            (block * self._at_once + np.flatnonzero(filled)).tolist()
            for block, filled in self._filled.items()
        ]
        return iter(sorted([*self._others, *(number for some in found for number in some)]))

    def __len__(self) -> int:
        return len(self._others) + sum(map(np.count_nonzero, self._filled.values()))
