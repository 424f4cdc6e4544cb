"""The record of an audit: what was asked, what came out, and how it was made.

Reports, gates and comparisons read records and nothing else.
"""

import json
import math
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tapas._files import parse_json, read_text, write_text
from tapas._spec import Plain, digest_of
from tapas._validate import check_choice, check_probability
from tapas.errors import ConfigError, StoreError, TapasWarning
from tapas.results._copies import Copies
from tapas.results._exposure_map import ExposureMap
from tapas.results._learning import LearningCurve
from tapas.results._leaves import Leaves
from tapas.results._measures import GATE_METRICS, MEASURES, OTHER_LIMITS
from tapas.results._rare_columns import RareColumn
from tapas.results._share_answers import PropertyShares
from tapas.results._storage import as_plain_list
from tapas.results._summary import AttackSummary

if TYPE_CHECKING:
    from tapas.results._claims import ClaimOutcome
    from tapas.results._facts import SummaryFacts

FORMAT = "tapas-audit"
VERSION = 3  # the first with a digest
READABLE = (1, 2, VERSION)
FILE_NAME = "record.json"
LEAKY_CONTROL = "control: resampled records"  # the one that is known to leak
SUBGROUP, VALUE = "by ", "value of "  # what names of columns about records begin with


@dataclass(frozen=True)
class Claim:
    """An (epsilon, delta) that the mechanism is said to guarantee.

    Attributes
    ----------
    epsilon, delta : float
    family : {"gaussian"} or None
        "gaussian" where Gaussian differential privacy is claimed: bounds then show more, and hold
        only if the mechanism is Gaussian.
    """

    epsilon: float
    delta: float = 0.0
    family: str | None = None

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise ConfigError(f"a claimed epsilon must be at least 0, got {self.epsilon!r}")
        check_probability(self.delta, "delta")
        if self.family is not None:
            check_choice(self.family, "family of a claim", ("gaussian",))
            if not 0 < self.delta < 1:
                raise ConfigError(
                    "a claim of Gaussian differential privacy needs a delta above 0, such as 1e-5, "
                    f"got {self.delta!r}"
                )


@dataclass(frozen=True)
class Gate:
    """A limit that the audit must stay under.

    Attributes
    ----------
    metric : str
        What is limited, for every attack and target of the audited subjects: one of
        `GATE_METRICS`. "dropped_columns" limits how many columns were left out of the audit,
        "accuracy_gap" how much better a model does on records that it was trained on,
        "accuracy_ratio" how many times as often it is right about them as about others,
        "exposed_people" which share of the people lies above an AUC, "copied_records" how many
        private records stand in a released file word for word.
    at_most : float
        Within the range of the metric.
    fpr : float
        The false positive rate of "tpr_at_fpr".
    confidence : float
        Of the decision over all attacks and targets together.
    above : float
        The AUC of "exposed_people".
    """

    metric: str
    at_most: float
    fpr: float = 0.01
    confidence: float = 0.95
    above: float = 0.5

    def __post_init__(self) -> None:
        check_choice(self.metric, "metric of a gate", GATE_METRICS)
        limits = {**OTHER_LIMITS, **{m.gate: m.limits for m in MEASURES if m.gate}}
        low, high = limits[self.metric]
        if not low <= self.at_most <= high or math.isinf(self.at_most):
            top = "" if math.isinf(high) else f" and at most {high:g}"
            raise ConfigError(
                f"at_most of a gate on {self.metric} must be at least {low:g}{top}, got "
                f"{self.at_most:g}: another limit could never fail, or always would"
            )
        check_probability(self.fpr, "fpr of a gate")
        check_probability(self.above, "above of a gate")
        check_probability(self.confidence, "confidence of a gate", open_interval=True)


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
    learning : tuple of LearningCurve
        Whether attacks still gain from more training trials.
    nearness : mapping, optional
        Of a released table: how near its records are to those used and to others, by side.
    copies : Copies, optional
        Of a released table: private records that it holds word for word.
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
    leaves : Leaves, optional
        Of a model that shows decision trees: what their leaves hold of its training records.
    shares : PropertyShares, optional
        Of a question about a property: the shares, and what is said of a model in question.
    left_out : (int, int)
        Members and non-members that were not compared, because their values occur on both sides.
    """

    name: str
    role: Literal["audited", "control"] = "audited"
    summaries: tuple[AttackSummary, ...] = ()
    failures: tuple[TrialFailure, ...] = ()
    crashes: tuple[AttackCrash, ...] = ()
    trials: dict[str, int] = field(default_factory=dict)
    records: Mapping[str, Sequence[Plain]] | None = None
    exposure: ExposureMap | None = None
    learning: tuple[LearningCurve, ...] = ()
    nearness: Mapping[str, Mapping[str, float | None]] | None = None
    copies: Copies | None = None
    other_half: "AuditedSubject | None" = None
    targets: Mapping[str, Sequence[Plain]] | None = None
    rare_columns: tuple[RareColumn, ...] = ()
    performance: Mapping[str, Sequence[Plain]] | None = None
    leaves: Leaves | None = None
    shares: PropertyShares | None = None
    left_out: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        for name in ("records", "targets", "performance"):
            columns = getattr(self, name)
            if columns is not None:
                object.__setattr__(self, name, _plain_columns(columns))


def _plain_columns(records: Mapping[str, Sequence[object]]) -> dict[str, list[Plain]]:
    columns = {str(name): as_plain_list(values) for name, values in records.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ConfigError(
            f"columns about records must have one value per record, got lengths {lengths}"
        )
    return columns


@dataclass(frozen=True, eq=False)
class AuditRecord:
    """Everything that is known after an audit.

    Attributes
    ----------
    title : str
    question : dict
        The audit as it was asked.
    fingerprint : str
        Digest of the question: equal questions have equal fingerprints.
    seed : int
    subjects : tuple of AuditedSubject
    claim : Claim or None
    gates : tuple of Gate
    provenance : dict
        Versions, platform, times.
    stopped : str or None
        Why trials ended before their number was reached, if they did.
    contradicted : bool
        Whether that was a bound on the claimed epsilon which holds whenever trials end.
    complete : bool
        Whether the mechanism got through all trials that were asked for. What is not complete
        passes no gate.
    format : int
        That of the file it was read from; those below 3 carry no digest.
    known_facts, known_claims : dict
        Numbers that were computed from it already, and what was said of the claim.
    """

    title: str
    question: dict[str, Any]
    fingerprint: str
    seed: int
    subjects: tuple[AuditedSubject, ...]
    claim: Claim | None = None
    gates: tuple[Gate, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    stopped: str | None = None
    contradicted: bool = False
    complete: bool = True
    format: int = VERSION
    known_facts: dict[Hashable, "SummaryFacts"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    known_claims: dict[float, "ClaimOutcome"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __repr__(self) -> str:
        """A line: what was audited. `AuditPage(record).publish(folder)` makes a page of it."""
        names = ", ".join(one.name for one in self.subjects)
        return f"AuditRecord({self.title!r} of {names}, complete={self.complete})"

    @property
    def has_digest(self) -> bool:
        """Whether a change to the file that it was read from would have been noticed."""
        return self.format >= VERSION

    @property
    def delta(self) -> float:
        """The delta of the claim; 0 where nothing is claimed."""
        return 0.0 if self.claim is None else self.claim.delta

    @property
    def family(self) -> str | None:
        """The family of mechanisms that the claim names, if any."""
        return None if self.claim is None else self.claim.family

    @property
    def audited(self) -> tuple[AuditedSubject, ...]:
        """The subjects that are not controls."""
        return tuple(subject for subject in self.subjects if subject.role == "audited")

    def to_json(self) -> str:
        """The whole record as JSON text."""
        head = {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            "question": self.question,
            "fingerprint": self.fingerprint,
            "seed": self.seed,
            "claim": None if self.claim is None else asdict(self.claim),
            "gates": [asdict(gate) for gate in self.gates],
            "provenance": self.provenance,
            "stopped": self.stopped,
            "contradicted": self.contradicted,
            "complete": self.complete,
        }
        subjects = [_subject_to_dict(subject) for subject in self.subjects]
        plain = {**json.loads(json.dumps(head, allow_nan=False)), "subjects": subjects}
        return _a_line_each({**plain, "digest": digest_of(plain)})

    @classmethod
    def from_json(cls, text: str, *, where: str = "the text given") -> "AuditRecord":
        """Rebuild a record from JSON text."""
        try:
            content = parse_json(text)
        except ValueError as error:
            raise StoreError(f"{where} is not JSON: {error}") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise StoreError(f"{where} is not an audit record written by tapas")
        version = content.get("version")
        if version not in READABLE or isinstance(version, bool):
            raise StoreError(
                f"{where} has format version {version!r}; this version of tapas "
                f"reads {' and '.join(map(str, READABLE))}"
            )
        said = content.pop("digest", None)
        if content["version"] < VERSION:
            warnings.warn(
                f"{where} is of an earlier format, without a digest: whether it was changed after "
                f"it was written cannot be told. Run the audit again to know",
                TapasWarning,
                stacklevel=2,
            )
        if content["version"] == VERSION and said != digest_of(content):
            raise StoreError(
                f"{where} was changed after it was written (its digest differs): run the audit "
                f"again, which plays only what is missing"
            )
        try:
            return cls(
                title=_is(str, content["title"]),
                question=_checked_question(content["question"]),
                fingerprint=_is(str, content["fingerprint"]),
                seed=_is(int, content["seed"]),
                subjects=tuple(_subject_from_dict(entry) for entry in content["subjects"]),
                claim=None if content["claim"] is None else Claim(**content["claim"]),
                gates=tuple(Gate(**gate) for gate in content["gates"]),
                provenance=_checked_provenance(content["provenance"]),
                stopped=content["stopped"] and _is(str, content["stopped"]),
                contradicted=content.get("contradicted") is True,
                complete=content.get("complete", True) is True,
                format=content["version"],
            )
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"{where} is damaged: {error!r}") from error

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the record into a folder, whole or not at all."""
        path = Path(folder) / FILE_NAME
        write_text(path, self.to_json())
        return path

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> "AuditRecord":
        """Read the record of a run: its folder, or the file itself."""
        given = Path(folder)
        path = given / FILE_NAME if given.is_dir() else given
        try:
            text = read_text(path)
        except ValueError as error:
            raise StoreError(f"{path} is not UTF-8 text: {error}") from error
        except OSError as error:
            raise StoreError(
                f"there is no finished audit at {folder}: {error.strerror or error}"
            ) from error
        return cls.from_json(text, where=str(path))


def _a_line_each(content: dict[str, Plain]) -> str:
    """JSON that a person can find the way in; indenting it all costs more than the audit."""
    lines = (
        f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}"
        for name, value in content.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _subject_to_dict(subject: AuditedSubject) -> dict[str, Any]:
    return {
        "name": subject.name,
        "role": subject.role,
        "trials": subject.trials,
        "records": subject.records,
        "targets": subject.targets,
        "rare_columns": [column.to_dict() for column in subject.rare_columns],
        "performance": subject.performance,
        "leaves": None if subject.leaves is None else subject.leaves.to_dict(),
        "shares": None if subject.shares is None else subject.shares.to_dict(),
        "left_out": list(subject.left_out),
        "exposure": None if subject.exposure is None else subject.exposure.to_dict(),
        "learning": [curve.to_dict() for curve in subject.learning],
        "nearness": None if subject.nearness is None else _without_nan(subject.nearness),
        "other_half": None if subject.other_half is None else _subject_to_dict(subject.other_half),
        "copies": None if subject.copies is None else subject.copies.to_dict(),
        "summaries": [summary.to_dict() for summary in subject.summaries],
        "failures": [asdict(failure) for failure in subject.failures],
        "crashes": [asdict(crash) for crash in subject.crashes],
    }


_Kind = TypeVar("_Kind")


def _is(kind: type[_Kind], value: object) -> _Kind:
    """A value of a record, where it is of its kind."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def _pair(values: Sequence[object]) -> tuple[int, int]:
    first, second = values
    return _is(int, first), _is(int, second)


def _checked_question(question: object) -> dict[str, Any]:
    asked = _is(dict, question)
    for table in _is(dict, asked.get("inputs") or {}).values():
        _is(dict, table)
    return asked


def _checked_provenance(provenance: object) -> dict[str, Any]:
    made = _is(dict, provenance)
    for one in _is(list, made.get("evidence") or []):
        _is(str, one["subject"])
        for digest in _is(dict, one["digests"]).values():
            _is(str, digest)
        for versions in _is(list, one["made_with"]):
            _is(dict, versions)
    return made


def _subject_from_dict(entry: dict[str, Any]) -> AuditedSubject:
    return AuditedSubject(
        name=_is(str, entry["name"]),
        role=check_choice(entry["role"], "role", ("audited", "control")),
        trials={_is(str, phase): _is(int, n) for phase, n in _is(dict, entry["trials"]).items()},
        summaries=tuple(map(AttackSummary.from_dict, entry["summaries"])),
        failures=tuple(
            TrialFailure(str(one["phase"]), _is(int, one["index"]), str(one["message"]))
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
        leaves=None if not entry.get("leaves") else Leaves.from_dict(entry["leaves"]),
        shares=None if not entry.get("shares") else PropertyShares.from_dict(entry["shares"]),
        left_out=_pair(entry.get("left_out", (0, 0))),
        exposure=None if not entry.get("exposure") else ExposureMap.from_dict(entry["exposure"]),
        nearness=_checked_sides(entry.get("nearness")),
        other_half=None
        if not entry.get("other_half")
        else _subject_from_dict(_is(dict, entry["other_half"])),
        copies=None if not entry.get("copies") else Copies.from_dict(entry["copies"]),
        learning=tuple(map(LearningCurve.from_dict, entry.get("learning", ()))),
    )


def _checked_sides(sides: object) -> dict[str, dict[str, float | None]] | None:
    if sides is None:
        return None
    return {
        side: {
            name: None if value is None else float(value)
            for name, value in _is(dict, numbers).items()
        }
        for side, numbers in _is(dict, sides).items()
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
