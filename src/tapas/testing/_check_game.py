"""What attacks and audits rely on in a game, as checks that anybody can run on theirs."""

from collections.abc import Sequence

from tapas._validate import check_count
from tapas.attacks import Attack
from tapas.testing._every_attack import every_attack
from tapas.testing._game_bench import Bench, MakeGame
from tapas.testing._game_shape import releases_breach, rounds_breach, secrets_breach, targets_breach
from tapas.testing._game_telling import masking_breach, refusal_breach, telling_order_breach
from tapas.testing._game_trials import (
    fresh_breach,
    globals_breach,
    identity_breach,
    names_breach,
    order_breach,
    processes_breach,
    repetition_breach,
    travel_breach,
)
from tapas.testing._promises import Promise, kept_promises


def check_game(
    make_game: MakeGame, attacks: Sequence[Attack] | None = None, *, num_trials: int = 6
) -> list[str]:
    """Run every check on a game.

    Parameters
    ----------
    make_game : callable
        ``make_game(seed)`` makes the threat model, or the game that it plays. Whatever else it is
        made of (data, models, mechanisms) is the same each time.
    attacks : sequence of Attack, optional
        Attacks of all kinds, those that the game should refuse among them; by default all of
        `tapas.attacks`.
    num_trials : int
        How many trials of each phase are played, as far as there are as many; several times over.

    Returns
    -------
    list of str
        Names of the promises that are kept.

    Raises
    ------
    BrokenPromiseError
        Names the game, every promise that is broken, and what was seen instead.
    """
    offered = every_attack() if attacks is None else tuple(attacks)
    bench = Bench(make_game, offered, check_count(num_trials, "num_trials", minimum=2))
    return kept_promises(bench.game.setting.name, _PROMISES, bench)


_PROMISES = (
    Promise("names", "it has display names for all that results show", names_breach),
    Promise(
        "identity", "its spec is equal where it is made alike, and there alone", identity_breach
    ),
    Promise("repetition", "a trial that is played again is the same", repetition_breach),
    Promise("order", "a trial does not depend on which were played before", order_breach),
    Promise("processes", "another process plays the same trials", processes_breach),
    Promise("global randomness", "its seed decides everything random", globals_breach),
    Promise("travel", "it can be sent to another process", travel_breach),
    Promise("fresh rounds", "where trials never end, other rounds are other trials", fresh_breach),
    Promise("rounds", "it plays the trials that it says there are", rounds_breach),
    Promise("releases", "it releases what it says", releases_breach),
    Promise("targets", "targets, labels, secrets and who is judged agree", targets_breach),
    Promise("secrets", "every secret is one of the values that the goal has", secrets_breach),
    Promise("masking", "a sensitive value is told of no target", masking_breach),
    Promise("telling order", "the order of targets says nothing", telling_order_breach),
    Promise("refusals", "attacks of another kind are told which would fit", refusal_breach),
)
