"""The joint of every audit: addresses, trials, boards, and what games and attacks are."""

from tapas.game._address import PHASES, Address, Phase
from tapas.game._board import Board
from tapas.game._briefing import Briefing, ModelBriefing, TableBriefing
from tapas.game._comparable import (
    Candidates,
    Compared,
    compare_sides,
    draw_values,
    split_coins,
    split_sides,
)
from tapas.game._coroutines import run_coroutine
from tapas.game._goal import MEMBERSHIP, PROPERTY, Goal, Kind, Relation, Value
from tapas.game._judging import Judgement, fit_scorer, judge, learning_parts, scorer_about
from tapas.game._ledger import Ledger
from tapas.game._needs import Needs, Setting, refuse_unfit, unfit
from tapas.game._observation import Observation
from tapas.game._observers import MethodObserver, ValueObserver
from tapas.game._playing import Player, TrialPolicy
from tapas.game._protocols import (
    Attack,
    CountsRightGuesses,
    DrawsValues,
    Game,
    LearnsEach,
    Observer,
    PlaysConcurrently,
    Samples,
    Scorer,
    TargetedScorer,
    TellsLikelihood,
    TellsMembers,
    TellsSecrets,
)
from tapas.game._release import Release, Trial
from tapas.game._stored_ledger import StoredLedger, as_array

__all__ = [
    "MEMBERSHIP",
    "PHASES",
    "PROPERTY",
    "Address",
    "Attack",
    "Board",
    "Briefing",
    "Candidates",
    "Compared",
    "CountsRightGuesses",
    "DrawsValues",
    "Game",
    "Goal",
    "Judgement",
    "Kind",
    "LearnsEach",
    "Ledger",
    "MethodObserver",
    "ModelBriefing",
    "Needs",
    "Observation",
    "Observer",
    "Phase",
    "Player",
    "PlaysConcurrently",
    "Relation",
    "Release",
    "Samples",
    "Scorer",
    "Setting",
    "StoredLedger",
    "TableBriefing",
    "TargetedScorer",
    "TellsLikelihood",
    "TellsMembers",
    "TellsSecrets",
    "Trial",
    "TrialPolicy",
    "Value",
    "ValueObserver",
    "as_array",
    "compare_sides",
    "draw_values",
    "fit_scorer",
    "judge",
    "learning_parts",
    "refuse_unfit",
    "run_coroutine",
    "scorer_about",
    "split_coins",
    "split_sides",
    "unfit",
]
