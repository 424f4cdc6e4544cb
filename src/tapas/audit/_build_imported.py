"""Audits of releases that somebody else made, from an audit file."""

from tapas._spec import Plain
from tapas.audit._build_generator import attribute_values
from tapas.audit._built import Built
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._subject import Subject
from tapas.audit._tables import Tables
from tapas.audit._targets import draw_targets
from tapas.compat import GameThreatModel
from tapas.errors import ConfigError, TapasError
from tapas.threat_models import ImportedAIA, ImportedMIA


def imported_subjects(config: AuditFile, names: Names) -> Built:
    """A folder of releases with their secrets; the rest of the table is what the attacker holds."""
    part = config.imported
    if part is None:
        raise ConfigError(f"{names.where}: imported is missing")
    tables = Tables(config, names)
    whole = tables.private()
    drawn = draw_targets(whole, config, names)
    folder, labels = names.folder / part.folder, names.folder / part.labels
    wanted = config.goal.attribute
    model: GameThreatModel
    try:
        if wanted is None:
            model = ImportedMIA(
                folder,
                labels,
                drawn.targets,
                relation=part.relation,
                auxiliary=drawn.rest,
                independent=part.independent,
                label=part.label,
                seed=config.seed,
            )
        else:
            values = wanted.values or attribute_values(drawn.rest, wanted.column, names.where)
            model = ImportedAIA(
                folder,
                labels,
                drawn.targets,
                wanted.column,
                values,
                auxiliary=drawn.rest,
                independent=part.independent,
                label=part.label,
                seed=config.seed,
            )
    except TapasError as error:
        raise ConfigError(f"{names.where}: imported: {error}") from error
    facts: dict[str, dict[str, Plain]] = {"data": {"digest": whole.table.digest()}}
    return Built((Subject(model),), facts, tables.inputs())
