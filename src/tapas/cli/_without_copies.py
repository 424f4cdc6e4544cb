"""A released file without the rows that are private records."""

from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np
import pandas as pd

from tapas._files import write_text
from tapas.audit import audit_from_values
from tapas.cli._carry_out import foreign_code
from tapas.cli._option_names import RELEASE, told_in_options
from tapas.datasets import Reading, locate, read_file
from tapas.errors import ConfigError
from tapas.threat_models import ObservedMIA

__all__ = ["write_without_copies"]


def write_without_copies(
    values: Mapping[str, object], released: Path, reading: Reading, out: Path
) -> Reading:
    """Write what is left of a release as plain CSV, and say so; return how that is read.

    `values` are those of the audit of the release.
    """
    if out.suffix.lower() != ".csv" or out.resolve() == locate(released)[0].resolve():
        raise ConfigError(f"--without-copies {out}: name another file, one that ends in .csv")
    with foreign_code(), told_in_options(RELEASE):
        model = audit_from_values(values, "tapas release").subjects[0].threat_model
    if not isinstance(model, ObservedMIA):
        raise ConfigError("--without-copies is for membership: leave --attribute out")
    rows, frame = model.copied_rows(), read_file(locate(released)[0], None, reading).frame
    labelled = not isinstance(frame.index, pd.RangeIndex)
    left = frame.iloc[np.setdiff1d(np.arange(len(frame)), rows)]
    write_text(out, left.to_csv(index=labelled, lineterminator="\n"))
    click.echo(
        f"{out}: {len(left):,} rows of {released}; {len(rows):,} that equal private records, but "
        "for one column at most, are left out."
    )
    return Reading(index=str(frame.index.name) if labelled and frame.index.name else None)
