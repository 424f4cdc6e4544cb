"""Audit files in documentation and examples are valid."""

import re
from pathlib import Path

import pytest
import yaml

from tapas.audit import Audit
from tapas.audit._build import load_audit
from tapas.audit._config import AuditFile

ROOT = Path(__file__).parents[2]
PAGES = ("command-line.md", "ci-recipe.md")


def blocks(page: str) -> list[dict[str, object]]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]
    return [values for values in found if "attacks" in values]


@pytest.mark.parametrize("page", PAGES)
def test_audit_files_on_the_pages_are_valid(page: str) -> None:
    assert blocks(page)
    for values in blocks(page):
        AuditFile.model_validate(values)


def test_the_example_can_run() -> None:
    audit = load_audit(ROOT / "examples" / "audit_file" / "audit.yaml")
    assert isinstance(audit, Audit)
    assert audit.check().ok
