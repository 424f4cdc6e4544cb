"""What a page says of a model that does worse on the records it was trained on."""

import numpy as np

from tapas.report._page_performance import performance_tables
from tapas.results import AuditedSubject, performance_table

FEWER = "right about fewer of the former, by at least "
DOUBT = "its classes may be in the wrong order"
UNSURE = "That the two differ at all is not certain."


def said(right_inside: float, right_outside: float, size: int = 400) -> str:
    members = np.arange(2 * size) < size
    rank = np.arange(2 * size) % size / size
    truth = np.arange(2 * size) % 2
    right = rank < np.where(members, right_inside, right_outside)
    table = performance_table(truth, np.where(right, truth, 1 - truth), members)
    subject = AuditedSubject("M", performance=table.to_dict("list"))
    return performance_tables([subject])[0].words


def test_a_negative_gap_counts_as_well() -> None:
    words = said(0.6, 0.8)
    assert FEWER in words
    assert UNSURE not in words
    assert DOUBT not in words
    assert UNSURE in said(0.7, 0.7)
    assert "The gap, at least " in said(0.9, 0.7)


def test_a_model_that_is_wrong_about_its_training_records_gets_a_hint() -> None:
    assert DOUBT in said(0.0, 0.2)
    assert DOUBT in said(0.3, 0.3)
    assert DOUBT not in said(0.5, 0.5)
