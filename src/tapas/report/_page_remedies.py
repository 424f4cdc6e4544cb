"""What can be tried against a leak, in words, and what in the results speaks for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from tapas._validate import listing
from tapas.results import MOST_RECORDS, AuditRecord, ExposedRecords, Findings, People

__all__ = [
    "CLASSES_ONLY",
    "KEEP_PARAMETERS",
    "LESS_BY_HEART",
    "MORE_RECORDS",
    "NOISY",
    "OTHER_SHARE",
    "Action",
    "column_of_people",
    "column_of_release",
    "copied_rows",
    "exposed_members",
    "exposed_targets",
    "fewer_members",
    "fewer_targets",
    "first_of_the_map",
    "less_by_heart",
    "rows_to_take_out",
    "strongest_attack",
    "telling_column",
    "values_to_draw_anew",
    "whole_model_words",
    "worth_hiding",
]

_FEW = 5  # people named in advice
_MOST = 0.5  # of the members: where so many are exposed, leaving some out helps nobody else
_RARE = 0.05  # of the private records: what more of them share makes nobody stand out

# Attacks on models that read no more than this of what is shown.
READ_LABELS = {"RuleBasedMIA", "LabelOnlyMIA", "LabelOnlyAIA", "ImputationAIA"}
READ_SCORES = {
    "BlackBoxMIA",
    "CalibratedLossMIA",
    "CertaintyMIA",
    "ConfidenceAIA",
    "ConfidenceMIA",
    "EntropyMIA",
    "LiRA",
    "LossMIA",
    "ModifiedEntropyMIA",
    "PropertyClassifier",
    "QuantileMIA",
    "RMIA",
    "RehearsedMIA",
}

# Parameters with which models of scikit-learn learn less by heart, by what their names hold.
_LESS: dict[str, dict[str, object]] = {
    "HistGradientBoosting": {"max_leaf_nodes": 8, "l2_regularization": 10.0},
    "GradientBoosting": {"max_depth": 2, "subsample": 0.5},
    "Forest": {"max_depth": 6, "min_samples_leaf": 10},
    "Tree": {"max_depth": 6, "min_samples_leaf": 10},
    "MLP": {"alpha": 1.0, "early_stopping": True},
    "LogisticRegression": {"C": 0.01},
    "SVC": {"C": 0.01},
    "KNeighbors": {"n_neighbors": 25, "weights": "uniform"},
}

LESS_BY_HEART = (
    "Let the model learn its records less by heart: fewer epochs, smaller trees, more "
    "regularisation."
)
KEEP_PARAMETERS = "Keep the parameters back and answer with scores."
CLASSES_ONLY = (
    "Answer with classes only, without scores. Attacks that need scores fall away, so those are "
    "played that fit."
)
MORE_RECORDS = "Make the generator from more records, so that each one weighs less"
NOISY = (
    "Make the release again with a generator that adds noise (NoisyMarginals, MST or PrivBayes "
    "with a small epsilon), or from more records"
)
OTHER_SHARE = (
    "Weigh or resample the training records so that the share is one that everybody may know, "
    "such as that of the population."
)


@dataclass(frozen=True)
class Action:
    """Something that may help, and the commands that show whether it does."""

    words: str
    commands: tuple[str, ...]


def less_by_heart(model: str) -> dict[str, object] | None:
    """Parameters with which a model of this class learns less by heart; None if none are known."""
    return next((change for name, change in _LESS.items() if name in model), None)


def strongest_attack(findings: Findings) -> str:
    """The label of the attack by which a leak is shown; empty where nothing ran."""
    return "" if findings.best is None else findings.best.own.attack


def worth_hiding(findings: Findings, shown: object) -> list[str]:
    """What of "parameters" and "scores" is shown and read by the strongest attack, or may be.

    What that attack does not read can be kept back without taking anything from it. The scores of
    a model that predicts numbers, or several things, are how far off it is.
    """
    name = strongest_attack(findings).partition("(")[0]
    if shown == "labels" or name in READ_LABELS:
        return []
    kept = shown == "parameters" and name not in READ_SCORES  # one's own may read anything
    found = ["parameters"] if kept else []
    predicts_class = not any(one.right_when for one in findings.record.audited)
    return [*found, "scores"] if predicts_class else found


def whole_model_words(exposed: Sequence[ExposedRecords]) -> str:
    """That leaving records out would not do, where most members are exposed for certain."""
    risks = [one.table.loc[one.table["member"], "privacy_risk_low"] for one in exposed]
    number, certain = sum(map(len, risks)), sum(int((one > 0.5).sum()) for one in risks)
    if not number or certain < _MOST * number:
        return ""
    return (
        f"To leave the most exposed records out would not do: the model as a whole leaks. Of "
        f"{number:,} members in exposure.csv {certain:,} have a risk above 50 % for certain, so "
        f"change how it is trained, or what it shows."
    )


def fewer_members(people: Sequence[object]) -> str:
    """The advice to train without the most exposed records."""
    here = f"here {_listed(people)}" if people else "here the first of the table"
    return f"Leave the most exposed records out of what it is trained on ({here})."


def fewer_targets(people: Sequence[People]) -> str:
    """The advice to make a generator without the most exposed targets."""
    exposed = exposed_targets(people)
    return (
        f"Leave the most exposed of the {len(people[0].table)} targets out of the private table "
        f"(here {_listed(exposed)})."
        if exposed
        else "Leave the most exposed people out of the private table (here the first of it)."
    ) + " Others are then judged in their place."


def rows_to_take_out(copied: int) -> str:
    """The advice to release fewer rows, of which so many are private records."""
    which = (
        f"that are private records, or are but for one column (copies.csv lists {copied:,}),"
        if copied
        else "that stand beside the most exposed records (“released_row” in exposure.csv)"
    )
    return f"Take the released rows {which} out of the release"


def values_to_draw_anew(columns: Sequence[str]) -> str:
    """The advice to release columns without the private values that stand in them."""
    named = listing(columns, show="“{}”".format)
    their = "its" if len(columns) == 1 else "their"
    return (
        f"Take {named} out of the release, or draw {their} values anew, without the private table"
    )


def column_of_release(column: str) -> str:
    """The advice to release files without a column."""
    return (
        f"Release it without a column on which few agree but exposed records do, such as "
        f"“{column}”, or with coarser values there."
    )


def column_of_people(people: Sequence[People]) -> tuple[str, list[str]]:
    """The advice to leave out what makes the most exposed recognisable, and which columns."""
    rarest = next((one.rare_columns[0] for one in people if one.rare_columns), None)
    if rarest is not None and rarest.usually <= _RARE * rarest.records:
        first, *same = rarest.columns
        words = (
            f"Leave out, or coarsen, what makes people recognisable. The values of the "
            f"{len(rarest.held_by)} most exposed are rarest in “{first}”: usually held by "
            f"{rarest.usually:,} of {rarest.records:,} private records (the median)."
        )
        if same:
            also = ", ".join(f"“{name}”" for name in same)
            words += f" As {also} says the same, one to one, it must go too."
        return words, list(rarest.columns)
    near = _commonest(one.table for one in people if "agrees_on" in one.table)
    words = "Leave out, or coarsen, a column that makes people recognisable" + (
        f" (few records but the nearest agree on “{near}”)." if near else "."
    )
    return words, [near] if near else []


def first_of_the_map(record: AuditRecord) -> str:
    """Whom else to look at, where records that were no targets stand first on the map."""
    tables = [one.exposure.ranked.head(MOST_RECORDS) for one in record.audited if one.exposure]
    others = [str(row) for one in tables for row in one.loc[~one["is_target"], "record"]]
    if not others:
        return ""
    return (
        f"Look at those who were no targets and stand high on the map ({_listed(others[:_FEW])}): "
        "make the first of the map the targets, in fresh trials (another seed). It is no "
        "remedy, but says who else needs one."
    )


def copied_rows(record: AuditRecord) -> int:
    """How many private records are listed as copied, or nearly, where they stand out."""
    counted = (one.copies for one in record.audited if one.copies)
    return sum(len(copies.listed) for copies in counted if copies.stands_out)


def exposed_targets(people: Sequence[People]) -> list[str]:
    """The most exposed targets of a generator."""
    return [str(target) for one in people for target in one.table["target"]][:_FEW]


def exposed_members(exposed: Sequence[ExposedRecords]) -> list[object]:
    """The most exposed records that a model was trained on, as they are called."""
    members = [one.table[one.table["member"]].head(_FEW) for one in exposed]
    named = [one["id" if "id" in one else "row"] for one in members if "row" in one]
    return [row for rows in named for row in rows][:_FEW]


def _listed(people: Sequence[object]) -> str:
    return ", ".join(str(one) for one in people)


def telling_column(exposed: Sequence[ExposedRecords]) -> str | None:
    """The column that gives away exposed members more often than it does others."""
    sides = [
        _agreed([one.table[one.table["member"] == side] for one in exposed]) for side in (1, 0)
    ]
    (inside, members), (outside, others) = sides
    if not inside:
        return None
    excess = {name: n / members - outside[name] / max(1, others) for name, n in inside.items()}
    best = max(excess, key=lambda name: excess[name])
    return best if excess[best] > 0 else None


def _commonest(tables: Iterable[pd.DataFrame]) -> str | None:
    """The column that gives most people away beside their nearest released record."""
    shared, _ = _agreed(tables)
    return shared.most_common(1)[0][0] if shared else None


def _agreed(tables: Iterable[pd.DataFrame]) -> tuple[Counter[str], int]:
    """How many records each column gives away, the rarest that a released one agrees on."""
    shared: Counter[str] = Counter()
    number = 0
    for table in tables:
        names = table["agrees_on"].dropna() if "agrees_on" in table else ()
        partly = (
            str(one)
            for one in names
            if str(one) != "nothing" and not str(one).startswith("all columns")
        )
        shared.update(one.split(", ")[0] for one in partly)
        number += len(names)
    return shared, number
