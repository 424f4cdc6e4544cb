"""Audit files to begin with."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tapas._validate import listing
from tapas.cli._carry_out import default_folder
from tapas.datasets import DataDescription, choices_from_words
from tapas.errors import ConfigError


def quoted(value: Any) -> str:
    """A value as YAML in one line, whatever it holds."""
    return yaml.safe_dump(value, default_style='"', default_flow_style=True, width=math.inf).strip()


def audit_text(
    kind: str,
    description: DataDescription,
    rows: int,
    tables: tuple[Path, Path | None, Path | None],
    written: tuple[Path, Path],
    class_column: str | None = None,
    chosen: tuple[Sequence[str], Sequence[str]] = ((), ()),
    label: str | None = None,
) -> str:
    """A commented audit file for a table.

    `tables` are the private table, the holdout and the released one, where given; `written` the
    schema and the audit file; `chosen` how files are read and the columns that are dropped;
    `label` a column that may name people.
    """
    columns = description.columns
    schema, output = written
    read, drop = chosen
    table, holdout, released = (path and quoted(_relative(path, output)) for path in tables)
    about = {
        "table": table,
        "schema": quoted(schema.name),
        "drop": quoted(left_out(description, drop)),
        "rows": f"{rows:,}",
        "read": _read_line(read, label),
    }
    if kind == "generator":
        earlier = quoted(f"{default_folder(output).name}/exposure-map.csv")
        return _GENERATOR.format(**about, map=earlier)
    if kind == "files":
        numbers = any(not column.is_coded for column in description.parsed)
        by_gaps = _BY_GAPS if numbers else ""
        return _FILES.format(**about, holdout=holdout, released=released, by_gaps=by_gaps)
    predicted = class_column or next(
        (column.name for column in reversed(description.parsed) if column.values is not None),
        columns[-1],
    )
    if predicted not in columns:
        raise ConfigError(f"{predicted!r} is not a column; the columns are {listing(columns)}")
    others = f"holdout: {holdout}" if holdout else "# holdout: others.csv"
    learner = _learner(predicted, description.parsed[columns.index(predicted)].kind)
    return _MODEL.format(
        **about, class_column=quoted(predicted), holdout=others, learner=f"{learner:<39s}"
    )


def _learner(column: str, kind: str) -> str:
    """What predicts such a column."""
    if kind in ("date", "datetime"):
        raise ConfigError(
            f"{column!r} holds {kind}s, which no classifier and no regressor predicts: "
            f"name another column by --class-column, or make a number of it"
        )
    return f"sklearn.ensemble:RandomForest{'Regressor' if kind == 'real' else 'Classifier'}"


def left_out(description: DataDescription, drop: Sequence[str]) -> list[str]:
    """Columns that are dropped as asked, and those of free text."""
    return [*drop, *(column.name for column in description.parsed if column.kind == "string")]


def read_entry(chosen: Mapping[str, object]) -> str:
    """Choices about reading as a line of YAML."""
    plain = yaml.safe_dump(
        dict(chosen), default_flow_style=True, width=math.inf, allow_unicode=True
    )
    return f"read: {plain.strip()}"


def _read_line(words: Sequence[str], label: str | None) -> str:
    """The choices about reading as a line of YAML, or how to write one."""
    if not words:
        index = label or "COLUMN"
        return (
            f"# {read_entry({'index': index})}   # the column that names records on pages, instead "
            f"of their row;\n  #                           #   and how files are read, where it "
            f"cannot be found (dates: day-first)"
        )
    return read_entry(
        {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in choices_from_words(words).items()
        }
    )


def _relative(table: Path, output: Path) -> str:
    """Path of the table as seen from the audit file."""
    if table.is_absolute():
        return str(table)
    return os.path.relpath(table, output.parent)


_GENERATOR = """\
# An audit of a generator of synthetic data. Check it with `tapas check`, run it with `tapas run`.
# Paths are relative to this file. `tapas list` shows names; `tapas schema` describes every key.
title: "Privacy audit"
seed: 0                       # equal seeds give equal results

data:
  table: {table}   # {rows} rows
  schema: {schema}
  {read}
  drop: {drop}                    # columns to leave out (free text cannot be attacked)
  # leave_out: [0, 17]        # records to leave out
  # bounds: {{age: [0, 120]}}   # of number columns, for generators with differential privacy: as is
  #                           #   known without the data; `table` reads them off it, to try one out
  # targets:                  # whose privacy is tested; by default 100, or fewer in small tables:
  #   vulnerable: 50          #   those furthest from all others
  #   rare: 50                #   those whose pairs of values are rarest
  #   random: 50              #   others
  #   exposed: 50             #   or those highest on the map of an earlier run, by another seed:
  #   map: {map}
  #   rows: [0, 17]           #   or these alone

generator:
  use: BayesianNetwork        # or your own class: package.module:Name, in a file beside this one
  # command: [./generate]     # or a program: CSV on its input, number of records as argument
  parameters: {{}}
  # records: 1000             # size of each release; that of the private data by default

knowledge:                    # what the attacker knows
  data: auxiliary             # auxiliary: other people's records; exact: all but the secret;
                              # identifiers: others, and all columns but the sensitive one
  split: 0.5                  # share of the table that the attacker holds
  # records: 500              # size of each private dataset
  mechanism: black-box        # black-box: can run the generator; no-box: cannot; white-box

goal:                         # membership, or attribute:
  membership: {{pairs: true, replace: false}}
  # attribute: {{column: NAME}}

attacks:
  - ClosestDistanceMIA        # looks for the target, or its like
  - GroundhogAttack           # learns what releases with and without the target look like
  - EnsembleAttack            # the strongest: learns from all targets together
  # - use: ClosestDistanceMIA
  #   label: exact copies
  #   parameters: {{criterion: [threshold, 0]}}

trials:
  train: 200                  # for training the attacks
  test: 200                   # for judging them: more give narrower intervals
  # timeout: 60               # seconds for one run of the generator
  # max_failures: 5           # failing runs before the audit stops; each counts as an outcome

controls: true                # also attack resampled records and independent columns

# claim: {{epsilon: 1.0, delta: 0.0}}    # a guarantee to be put to the test

gates:                        # limits; they act on the ends of intervals
  - {{metric: auc, at_most: 0.75}}
  # - {{metric: tpr_at_fpr, fpr: 0.01, at_most: 0.1}}
  # - {{metric: epsilon, at_most: 2}}  # fails or stays open: exit 1 or 6, never 0
"""

_MODEL = """\
# An audit of a trained classifier. Check it with `tapas check`, run it with `tapas run`.
# Paths are relative to this file. `tapas list` shows names; `tapas schema` describes every key.
title: "Privacy audit of a model"
seed: 0                       # equal seeds give equal results

data:
  table: {table}   # {rows} rows: the records that the model is trained on
  schema: {schema}
  {read}
  drop: {drop}                    # columns to leave out
  {holdout}       # records it was not trained on; half of the table by default

model:
  use: {learner}   # trained here, categories one-hot encoded
  # file: model.onnx          # or a trained model (then give a holdout)
  # trainer: sklearn.ensemble:RandomForestClassifier   # of a file: what shadow models are
  parameters: {{}}
  class_column: {class_column}
  access: scores              # what the release shows: scores, labels or parameters
  shadows: 16                 # models that the attacker trains to compare with
  known_share: 0.5            # share of the records whose membership the attacker knows

# attacks: [LossMIA, RehearsedMIA]   # by default the strongest for the access, and well-known ones

gates:                        # limits; they act on the ends of intervals
  - {{metric: auc, at_most: 0.6}}
"""

_BY_GAPS = """\
  - use: ClosestDistanceMIA   # the same by gaps of numbers, equal or not: are near ones missing?
    parameters: {distance: {use: MixedDistance, parameters: {exact: false}}}
"""

_FILES = """\
# An audit of a table that was released, or is about to be, from files alone: nothing is run.
# Check it with `tapas check`, run it with `tapas run`. Paths are relative to this file.
# `tapas list` shows names; `tapas schema` describes every key.
title: "Privacy audit of a release"
seed: 0                       # equal seeds give equal results

data:
  table: {table}   # {rows} rows: the records that the release was made from
  holdout: {holdout}   # records of the same population that were not used
  schema: {schema}
  {read}
  drop: {drop}                    # columns to leave out: free text, row numbers

release:
  file: {released}
  # reference: more.csv       # more records that were not used; part of the holdout by default
  known_share: 0.5            # share that the attacker knows; of private records a third at 0.5

attacks:                      # those that need no more than one release
  - RecordEnsembleAttack      # several looks, weighed on known records: the strongest
  - ClosestDistanceMIA        # looks for the record, or its like
{by_gaps}  - DOMIAS                    # where is the release denser than the population?
  - SinglingOutAttack         # the three risks of the European guideline, as the excess over
  - LinkabilityAttack         # what works against the holdout (the advantage)
  - InferenceAttack
  # - use: InferenceAttack
  #   parameters: {{secret: NAME}}    # one column that must not be inferred

controls: true                # also attack resampled records and independent columns

gates:                        # limits; they act on the ends of intervals
  - {{metric: auc, at_most: 0.6}}
"""
