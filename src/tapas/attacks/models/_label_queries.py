"""What label queries around a record tell: how far its class reaches, and how robust it is."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tapas.attacks.models._boundary_walk import WalkPlan, boundary_distances, nearest_elsewhere
from tapas.attacks.models._noise_robustness import SCALES, noise_robustness
from tapas.attacks.models._own_models import own_certainty
from tapas.attacks.models._points import Points
from tapas.game import ModelBriefing
from tapas.models import Model, RecordEncoding, Records

POOL_RECORDS = 5_000  # more hardly shorten the way to another class


@dataclass(frozen=True, eq=False)
class LabelQueries:
    """Asks a model for the classes of records and of points around them.

    Attributes
    ----------
    model : Model
    targets : Records
    held : Records or None
        What the attacker holds besides.
    encoding : RecordEncoding
    """

    model: Model
    targets: Records
    held: Records | None
    encoding: RecordEncoding

    @classmethod
    def about(cls, model: Model, briefing: ModelBriefing) -> "LabelQueries":
        """Queries about the targets of a briefing."""
        return cls(model, briefing.targets, briefing.auxiliary, briefing.known_encoding)

    @cached_property
    def codes(self) -> np.ndarray:
        """True classes."""
        return self.model.codes_of(self.targets.y)

    @cached_property
    def predicted(self) -> np.ndarray:
        """Predicted classes: one query per record."""
        return self.model.predict_codes(self.targets.X)

    @property
    def right(self) -> np.ndarray:
        """Whether each record is classified right."""
        return self.predicted == self.codes

    @cached_property
    def points(self) -> Points:
        """The records as points."""
        return Points.of(self.targets, self.encoding)

    def robustness(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Shares of noisy copies classified right, 0 where the record itself is not."""
        right = self.right
        shares = np.zeros((len(right), len(SCALES)))
        shares[right] = noise_robustness(
            self._ask, self.points.only(right), self.codes[right], self.encoding, draws, rng=rng
        )
        return shares

    def distances(self, queries: int, rng: np.random.Generator) -> np.ndarray:
        """Distances to the boundary, 0 where the prediction is wrong, NaN where none is known."""
        right = self.right
        starts, pool = self._starts()
        found = np.flatnonzero(starts >= 0)
        walked = right.nonzero()[0][found]
        distances = np.where(right, np.nan, 0.0)
        distances[walked] = boundary_distances(
            self._ask,
            self.points.only(walked),
            self.predicted[walked],
            pool.only(starts[found]),
            WalkPlan.within(queries),
            self.encoding.project,
            rng=rng,
        )
        return distances

    def difficulty(self) -> np.ndarray:
        """How sure models of the attacker's own are of each record's class; costs no query."""
        held_codes = None if self.held is None else self.model.codes_of(self.held.y)
        return own_certainty(self.targets, self.codes, self.held, held_codes, self.encoding)

    def _starts(self) -> tuple[np.ndarray, Points]:
        """For each record that is classified right, a pool point of another predicted class."""
        pool, pool_codes = self.points, self.predicted
        if self.held is not None and len(pool) < POOL_RECORDS:
            more = self.held.take(np.arange(min(len(self.held), POOL_RECORDS - len(pool))))
            pool = Points.of(self.targets.concat(more), self.encoding)
            pool_codes = np.concatenate([pool_codes, self.model.predict_codes(more.X)])
        right = self.right
        mine = self.points.only(right)
        return nearest_elsewhere(mine, self.predicted[right], pool, pool_codes), pool

    def _ask(self, points: np.ndarray) -> np.ndarray:
        return self.model.predict_codes(self.encoding.decode(points))
