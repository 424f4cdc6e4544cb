"""tapas release"""

from pathlib import Path
from typing import Any

import click

from tapas.cli._option_names import RELEASE
from tapas.cli._read_option import choices, read_option


@click.command("release")
@click.argument("private", type=click.Path(path_type=Path))
@click.argument("holdout", type=click.Path(path_type=Path))
@click.argument("released", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--reference", type=click.Path(path_type=Path), help="More records that were not used."
)
@click.option("--schema", type=click.Path(path_type=Path), help="JSON file [inferred from all]")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out; repeatable.")
@read_option
@click.option(
    "--read-released",
    multiple=True,
    metavar="NAME=VALUE",
    help="The same for RELEASED and the reference alone.",
)
@click.option(
    "--attack",
    "attacks",
    multiple=True,
    metavar="NAME",
    help="From `tapas list attacks`; repeatable [all that fit, and an ensemble]",
)
@click.option("--attribute", metavar="COLUMN", help="Guess this column instead of membership.")
@click.option(
    "--known-share",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.5,
    show_default=True,
    help="Share that the attacker knows. Without --reference half of HOLDOUT's is the reference, "
    "and of PRIVATE and what is left a third is known at 0.5.",
)
@click.option(
    "--max-auc", type=click.FloatRange(0, 1), help="A gate: the AUC must not be above this."
)
@click.option(
    "--max-dropped", type=click.IntRange(0), help="A gate: so many columns may be left out."
)
@click.option("--max-copies", type=click.IntRange(0), help="A gate: so many records may be copied.")
@click.option(
    "--without-copies",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Write RELEASED without the rows that are private records, and attack that.",
)
@click.option("--subgroup", multiple=True, metavar="COLUMN", help="Tell results apart by it.")
@click.option("--show-values", is_flag=True, help="Values of exposed records may be shown.")
@click.option("--no-controls", is_flag=True, help="Do not attack controls for comparison.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="[RELEASED's name-run]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the verdict.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="The same as JUnit.")
def command(
    private: Path,
    holdout: Path,
    released: tuple[Path, ...],
    reference: Path | None,
    schema: Path | None,
    drop: tuple[str, ...],
    read: tuple[str, ...],
    read_released: tuple[str, ...],
    attacks: tuple[str, ...],
    attribute: str | None,
    known_share: float,
    max_auc: float | None,
    max_dropped: int | None,
    max_copies: int | None,
    without_copies: Path | None,
    subgroup: tuple[str, ...],
    show_values: bool,
    no_controls: bool,
    seed: int,
    folder: Path | None,
    json_file: Path | None,
    junit_file: Path | None,
) -> int:
    """Attack the table RELEASED, made from PRIVATE; HOLDOUT has records that were not used.

    Several released tables are attacked in the same way, on the same records, and compared.
    Nothing is run but attacks. Ends in report.html in a folder. A low result is no proof of
    privacy: docs/observed-releases.md says what such an audit can and cannot show.
    """
    from tapas.cli._carry_out import audited_values, default_folder

    values: dict[str, Any] = {
        "title": f"Privacy audit of {', '.join(path.name for path in released)}",
        "seed": seed,
        "data": {
            "table": str(private),
            "holdout": str(holdout),
            "schema": None if schema is None else str(schema),
            "drop": list(drop),
            "read": choices(read),
        },
        "release": {
            "file": [str(path) for path in released] if len(released) > 1 else str(released[0]),
            "reference": None if reference is None else str(reference),
            "known_share": known_share,
            "read": choices(read_released) or None,
        },
        "attacks": [{"use": name} for name in attacks] or None,
        "goal": "membership" if attribute is None else {"attribute": {"column": attribute}},
        "controls": not no_controls,
        "subgroups": list(subgroup),
        "show_values": show_values,
        "gates": [
            {"metric": metric, "at_most": float(limit)}
            for metric, limit in (
                ("auc", max_auc),
                ("dropped_columns", max_dropped),
                ("copied_records", max_copies),
            )
            if limit is not None
        ],
    }
    if without_copies is not None:
        from tapas.cli._without_copies import write_without_copies
        from tapas.datasets import Reading

        if len(released) > 1:
            raise click.UsageError("--without-copies is for one released table at a time")
        how = Reading.from_words(read_released or read)
        left = write_without_copies(values, released[0], how, without_copies)
        plain = {"index": left.index} if left.index else {"delimiter": ","}
        values["release"] |= {"file": str(without_copies), "read": plain}
        values["title"] = f"Privacy audit of {without_copies.name}"
        released = (without_copies,)
    place = folder or default_folder(released[0])
    return audited_values(values, "tapas release", RELEASE, place, json_file, junit_file)
