"""tapas predictions"""

from pathlib import Path

import click

from tapas.cli._option_names import PREDICTIONS
from tapas.cli._read_option import choices, read_option


@click.command("predictions")
@click.argument("predictions", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--member", default="member", show_default=True, help="Column: who was trained on.")
@click.option("--label", default="label", show_default=True, help="Column of true classes.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="No score; repeatable.")
@click.option(
    "--outputs",
    type=click.Choice(["scores", "logits", "log_scores"]),
    help="What columns of scores hold, if that cannot be told.",
)
@read_option
@click.option("--attack", "attacks", multiple=True, metavar="NAME", help="[all that fit]")
@click.option(
    "--known-share", type=click.FloatRange(0, 1, max_open=True), default=0.5, show_default=True
)
@click.option(
    "--max-auc", type=click.FloatRange(0, 1), help="A gate: the AUC must not be above this."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="[FILE's name-run]")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the verdict.")
@click.option("--junit", "junit_file", type=click.Path(path_type=Path), help="The same as JUnit.")
def command(
    predictions: Path,
    member: str,
    label: str,
    drop: tuple[str, ...],
    outputs: str | None,
    read: tuple[str, ...],
    attacks: tuple[str, ...],
    known_share: float,
    max_auc: float | None,
    seed: int,
    folder: Path | None,
    json_file: Path | None,
    junit_file: Path | None,
) -> int:
    """Attack a model by what it said of records, written down in FILE.

    FILE is a table with a column that says who was trained on, one of true classes, and one of
    scores for each class (or one called predicted); or an npz file with the arrays scores, labels
    and members. No model is needed. Ends in report.html in a folder.
    """
    from tapas.cli._carry_out import audited_values, default_folder

    values = {
        "title": f"Privacy audit of the predictions in {predictions.name}",
        "seed": seed,
        "data": {"table": str(predictions), "drop": list(drop), "read": choices(read)},
        "predictions": {
            "member": member,
            "label": label,
            "outputs": outputs,
            "known_share": known_share,
        },
        "attacks": [{"use": name} for name in attacks] or None,
        "gates": [] if max_auc is None else [{"metric": "auc", "at_most": max_auc}],
    }
    place = folder or default_folder(predictions)
    return audited_values(values, "tapas predictions", PREDICTIONS, place, json_file, junit_file)
