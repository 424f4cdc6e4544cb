"""A game is one thing, and its trials are functions of their addresses."""

import cloudpickle

from tapas._random import seeded_globals
from tapas.testing._game_bench import OTHER_SEED, SEED, Bench, Seen

FRESH_ROUNDS = 3


def names_breach(bench: Bench) -> str | None:
    game = bench.game
    for name, text in {
        "label": game.label,
        "data_label": game.data_label,
        "the name in setting": game.setting.name,
    }.items():
        if not isinstance(text, str) or not text:
            return f"{name} is {text!r}"
    for position, text in enumerate(game.target_labels):
        if not isinstance(text, str) or not text:
            return f"the label of target {position} is {text!r}"
    return None


def identity_breach(bench: Bench) -> str | None:
    game, again, other = bench.game, bench.made(), bench.made(OTHER_SEED)
    if (game.seed, other.seed) != (SEED, OTHER_SEED):
        return f"made with the seeds {SEED} and {OTHER_SEED}, it has {game.seed} and {other.seed}"
    if game.spec.doubts:
        return f"it cannot be told from others: {game.spec.doubts[0]}"
    if again.spec.digest != game.spec.digest:
        return "two that are made alike have different specs"
    if other.spec.digest == game.spec.digest:
        return "another seed gives the same spec"
    for words, twin in {
        "a time limit": game.within(3600.0),
        "playing in threads": game.for_threads(),
    }.items():
        if twin.spec.digest != game.spec.digest:
            return f"{words} makes it another game"
    bench.played(game)
    return None if game.spec.digest == again.spec.digest else "playing it made it another"


def travel_breach(bench: Bench) -> str | None:
    arrived = cloudpickle.loads(cloudpickle.dumps(bench.game))
    if arrived.spec.digest != bench.game.spec.digest:
        return "what arrived is another game"
    return bench.differs(bench.played(arrived))


def repetition_breach(bench: Bench) -> str | None:
    return bench.differs(bench.played(bench.game)) or bench.differs(bench.played(bench.made()))


def order_breach(bench: Bench) -> str | None:
    return bench.differs(bench.played(bench.made(), bench.stacks()[::-1]))


def processes_breach(bench: Bench) -> str | None:
    return bench.differs(bench.played(bench.game, n_jobs=2))


def globals_breach(bench: Bench) -> str | None:
    for ambient in (1, 2):
        with seeded_globals(ambient):
            breach = bench.differs(bench.played(bench.game))
        if breach is not None:
            return breach
    return None


def fresh_breach(bench: Bench) -> str | None:
    endless = [phase for phase in bench.phases if bench.game.rounds(phase) is None]
    for phase in endless:
        stacks = bench.stacks([phase])
        before = [_drawn(bench.first_time[stack]) for stack in stacks]
        for number in range(1, FRESH_ROUNDS + 1):
            fresh = bench.played(bench.game, stacks, round_=number)
            if [_drawn(fresh[stack]) for stack in stacks] != before:
                break
        else:
            return f"the {phase} trials of {FRESH_ROUNDS} other rounds repeat the remembered ones"
    return None


def _drawn(stack: list[Seen]) -> list[tuple[tuple[str, ...], str]]:
    return [(trial.secrets, trial.release) for trial in stack]
