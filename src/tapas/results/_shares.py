"""Which shares of a property are recognised: what was true beside what was guessed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas.results._audited_subject import AuditedSubject
from tapas.results._label_inference import LabelInferenceAttackSummary
from tapas.results._rounding import rounded
from tapas.results._share_answers import ShareAnswer
from tapas.stats import clopper_pearson, shared_confidence

__all__ = ["SharesTold", "shares_told"]

RARE = 0.1
TOGETHER = 0.95


@dataclass(frozen=True)
class SharesTold:
    """How often an attack took models of each share for models of each.

    Attributes
    ----------
    subject, attack : str
    shares : tuple of float
    counts : tuple of tuple of int
        Test models, by the share that was true and by the one that was guessed.
    answer : ShareAnswer, optional
        What the attack says of the model in question.
    unlike : bool
        Whether scores of that model lie outside those of all test models with the share, which are
        so many that it is rare.
    confidence : float
        Of the interval of how often such an answer is right; all answers hold together.
    """

    subject: str
    attack: str
    shares: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    answer: ShareAnswer | None = None
    unlike: bool = False
    confidence: float = TOGETHER

    def words(self) -> str:
        """Which share is recognised how often, in a sentence or two."""
        first, *more = (
            f"{share:g} in {row[place]} of {sum(row)}"
            for place, (share, row) in enumerate(zip(self.shares, self.counts, strict=True))
        )
        said = (
            f"{self.attack} recognises a share of {', of '.join([f'{first} models', *more[:-1]])}"
        )
        said += f" and of {more[-1]}."
        return f"{said} {self._answered()}" if self.answer else said

    def _answered(self) -> str:
        """What is said of the model in question, and how often that was right of test models."""
        if self.answer is None:
            return ""
        place = self.shares.index(self.answer.share)
        taken = sum(row[place] for row in self.counts)
        right = self.counts[place][place]
        words = f"The model in question is taken to have a share of {self.answer.share:g}"
        listed = ", ".join(f"{share:g}" for share in self.shares)
        only = f" Only {listed} are guessed among, also where its true share is another."
        if self.unlike:
            only += (
                f" It may well be: the score lies outside those of all {sum(self.counts[place])} "
                f"test models with {self.answer.share:g}; add shares to the list."
            )
        if not taken:
            return f"{words}; no test model was, so nobody knows how often that is right.{only}"
        low, high = (
            rounded(100 * end, 0) for end in clopper_pearson(right, taken, self.confidence)
        )
        return (
            f"{words}; of {taken} test models that were taken so, {right} had it ({low} to {high} "
            f"%, where every share is as common).{only}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        answer = self.answer
        return {
            "subject": self.subject,
            "attack": self.attack,
            "shares": list(self.shares),
            "counts": [list(row) for row in self.counts],
            "model_in_question": None
            if answer is None
            else {
                "share": answer.share,
                "scores": list(answer.scores),
                "guessed_among": list(self.shares),
                "unlike_test_models": self.unlike,
            },
            "words": self.words(),
        }


def shares_told(subjects: Sequence[AuditedSubject]) -> list[SharesTold]:
    """What every attack told of the shares of every subject that is about a property.

    How often answers are right is said of all of them together, and over earlier looks.
    """
    found = []
    answered = sum(len(one.shares.answers) for one in subjects if one.shares is not None)
    for subject in subjects:
        about = subject.shares
        if about is None:
            continue
        answers = {answer.attack: answer for answer in about.answers}
        for one in subject.summaries:
            if isinstance(one, LabelInferenceAttackSummary):
                attack = str(one.attack)
                counts, said = _counted(one, about.shares), answers.get(attack)
                unlike = said is not None and _is_unlike(one, about.shares, said)
                level = shared_confidence(TOGETHER, max(1, answered), one.error_share)
                told = SharesTold(subject.name, attack, about.shares, counts, said, unlike, level)
                found.append(told)
    return found


def _is_unlike(
    summary: LabelInferenceAttackSummary, shares: tuple[float, ...], answer: ShareAnswer
) -> bool:
    """Whether the score of the answer is outside those of models with that share.

    Of a model like n of them it is with probability 2 / (n + 1).
    """
    place = shares.index(answer.share)
    binary = summary.secret_kind == "binary"
    alike = summary.labels == (place if binary else answer.share)
    if summary.scores is None or 2 / (alike.sum() + 1) > RARE:
        return False
    scores = summary.scores[alike] if binary else summary.scores[alike, place]
    own = answer.scores[0 if binary else place]
    return not scores.min() <= own <= scores.max()


def _counted(
    summary: LabelInferenceAttackSummary, shares: tuple[float, ...]
) -> tuple[tuple[int, ...], ...]:
    # Of two shares, 1 is the second; of more, labels are the shares.
    names = (0, 1) if summary.secret_kind == "binary" else shares
    counts = np.array(
        [
            [((summary.labels == true) & (summary.predictions == said)).sum() for said in names]
            for true in names
        ]
    )
    return tuple(tuple(int(one) for one in row) for row in counts)
