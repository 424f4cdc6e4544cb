"""What a game about a trained model is made of: needs, briefing, who is known and who is judged."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas._random import stream
from tapas._validate import listing
from tapas.errors import (
    IncompatibleAttackError,
    SchemaError,
    TargetInDataWarning,
    ThreatModelError,
)
from tapas.models import Access, Model, RecordEncoding, Records
from tapas.threat_models._trials import Briefing, Release

# Parts of a model audit that have a random stream of their own.
SPLIT, ORDER, SHADOW_DATA, PLAN, TRAINING, OBSERVING, FITTING = range(7)

LABEL_ATTACKS = "RuleBasedMIA or LabelOnlyMIA"
SINGLE_MODEL_ATTACKS = "LossMIA, BlackBoxMIA or QuantileMIA"


@dataclass(frozen=True)
class ModelNeeds:
    """What an attack on a model cannot do without.

    Attributes
    ----------
    access : Access
        What it reads from the model.
    training : bool
        Whether it learns from records whose membership the attacker knows.
    references : int
        On how many reference models it must see each record that is judged.
    inside : bool
        Whether each such record must be in the training set of some of them.
    goal : str
    """

    access: Access = Access.SCORES
    training: bool = True
    references: int = 0
    inside: bool = False
    goal: str = "membership"


@dataclass(frozen=True, eq=False)
class ModelBriefing(Briefing):
    """A briefing about a model.

    Attributes
    ----------
    targets : Records
        Inputs and classes of the records in question, in an order that says nothing.
    auxiliary : Records or None
        Records that the attacker holds.
    encoding : RecordEncoding or None
        Turns records into points and back; learned from all that the attacker holds.
    access : Access
    """

    targets: Any = None
    encoding: RecordEncoding | None = None
    access: Access = Access.SCORES


@dataclass(frozen=True, eq=False)
class Judged:
    """Records with their membership, and where they came from.

    Attributes
    ----------
    records : Records
    members : ndarray of bool
    rows : ndarray of int
        Position in the members or the non-members that were given.
    """

    records: Records
    members: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True, eq=False)
class ObservingTask:
    """Observe shadow model number `index`, wherever this is sent."""

    attack: Any
    models: tuple[Model, ...]
    briefing: ModelBriefing
    seed: int
    part: int

    def __call__(self, index: int) -> np.ndarray:
        rng = stream(self.seed, OBSERVING, self.part, index)
        return np.asarray(self.attack.observe(Release(self.models[index]), self.briefing, rng=rng))


def as_records(given: Any, name: str) -> Records:
    """Read (X, y) or `Records`."""
    if isinstance(given, Records):
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise SchemaError(
            f"{name} must be a pair (X, y) or tapas.models.Records, got {type(given).__name__}"
        )
    return Records(given[0], given[1])


def comparable(members: Records, non_members: Records, seed: int) -> tuple[Records, Records]:
    """Members and non-members that can be told apart by membership alone.

    Records whose values occur on both sides are left out of both, with a warning that counts them.
    Leaving them out of one side would keep that side's rare records, and so would sides of
    different size: the larger is cut first, and values among those cut off are left out too.
    """
    keys = members.row_keys(), non_members.row_keys()
    shared = np.isin(keys[1], keys[0])
    if not shared.any():
        return members, non_members
    size = min(len(members), len(non_members))
    orders = [stream(seed, SPLIT, 2 + side).permutation(len(keys[side])) for side in (0, 1)]
    drawn = [np.sort(order[:size]) for order in orders]
    cut_off = np.concatenate([keys[side][orders[side][size:]] for side in (0, 1)])
    kept = []
    for side in (0, 1):
        elsewhere = np.concatenate([keys[1 - side][drawn[1 - side]], cut_off])
        kept.append(drawn[side][~np.isin(keys[side][drawn[side]], elsewhere)])
    if min(map(len, kept)) < 2:
        raise ThreatModelError(
            f"all but {min(map(len, kept))} of the {len(non_members)} non-members are also "
            f"members: give records that the model was not trained on"
        )
    warnings.warn(
        f"{int(shared.sum())} of {len(non_members)} non-members are equal to members "
        f"({members.overlap(non_members)} of {len(members)}); such records are left out on both "
        f"sides, {len(kept[0])} members and {len(kept[1])} non-members remain",
        TargetInDataWarning,
        stacklevel=5,
    )
    return members.take(kept[0]), non_members.take(kept[1])


def split_known(
    members: Records, non_members: Records, known_share: float, seed: int
) -> tuple[Judged | None, Judged]:
    """Draw the records that the attacker knows; the others are judged, in random order."""
    known_rows, judged_rows = [], []
    for side, records in enumerate((members, non_members)):
        order = stream(seed, SPLIT, side).permutation(len(records))
        number = round(known_share * len(records))
        known_rows.append(np.sort(order[:number]))
        judged_rows.append(np.sort(order[number:]))
    if min(map(len, judged_rows)) < 2:
        raise ThreatModelError(
            f"too few records are left to judge: {len(judged_rows[0])} members and "
            f"{len(judged_rows[1])} non-members, at least 2 of each are needed. Give more records "
            f"or a smaller known_share"
        )
    known = None
    if all(map(len, known_rows)):
        known = _shuffled(members, non_members, known_rows, stream(seed, ORDER, 0))
    return known, _shuffled(members, non_members, judged_rows, stream(seed, ORDER, 1))


def _shuffled(
    members: Records, non_members: Records, rows: list[np.ndarray], rng: np.random.Generator
) -> Judged:
    together = members.take(rows[0]).concat(non_members.take(rows[1]))
    inside = np.arange(len(together)) < len(rows[0])
    order = rng.permutation(len(together))
    return Judged(together.take(order), inside[order], np.concatenate(rows)[order])


def check_attack(attack: Any, threat_model: str, goal: str) -> ModelNeeds:
    """Return the needs of an attack on models; refuse an attack on anything else."""
    needs = getattr(attack, "needs", None)
    label = getattr(attack, "label", type(attack).__name__)
    if not isinstance(needs, ModelNeeds):
        raise IncompatibleAttackError(
            f"{label} does not attack models: {threat_model} needs an attack such as LossMIA, "
            f"BlackBoxMIA or RuleBasedMIA"
        )
    if needs.goal != goal:
        fitting = {
            "membership": "LossMIA or BlackBoxMIA",
            "attribute": "ConfidenceAIA or LabelOnlyAIA",
            "property": "PropertyClassifier",
        }
        raise IncompatibleAttackError(
            f"{label} infers {needs.goal}, but {threat_model} asks for {goal}: use {fitting[goal]}"
        )
    return needs


def check_access(needs: ModelNeeds, access: Access, label: str, instead: str) -> None:
    """Refuse an attack that reads more than the release shows."""
    if not access.shows(needs.access):
        raise IncompatibleAttackError(
            f"{label} reads {needs.access.value}, but the release shows {access.value} only: use "
            f"{instead}"
        )


def check_same_columns(records: Records, reference: Records, name: str) -> None:
    """Refuse records whose columns differ from those of the members."""
    if records.is_frame != reference.is_frame or records.columns != reference.columns:
        raise SchemaError(
            f"{name} must have the columns of the members, {listing(reference.columns)}, got "
            f"{listing(records.columns)}"
        )
