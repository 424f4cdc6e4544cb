"""Whole audits: threat models x attacks x sizes, checked, run, stopped and resumed."""

from tapas.audit._audit import Audit, Subject
from tapas.audit._build import build_audit, load_audit
from tapas.audit._build_files import ReleaseAudit
from tapas.audit._build_model import ModelAudit
from tapas.audit._check import CheckReport
from tapas.audit._config import AuditFile, audit_file_schema, read_audit_file
from tapas.audit._stopping import StopEarly

__all__ = [
    "Audit",
    "AuditFile",
    "CheckReport",
    "ModelAudit",
    "ReleaseAudit",
    "StopEarly",
    "Subject",
    "audit_file_schema",
    "build_audit",
    "load_audit",
    "read_audit_file",
]
