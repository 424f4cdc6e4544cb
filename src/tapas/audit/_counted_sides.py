"""How many records of each side the attacker of a model knows, and how many are judged."""

from tapas._spec import Plain
from tapas.threat_models import ModelMIA, PredictionsMIA

__all__ = ["counted_sides"]


def counted_sides(model: ModelMIA | PredictionsMIA) -> dict[str, Plain]:
    """Return what is left of the given records, where a question says what the attacker knew."""
    game = model.game
    known = (0, 0) if game.known is None else game.known.of_each_side
    judged = game.candidates.of_each_side
    return {
        "known_members": known[0],
        "known_non_members": known[1],
        "judged_members": judged[0],
        "judged_non_members": judged[1],
    }
