"""Records of unknown membership, judged by means of an audit file."""

from os import PathLike
from pathlib import Path

from tapas.audit._build import make_attacks
from tapas.audit._build_model import model_subjects
from tapas.audit._build_predictions import prediction_subjects
from tapas.audit._config import AuditFile, read_audit_file
from tapas.audit._config_names import Names
from tapas.audit._config_parts import ComponentPart
from tapas.audit._default_attacks import default_attacks
from tapas.audit._tables import Tables
from tapas.compat import AttackDoors, GameThreatModel
from tapas.engine import Workers
from tapas.errors import ConfigError
from tapas.models import records_from_table
from tapas.results import JudgedRecords
from tapas.threat_models import ModelMIA, PredictionsMIA

__all__ = ["judge_file"]


def judge_file(
    path: str | PathLike[str],
    records: str | PathLike[str] | None = None,
    *,
    attack: str | None = None,
    prior: float = 0.5,
    false_alarms: float = 0.05,
    n_jobs: int | None = None,
) -> JudgedRecords:
    """Decide about the records of a table by means of the audit of a model.

    Parameters
    ----------
    path : path
        An audit file with `model:` or `predictions:`, whose goal is membership.
    records : path, optional
        A table with the columns of the audited ones. Of predictions, those are judged whose
        membership is missing.
    attack : str, optional
        Name of the attack; by default the last of those that the file names, or the strongest.
    prior, false_alarms
        As in `tapas.threat_models.ModelMIA.judge`.
    n_jobs : int, optional
        Number of processes for shadow models.
    """
    config = read_audit_file(path)
    names = Names(Path(path).resolve().parent, str(path))
    if config.predictions is not None:
        if records is not None:
            raise ConfigError(f"{path}: of predictions, those without a membership are judged")
        recorded = prediction_subjects(config, names).subjects[0].threat_model
        asked = _attack(config, names, attack, recorded)
        if isinstance(recorded, PredictionsMIA):
            return recorded.judge(asked, prior=prior, false_alarms=false_alarms)
    tables = Tables(config, names)
    if config.model is None or config.goal.kind != "membership":
        raise ConfigError(
            f"{path}: records are judged by an audit of the members of a model, not by this one"
        )
    if records is None:
        raise ConfigError(f"{path}: name the file of records that are to be judged")
    threat_model = model_subjects(config, names, tables).subjects[0].threat_model
    asked = _attack(config, names, attack, threat_model)
    if not isinstance(threat_model, ModelMIA):
        raise ConfigError(f"{path}: records are judged by audits of the members of a model")
    table = tables.alike(Path(records))
    if not len(table):
        raise ConfigError(f"{records}: there are no rows: name a file with records to judge")
    more = records_from_table(table, config.model.class_column)
    threat_model.workers = Workers(n_jobs)
    ids = table.table.index.tolist()
    return threat_model.judge(asked, more, prior=prior, false_alarms=false_alarms, ids=ids)


def _attack(
    config: AuditFile, names: Names, attack: str | None, threat_model: GameThreatModel
) -> AttackDoors:
    """The attack that is named, the last of the file's, or the strongest by default."""
    named = config.attacks if attack is None else [ComponentPart(use=attack)]
    attacks = make_attacks(named, names) if named else default_attacks(threat_model.game.setting)
    names.problems.refuse()
    return attacks[-1]
