"""Whole audits: threat models x attacks x sizes, checked, run, stopped and resumed."""

from tapas.audit._audit import Audit, Subject
from tapas.audit._check import CheckReport
from tapas.audit._stopping import StopEarly

__all__ = ["Audit", "CheckReport", "StopEarly", "Subject"]
