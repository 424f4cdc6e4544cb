"""Which share of a property a model in question has, by every attack that learnt."""

from tapas.audit._subject_run import SubjectRun
from tapas.engine import guarded, log_failure, told
from tapas.results import AttackCrash, PropertyShares
from tapas.threat_models import ModelPropertyInference

IN_QUESTION = "the model in question"


def property_shares(run: SubjectRun) -> PropertyShares | None:
    """The shares, with what attacks say of the model in question; None of other games.

    An attack that fails on that model is noted as crashed.
    """
    game = run.threat_model
    if not isinstance(game, ModelPropertyInference):
        return None
    answers, asked = [], game.in_question
    for part in run.parts:
        name = part.attack.label
        if asked is None:
            break
        try:
            with guarded(run.player.policy.attack_timeout):
                answers.append(game.answer(name, part.observer, part.scorer, asked))
        except Exception as error:
            log_failure(f"{name} crashed on {IN_QUESTION}", error)
            run.crashes.append(AttackCrash(name, IN_QUESTION, told(error)))
    return PropertyShares(game.game.sets[0].shares, tuple(answers))
