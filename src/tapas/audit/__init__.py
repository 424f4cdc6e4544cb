"""Whole audits: threat models x attacks x sizes, checked, run, stopped and resumed."""

from tapas.audit._audit import Audit
from tapas.audit._build import audit_from_values, build_audit, load_audit
from tapas.audit._check import CheckReport
from tapas.audit._config import AuditFile, audit_file_schema, read_audit_file
from tapas.audit._config_names import usable_names
from tapas.audit._forecast import Forecast
from tapas.audit._judging import judge_file
from tapas.audit._replaying import ReplayedTrial, replay_run
from tapas.audit._stopping import StopEarly
from tapas.audit._subject import Subject
from tapas.audit._verifying import repair_run, verify_run

__all__ = [
    "Audit",
    "AuditFile",
    "CheckReport",
    "Forecast",
    "ReplayedTrial",
    "StopEarly",
    "Subject",
    "audit_file_schema",
    "audit_from_values",
    "build_audit",
    "judge_file",
    "load_audit",
    "read_audit_file",
    "repair_run",
    "replay_run",
    "usable_names",
    "verify_run",
]
