"""tapas demo"""

from pathlib import Path

import click

FOLDER = Path("tapas-demo")

_GENERATOR = """\
# Does the synthetic data reveal who is in a (simulated) census?
title: "Demo: a generator of synthetic data"
seed: 7
data:
  sample: census
  rows: 1500
generator: Smote
knowledge: {data: auxiliary, records: 200}
trials: {train: 100, test: 100}
gates:
  - {metric: auc, at_most: 0.6}
"""
_MODEL = """\
# Does a classifier reveal whom it was trained on?
title: "Demo: a trained model"
seed: 7
data:
  sample: census
  rows: 1200
model:
  use: sklearn.ensemble:RandomForestClassifier
  parameters: {n_estimators: 25}
  class_column: Health
  shadows: 8
attacks: [LossMIA, RMIA, RehearsedMIA]
gates:
  - {metric: auc, at_most: 0.6}
"""


@click.command("demo")
def command() -> None:
    """Audit a generator (and a model) on a built-in table; the pages are in ./tapas-demo."""
    from tapas.audit import load_audit
    from tapas.cli._carry_out import (
        carry_out,
        default_folder,
        foreign_code,
        publish,
        say_verdict,
    )

    FOLDER.mkdir(exist_ok=True)
    for name, text in {"generator.yaml": _GENERATOR, "model.yaml": _MODEL}.items():
        path = FOLDER / name
        if not path.exists():
            path.write_text(text, encoding="utf-8")
        folder = default_folder(path)
        with foreign_code():
            audit = load_audit(path)
        click.echo(f"{path}: {audit.title}")
        with foreign_code():
            record = carry_out(audit, folder, n_jobs=None)
        say_verdict(record, publish(record, folder))
        click.echo("")
    click.echo(f"All files are in {FOLDER.resolve()}; change an audit file and run it:")
    click.echo(f"  tapas run {FOLDER / 'generator.yaml'} --folder another-folder")
