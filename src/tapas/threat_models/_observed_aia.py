"""Attribute inference where only files exist, as the excess over records that were not used."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets import TabularDataset
from tapas.errors import ThreatModelError
from tapas.game import Candidates, Goal, Value
from tapas.threat_models._observed import ObservedMIA


class ObservedAIA(ObservedMIA):
    """Attribute inference in one release that exists already.

    The attacker knows all of a record but one value, and guesses that. What can be guessed about
    records that were not used follows from the population and is no leak. So what is reported is
    whether right guesses tell the records that were used from the others: the true positive rate
    is the share guessed right of those used, the false positive rate that of the others, and
    their difference, the advantage, is the excess. There is no accuracy by itself.

    Parameters
    ----------
    release, members, non_members, reference, known_share, seed, label
        See `ObservedMIA`. The attacker knows the values of the known records.
    sensitive_attribute : str
        The column that is guessed.
    attribute_values : sequence, optional
        The values it may have; those that the description lists by default. Records with another
        one, or none, are not judged.
    """

    def __init__(
        self,
        release: TabularDataset,
        members: TabularDataset,
        non_members: TabularDataset,
        sensitive_attribute: str,
        attribute_values: Sequence[Value] | None = None,
        reference: TabularDataset | None = None,
        known_share: float = 0.5,
        seed: int | None = None,
        *,
        label: str | None = None,
    ) -> None:
        values = _values(members, sensitive_attribute, attribute_values)
        sides = [_having(side, sensitive_attribute, values) for side in (members, non_members)]
        inside, outside = members.take(sides[0]), non_members.take(sides[1])
        super().__init__(release, inside, outside, reference, known_share, seed, label=label)
        goal = Goal("attribute", sensitive_attribute, values)
        game = self._game
        self._game = replace(
            game,
            goal=goal,
            candidates=_as_given(game.candidates, sides),
            known=None if game.known is None else _as_given(game.known, sides),
        )
        self._given = (members, non_members)
        self.sensitive_attribute, self.attribute_values = sensitive_attribute, values


def _as_given(
    some: Candidates[TabularDataset], kept: Sequence[np.ndarray]
) -> Candidates[TabularDataset]:
    """The same records with their rows in the tables that were given."""
    return replace(some, rows=np.where(some.members, *(_at(side, some.rows) for side in kept)))


def _values(
    members: TabularDataset, attribute: str, given: Sequence[Value] | None
) -> tuple[Value, ...]:
    column = {column.name: column for column in members.description.parsed}.get(attribute)
    listed = None if column is None else column.values
    values = tuple(given) if given is not None else tuple(listed or ())
    if column is None or len(set(values)) < 2:
        parsed = members.description.parsed
        others = [one.name for one in parsed if len(one.values or ()) > 1]
        another = f", or name one of {listing(others)}" if others else ""
        raise ThreatModelError(
            f"sensitive_attribute {attribute!r} must be a column with at least two listed values: "
            f"give attribute_values{another}"
        )
    return values


def _having(side: TabularDataset, attribute: str, values: tuple[Value, ...]) -> np.ndarray:
    """Positions of the records that have one of the values."""
    column: pd.Series = side.data[attribute]
    return np.flatnonzero(column.isin(list(values)).to_numpy())


def _at(kept: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Positions among all records; those of the other side are beyond and left alone."""
    return kept[np.minimum(rows, len(kept) - 1)] if len(kept) else rows
