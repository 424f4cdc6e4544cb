"""What is known of one audited mechanism, model or release, or of a control."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from tapas._spec import Plain
from tapas._validate import check_choice, check_probability
from tapas.errors import ConfigError
from tapas.results._copies import Copies
from tapas.results._exposure_map import ExposureMap
from tapas.results._learning import LearningCurve
from tapas.results._leaves import Leaves
from tapas.results._left_out_columns import LeftOutColumn
from tapas.results._rare_columns import RareColumn
from tapas.results._share_answers import PropertyShares
from tapas.results._storage import as_plain_list, checked
from tapas.results._summary import AttackSummary

__all__ = [
    "FAILURES",
    "LEAKY_CONTROL",
    "SAFE_CONTROL",
    "SUBGROUP",
    "VALUE",
    "AttackCrash",
    "AuditedSubject",
    "TrialFailure",
]

LEAKY_CONTROL = "control: resampled records"  # the one that is known to leak
SAFE_CONTROL = "control: independent columns"  # the one that is not meant to
FAILURES = "Failures of the mechanism"  # the attack that knows which trials failed, and no more
SUBGROUP, VALUE = "by ", "value of "  # what names of columns about records begin with


@dataclass(frozen=True)
class TrialFailure:
    """A trial in which the mechanism failed."""

    phase: str
    index: int
    message: str


@dataclass(frozen=True)
class AttackCrash:
    """An attack that could not be carried out against a target."""

    attack: str
    target: str
    message: str


@dataclass(frozen=True, eq=False)
class AuditedSubject:
    """One mechanism (or model, or release) under one threat model.

    Attributes
    ----------
    name : str
    role : {"audited", "control"}
        Controls show where the scale begins and ends; gates do not look at them.
    summaries : tuple of AttackSummary
        One per attack and target.
    failures : tuple of TrialFailure
    crashes : tuple of AttackCrash
    trials : dict
        Number of trials played, by phase.
    records : mapping of str to sequence, optional
        Columns about the records that were judged (where they come from, their class, whether the
        model is right about them), in the order of a summary that covers them all.
    exposure : ExposureMap, optional
        How exposed every record of the private table is.
    unmapped : str
        Why there is no such map where there might be one, and what to do for one.
    learning : tuple of LearningCurve
        Whether attacks still gain from more training trials.
    nearness : mapping, optional
        Of a released table: how near its records are to those used and to others, by side.
    copies : Copies, optional
        Of a released table: private records that it holds word for word.
    left_out_columns : tuple of LeftOutColumn
        Of a released table: how many private values it holds of columns that no attack looked at.
    other_half : AuditedSubject, optional
        The records that the attacker learnt from, judged by what the others teach: one summary
        and its `records`.
    targets : mapping of str to sequence, optional
        Columns about the targets of a generator, by ``target``: subgroups and, of the most exposed,
        what is nearest to them in releases.
    rare_columns : tuple of RareColumn
        Where the values of the most exposed targets of a generator are rarest.
    performance : mapping of str to sequence, optional
        Columns of `performance_table` of a model.
    inputs_are_known : bool
        Whether what the inputs alone tell is read off inputs; off classes only where not.
    right_when : str
        What being right means there, where a model does not predict one class.
    leaves : Leaves, optional
        Of a model that shows decision trees: what their leaves hold of its training records.
    shares : PropertyShares, optional
        Of a question about a property: the shares, and what is said of a model in question.
    left_out : (int, int)
        Members and non-members that were not compared, because their values occur on both sides,
        or because they repeat others of their side.
    spared : float
        What part of the error of a look is left for what is said where trials ended, by the looks
        of the same run that might have ended them before. Files that do not say leave all.
    """

    name: str
    role: Literal["audited", "control"] = "audited"
    summaries: tuple[AttackSummary, ...] = ()
    failures: tuple[TrialFailure, ...] = ()
    crashes: tuple[AttackCrash, ...] = ()
    trials: dict[str, int] = field(default_factory=dict)
    records: Mapping[str, Sequence[Plain]] | None = None
    exposure: ExposureMap | None = None
    unmapped: str = ""
    learning: tuple[LearningCurve, ...] = ()
    nearness: Mapping[str, Mapping[str, float | None]] | None = None
    copies: Copies | None = None
    left_out_columns: tuple[LeftOutColumn, ...] = ()
    other_half: "AuditedSubject | None" = None
    targets: Mapping[str, Sequence[Plain]] | None = None
    rare_columns: tuple[RareColumn, ...] = ()
    performance: Mapping[str, Sequence[Plain]] | None = None
    inputs_are_known: bool = True
    right_when: str = ""
    leaves: Leaves | None = None
    shares: PropertyShares | None = None
    left_out: tuple[int, int] = (0, 0)
    spared: float = 1.0

    def __post_init__(self) -> None:
        for name in ("records", "targets", "performance"):
            columns = getattr(self, name)
            if columns is not None:
                object.__setattr__(self, name, _plain_columns(columns))

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "role": self.role,
            "trials": self.trials,
            "records": self.records,
            "targets": self.targets,
            "rare_columns": [column.to_dict() for column in self.rare_columns],
            "performance": self.performance,
            "inputs_are_known": self.inputs_are_known,
            "right_when": self.right_when,
            "leaves": None if self.leaves is None else self.leaves.to_dict(),
            "shares": None if self.shares is None else self.shares.to_dict(),
            "left_out": list(self.left_out),
            "spared": self.spared,
            "exposure": None if self.exposure is None else self.exposure.to_dict(),
            "unmapped": self.unmapped,
            "learning": [curve.to_dict() for curve in self.learning],
            "nearness": None if self.nearness is None else _without_nan(self.nearness),
            "other_half": None if self.other_half is None else self.other_half.to_dict(),
            "copies": None if self.copies is None else self.copies.to_dict(),
            "left_out_columns": [column.to_dict() for column in self.left_out_columns],
            "summaries": [summary.to_dict() for summary in self.summaries],
            "failures": [asdict(failure) for failure in self.failures],
            "crashes": [asdict(crash) for crash in self.crashes],
        }

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Self:
        """What `to_dict` gave."""
        return cls(
            name=checked(str, entry["name"]),
            role=check_choice(entry["role"], "role", ("audited", "control")),
            trials={
                checked(str, phase): checked(int, n)
                for phase, n in checked(dict, entry["trials"]).items()
            },
            summaries=tuple(map(AttackSummary.from_dict, entry["summaries"])),
            failures=tuple(
                TrialFailure(str(one["phase"]), checked(int, one["index"]), str(one["message"]))
                for one in entry["failures"]
            ),
            crashes=tuple(
                AttackCrash(str(one["attack"]), str(one["target"]), str(one["message"]))
                for one in entry["crashes"]
            ),
            records=entry.get("records"),
            targets=entry.get("targets"),
            rare_columns=tuple(map(RareColumn.from_dict, entry.get("rare_columns", ()))),
            performance=entry.get("performance"),
            inputs_are_known=entry.get("inputs_are_known", True) is True,
            right_when=str(entry.get("right_when", "")),
            leaves=None if not entry.get("leaves") else Leaves.from_dict(entry["leaves"]),
            shares=None if not entry.get("shares") else PropertyShares.from_dict(entry["shares"]),
            left_out=_pair(entry.get("left_out", (0, 0))),
            spared=check_probability(entry.get("spared", 1.0), "spared"),
            exposure=None
            if not entry.get("exposure")
            else ExposureMap.from_dict(entry["exposure"]),
            unmapped=str(entry.get("unmapped", "")),
            nearness=_checked_sides(entry.get("nearness")),
            other_half=None
            if not entry.get("other_half")
            else cls.from_dict(checked(dict, entry["other_half"])),
            copies=None if not entry.get("copies") else Copies.from_dict(entry["copies"]),
            left_out_columns=tuple(map(LeftOutColumn.from_dict, entry.get("left_out_columns", ()))),
            learning=tuple(map(LearningCurve.from_dict, entry.get("learning", ()))),
        )


def _plain_columns(records: Mapping[str, Sequence[object]]) -> dict[str, list[Plain]]:
    columns = {str(name): as_plain_list(values) for name, values in records.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ConfigError(
            f"columns about records must have one value per record, got lengths {lengths}"
        )
    return columns


def _pair(values: Sequence[object]) -> tuple[int, int]:
    first, second = values
    return checked(int, first), checked(int, second)


def _checked_sides(sides: object) -> dict[str, dict[str, float | None]] | None:
    if sides is None:
        return None
    return {
        side: {
            name: None if value is None else float(value)
            for name, value in checked(dict, numbers).items()
        }
        for side, numbers in checked(dict, sides).items()
    }


def _without_nan(
    sides: Mapping[str, Mapping[str, float | None]],
) -> dict[str, dict[str, float | None]]:
    return {
        side: {
            name: None if value is None or math.isnan(value) else value
            for name, value in numbers.items()
        }
        for side, numbers in sides.items()
    }
