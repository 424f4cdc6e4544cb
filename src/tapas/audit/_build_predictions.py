"""Audits of predictions that somebody wrote down, from an audit file."""

import hashlib
from collections.abc import Mapping
from typing import cast

from tapas._spec import Plain
from tapas.audit._built import Built
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._counted_sides import counted_sides
from tapas.audit._subject import Subject
from tapas.audit._tables import Tables
from tapas.errors import ConfigError, TapasError
from tapas.threat_models import PredictionsMIA


def prediction_subjects(config: AuditFile, names: Names) -> Built:
    """What a model said of members and of others; data.table is the file that holds it."""
    part, file = config.predictions, str(config.data.table)
    if part is None or config.data.table is None:
        raise ConfigError(f"{names.where}: data.table: name the file that holds the predictions")
    options = {
        "known_share": part.known_share,
        "seed": config.seed,
        "outputs": part.outputs,
    }
    path = names.folder / file
    try:
        if path.suffix == ".npz":
            model = PredictionsMIA.read(path, **options)  # type: ignore[arg-type]
            digest: Plain = hashlib.sha256(path.read_bytes()).hexdigest()
            inputs: dict[str, Plain] = {
                "data.table": {"file": path.name, "sha256": digest, **_size(model)}
            }
        else:
            tables = Tables(config, names)
            table = tables.private()
            model = PredictionsMIA.from_frame(
                table.data,
                member=part.member,
                label=part.label,
                where=str(path),
                **options,  # type: ignore[arg-type]
            )
            digest, inputs = table.table.digest(), tables.inputs()
    except ConfigError:
        raise
    except (TapasError, OSError) as error:
        raise ConfigError(f"{names.where}: data.table: {error}") from error
    about = cast(Mapping[str, Plain], inputs["data.table"])
    inputs["data.table"] = {**about, "scores": model.scores_read}
    facts: dict[str, Plain] = {"digest": digest, "records": counted_sides(model)}
    return Built((Subject(model, part.name or path.name),), {"data": facts}, inputs)


def _size(model: PredictionsMIA) -> dict[str, Plain]:
    return {"rows": model.num_records, "columns": {"score": len(model.model.classes)}}
