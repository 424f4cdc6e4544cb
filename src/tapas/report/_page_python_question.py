"""The question of an audit that was put together in Python, as an audit file would state it."""

from collections.abc import Mapping
from typing import Any

from tapas.results import AuditRecord

__all__ = ["stated_questions"]

_DATA = {
    "AuxiliaryDataKnowledge": "auxiliary",
    "QuasiIdentifierKnowledge": "identifiers",
    "ExactDataKnowledge": "exact",
}
_MECHANISM = {
    "BlackBoxKnowledge": "black-box",
    "WhiteBoxKnowledge": "white-box",
    "NoBoxKnowledge": "no-box",
    "UncertainBoxKnowledge": "uncertain",
}

Part = Mapping[str, Any]


def stated_questions(record: AuditRecord) -> list[tuple[str, dict[str, Any]]]:
    """Return name and question of each audited subject, as far as games of our own tell it."""
    asked = record.question.get("subjects") or ()
    trials = {subject.name: dict(subject.trials) for subject in record.audited}
    attacks = [{"use": _use(attack)} for attack in record.question.get("attacks") or ()]
    return [
        (one["name"], {**_stated(one), "attacks": attacks, "trials": trials.get(one["name"], {})})
        for one in asked
        if one.get("role") == "audited" and one.get("setting")
    ]


def _stated(subject: Part) -> dict[str, Any]:
    setting, game = subject["setting"], subject["threat_model"]
    known = {"known": setting["known"]}
    match _class_of(game):
        case "ObservedGame":
            return {"release": known, "goal": _goal(setting)}
        case "PredictionsGame":
            return {"predictions": {**known, "references": setting["references"]}}
        case "ModelMembershipGame":
            return {"model": {**known, **_model(setting, game)}, "goal": _goal(setting)}
        case "ModelAttributeGame" | "PropertyGame":
            return {"model": _model(setting, game), "goal": _goal(setting)}
        case "TargetedGame" if game["data"].get("planting"):
            return {
                "generator": _class_of(game["mechanism"]),
                "knowledge": _knowledge(game["data"]["attacker_knowledge"], game["mechanism"]),
                "goal": _planted(game["data"]),
            }
        case "ImportedGame":
            return {"imported": True}
    return {}


def _model(setting: Part, game: Part) -> dict[str, Any]:
    return {
        "access": setting["access"]["value"],
        "shown": game["model"].get("_shown") if "model" in game else None,
        "shadows": setting["references"],
        "budget": setting["budget"],
    }


def _goal(setting: Part) -> dict[str, Any]:
    goal = setting["goal"]
    return {goal["kind"]: {"column": goal["attribute"]}}


def _planted(data: Part) -> dict[str, Any]:
    if data.get("sensitive_attribute") is None:
        return {"membership": {"pairs": data["generate_pairs"]}}
    planted = data["planting"]
    names = {"column": "attribute", "values": "values", "distribution": "distribution"}
    return {"attribute": {name: planted.get(key) for name, key in names.items()}}


def _knowledge(data: Part, mechanism: Part) -> dict[str, Any]:
    held, known = (_class_of(one) for one in (data, mechanism))
    return {
        "data": _DATA.get(held, held),
        "held": (data.get("aux_data") or {}).get("rows"),
        "mechanism": _MECHANISM.get(known, known),
        "records": data.get("num_training_records"),
    }


def _use(attack: Part) -> str:
    """As audit files name it: of one's own, with the module."""
    module, _, name = str(attack.get("path", "")).rpartition(".")
    return name if module.startswith("tapas.attacks") else f"{module}:{name}"


def _class_of(part: Part) -> str:
    return str(part.get("path", "")).rpartition(".")[2]
