"""The audit file: one YAML file that says what is attacked, how, and what is allowed."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, NonNegativeInt, ValidationError, model_validator

from tapas.audit._config_changes import changed_values
from tapas.audit._config_complaints import complaints
from tapas.audit._config_data import DataPart
from tapas.audit._config_parts import Component, Part, bare_goal, exactly_one, given, listed
from tapas.audit._config_questions import (
    ClaimPart,
    GatePart,
    GoalPart,
    KnowledgePart,
    MembershipPart,
    TrialsPart,
)
from tapas.audit._config_subjects import (
    Generator,
    ImportedPart,
    ModelPart,
    PredictionsPart,
    ReleasePart,
)
from tapas.audit._config_yaml import Document
from tapas.errors import ConfigError

MOST_ERRORS = 5
_SUBJECTS = ("generator", "model", "predictions", "release", "imported")
_GOALS = {
    "generator": ("membership", "attribute", "canaries"),
    "model": ("membership", "attribute", "canaries", "property"),
    "predictions": ("membership",),
    "release": ("membership", "attribute"),
    "imported": ("membership", "attribute"),
}


class AuditFile(Part):
    """An audit, as written in a file.

    `where` is the file that it was read from; paths in it are relative to its folder.
    """

    title: str = "Privacy audit"
    seed: NonNegativeInt = Field(default=0, description="Equal seeds give equal results")
    data: DataPart
    generator: Annotated[list[Generator], Field(min_length=1), BeforeValidator(listed)] | None = (
        None
    )
    model: ModelPart | None = None
    predictions: PredictionsPart | None = None
    release: ReleasePart | None = None
    imported: ImportedPart | None = None
    knowledge: KnowledgePart = KnowledgePart()
    goal: Annotated[GoalPart, BeforeValidator(bare_goal)] = GoalPart(membership=MembershipPart())
    attacks: list[Component] | None = Field(
        default=None,
        min_length=1,
        description="By default those that fit: the documented ones, and the strongest",
    )
    trials: TrialsPart = TrialsPart()
    controls: bool | None = Field(
        default=None,
        description="Also attack resampled records and independent columns; on by default",
    )
    subgroups: list[str] = Field(
        default=[],
        description="For models and releases: columns by whose values results are told apart",
    )
    show_values: bool = Field(
        default=False,
        description="Whether values of the most exposed records may stand on the page",
    )
    exposure_map: bool | None = Field(
        default=None,
        description="For generators: judge every record of the table, in trials that are played "
        "again where releases were not kept; by default as many as takes seconds, of releases that "
        "were kept",
    )
    claim: ClaimPart | None = None
    gates: list[GatePart] = Field(default=[], description="Limits that decide the exit code")

    @model_validator(mode="after")
    def _consistent(self) -> "AuditFile":
        exactly_one(self, _SUBJECTS, "an audit")
        stop = self.trials.stop_early
        if stop is not None:
            if len(self.generator or ()) > 1:
                raise ValueError("trials.stop_early is for one generator, and its controls")
            if stop.width is None and stop.claim and self.claim is None:
                raise ValueError("trials.stop_early needs a claim or a width to stop at")
        self._check_goal()
        if self.release is not None:
            self._check_release()
        return self

    @property
    def what(self) -> str:
        """What is audited: a generator, a model, a release, or imported releases."""
        return given(self, _SUBJECTS)[0]

    def _check_goal(self) -> None:
        possible = _GOALS[self.what]
        if self.goal.kind not in possible:
            raise ValueError(
                f"goal.{self.goal.kind} is not for {self.what} audits, which know "
                f"{', '.join(possible)}"
            )

    def _check_release(self) -> None:
        if self.data.table is None or self.data.holdout is None:
            raise ValueError(
                "a release is audited with data.table, the records it was made from, and "
                "data.holdout, records that were not used"
            )
        if self.claim is not None:
            raise ValueError("one release can neither contradict nor confirm a claim: remove claim")

    @property
    def with_controls(self) -> bool:
        """Whether controls are attacked as well."""
        stop = self.trials.stop_early
        few = stop is not None and (stop.claim or stop.width is not None)
        return not few if self.controls is None else self.controls

    def as_question(self) -> dict[str, Any]:
        """What decides the results: all but the title and the limits they are held against."""
        return self.model_dump(mode="json", exclude={"title", "gates"}, by_alias=True)


def read_audit_file(path: str | PathLike[str], changes: Sequence[str] = ()) -> AuditFile:
    """Read and validate an audit file, with changes such as ``data.drop=[name]`` made to it.

    Raises
    ------
    ConfigError
        Each complaint names file, line and key.
    """
    document = Document(Path(path))
    document.values, document.changes = changed_values(document.values, changes, str(path))
    try:
        return AuditFile.model_validate(document.values)
    except ValidationError as errors:
        lines = complaints(document, errors.errors(include_url=False), AuditFile)
        more = len(lines) - MOST_ERRORS
        shown = [*lines[:MOST_ERRORS], *([f"and {more} more"] if more > 0 else [])]
        raise ConfigError(*shown) from None


def audit_file_schema() -> dict[str, Any]:
    """JSON schema of audit files, for editors; it knows the short forms as well."""
    schema = AuditFile.model_json_schema(by_alias=True)
    keys, name = schema["properties"], {"type": "string"}
    generator = {"anyOf": [name, {"$ref": "#/$defs/GeneratorPart"}]}
    several = {"type": "array", "minItems": 1, "items": generator}
    keys["generator"] = {**keys["generator"], "anyOf": [*generator["anyOf"], several]}
    attack = {"anyOf": [name, {"$ref": "#/$defs/ComponentPart"}]}
    attacks = {"type": "array", "minItems": 1, "items": attack}
    keys["attacks"]["anyOf"] = [attacks, {"type": "null"}]
    names = {"enum": ["membership", "canaries"]}
    keys["goal"] = {"anyOf": [names, {"$ref": "#/$defs/GoalPart"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "tapas audit file",
    }
