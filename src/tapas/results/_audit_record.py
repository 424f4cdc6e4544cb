"""The record of an audit: what was asked, what came out, and how it was made.

Reports, gates and comparisons read records and nothing else.
"""

import json
import warnings
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tapas._files import parse_json, read_text, write_text
from tapas._spec import Plain, digest_of
from tapas.errors import StoreError, TapasWarning
from tapas.results._audited_subject import AuditedSubject
from tapas.results._limits import Claim, Gate
from tapas.results._storage import checked

if TYPE_CHECKING:
    from tapas.results._claims import ClaimOutcome
    from tapas.results._facts import SummaryFacts

FORMAT = "tapas-audit"
VERSION = 3  # the first with a digest
READABLE = (1, 2, VERSION)
FILE_NAME = "record.json"


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
        subjects = [subject.to_dict() for subject in self.subjects]
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
                title=checked(str, content["title"]),
                question=_checked_question(content["question"]),
                fingerprint=checked(str, content["fingerprint"]),
                seed=checked(int, content["seed"]),
                subjects=tuple(AuditedSubject.from_dict(entry) for entry in content["subjects"]),
                claim=None if content["claim"] is None else Claim(**content["claim"]),
                gates=tuple(Gate(**gate) for gate in content["gates"]),
                provenance=_checked_provenance(content["provenance"]),
                stopped=content["stopped"] and checked(str, content["stopped"]),
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


def _checked_question(question: object) -> dict[str, Any]:
    asked = checked(dict, question)
    for table in checked(dict, asked.get("inputs") or {}).values():
        checked(dict, table)
    return asked


def _checked_provenance(provenance: object) -> dict[str, Any]:
    made = checked(dict, provenance)
    for one in checked(list, made.get("evidence") or []):
        checked(str, one["subject"])
        for digest in checked(dict, one["digests"]).values():
            checked(str, digest)
        for versions in checked(list, one["made_with"]):
            checked(dict, versions)
    return made
