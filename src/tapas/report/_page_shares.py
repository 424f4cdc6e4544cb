"""Which shares of a property attacks recognise."""

from collections.abc import Sequence
from dataclasses import dataclass

from tapas.report._page_cells import Cell
from tapas.results import SharesTold

__all__ = ["SharesTable", "shares_tables"]


@dataclass(frozen=True)
class SharesTable:
    """Test models of one attack: a row for each true share, a column for each guessed one."""

    title: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def shares_tables(told: Sequence[SharesTold]) -> list[SharesTable]:
    """What every attack told of the shares."""
    return [
        SharesTable(
            f"{one.attack} on {one.subject}",
            one.words(),
            ("True share", *(f"guessed {share:g}" for share in one.shares)),
            tuple(
                (Cell(f"{share:g}", kind="text"), *(Cell(str(n), sort=str(n)) for n in row))
                for share, row in zip(one.shares, one.counts, strict=True)
            ),
        )
        for one in told
    ]
