"""By which probabilities a game about an attribute draws its values."""

from collections.abc import Mapping
from typing import Any

__all__ = ["drawn_values_words"]


def drawn_values_words(question: Mapping[str, Any]) -> list[str]:
    """Return how the values that are guessed are drawn; nothing where they are as they are."""
    attribute = (question.get("goal") or {}).get("attribute")
    if not attribute or not question.get("generator"):
        return []
    column, values = attribute["column"], attribute.get("values")
    weights = attribute.get("distribution")
    if weights is None:
        return [
            f"The values of “{column}” that targets have are drawn with equal probabilities, "
            "however common they are in the table (goal.attribute.distribution, in Python "
            "distribution, states others)."
        ]
    named = values if values is not None and len(values) == len(weights) else [""] * len(weights)
    said = ", ".join(
        f"{value} {weight:g}".strip() for value, weight in zip(named, weights, strict=True)
    )
    return [f"The values of “{column}” that targets have are drawn by probabilities: {said}."]
