"""What a game tells attacks, and which of them it refuses."""

import re

import numpy as np
import pandas as pd

from tapas import attacks as attack_room
from tapas._validate import listing
from tapas.attacks import Attack
from tapas.compat import needs_of
from tapas.game import (
    Game,
    ModelBriefing,
    Phase,
    TableBriefing,
    unfit,
)
from tapas.testing._game_bench import Bench

FAR = 4.0  # standard errors
FEWEST_IN_ORDER = 8  # records whose order could say anything


def masking_breach(bench: Bench) -> str | None:
    attribute = bench.game.goal.attribute
    for phase in bench.phases if bench.game.goal.kind == "attribute" else ():
        briefing = bench.game.briefing(phase)
        if isinstance(briefing, TableBriefing):
            told = briefing.targets.data[str(attribute)]
        elif isinstance(briefing, ModelBriefing):
            told = pd.Series(briefing.targets.values_of(attribute))
        else:
            return f"a {type(briefing).__name__} has no targets"
        if told.notna().any():
            return f"{phase} targets are told with {listing(told.dropna().unique().tolist())}"
    return None


def telling_order_breach(bench: Bench) -> str | None:
    if bench.game.goal.kind != "membership":
        return None
    for phase in bench.phases:
        secrets = next(bench.trials(phase)).secrets.astype(bool)
        judged = bench.game.judged(phase)  # attacks are told which those are
        for words, order in _orders(bench.game, phase).items():
            for chosen in (judged, ~judged):
                far = _distance_from_random(order[chosen], secrets[chosen])
                if far > FAR:
                    return (
                        f"the {words} of {phase} targets tells members from others: {far:.1f} "
                        f"standard errors from what a random order would give"
                    )
    return None


def _orders(game: Game, phase: Phase) -> dict[str, np.ndarray]:
    """Orders in which the targets of a phase are told."""
    briefing = game.briefing(phase)
    found = {"order": np.arange(briefing.num_targets)}
    if isinstance(briefing, TableBriefing):
        labels = pd.to_numeric(pd.Series(briefing.targets.table.index), errors="coerce")
        found["row labels"] = labels.fillna(-1).to_numpy()
    return found


def _distance_from_random(order: np.ndarray, members: np.ndarray) -> float:
    """How far the ranks of members, and the changes between neighbours, are from chance."""
    inside, outside = int(members.sum()), int((~members).sum())
    number = inside + outside
    if min(inside, outside) == 0 or number < FEWEST_IN_ORDER:
        return 0.0
    ranks = pd.Series(order).rank().to_numpy()
    sums = ranks[members].sum() - inside * (number + 1) / 2
    by_rank = sums / np.sqrt(inside * outside * (number + 1) / 12)
    sorted_members = members[np.argsort(order, kind="stable")]
    changes = int((sorted_members[1:] != sorted_members[:-1]).sum())
    expected = 2 * inside * outside / number
    spread = np.sqrt(expected * max(expected - 1, 0.5) / max(number - 1, 1))
    by_change = (changes - expected) / spread
    return float(max(abs(by_rank), abs(by_change)))


def refusal_breach(bench: Bench) -> str | None:
    setting = bench.game.setting
    fitting = {type(attack).__name__ for attack in bench.attacks if not _refused(attack, bench)}
    if not fitting:
        return "it refuses every attack"
    for attack in bench.attacks:
        needs = attack.needs
        wrong_release = needs.release not in (None, setting.release)
        wrong_goal = bool(needs.goals) and setting.goal.kind not in needs.goals
        if not wrong_release and not wrong_goal:
            continue
        refused = "; ".join(_refused(attack, bench))
        if not refused:
            return f"{attack.label}, which attacks another thing, is not refused"
        named = {name for name in attack_room.__all__ if re.search(rf"use .*\b{name}\b", refused)}
        if not named:
            return f"it names no attack of tapas.attacks instead of {attack.label}: {refused}"
        if not named & fitting:
            return f"none of the attacks that it names instead of {attack.label} fits: {refused}"
    return None


def _refused(attack: Attack, bench: Bench) -> list[str]:
    return unfit(needs_of(attack), attack.label, bench.game.setting)
