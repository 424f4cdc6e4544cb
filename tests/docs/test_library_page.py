"""Pages that are written from code agree with it."""

import importlib.util
import re
from pathlib import Path

import pytest

from tapas.attacks import TrainableThresholdAttack
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

DOCS = Path(__file__).parents[2] / "docs"


def test_the_library_page_is_what_the_docstrings_say() -> None:
    spec = importlib.util.spec_from_file_location("make_library", DOCS / "make_library.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (DOCS / "library-of-attacks.md").read_text(encoding="utf-8")
    assert written == module.page(), "run: python docs/make_library.py"


@pytest.mark.parametrize("number", [0, 1])
def test_the_attacks_on_the_implementing_page_run(number: int) -> None:
    text = (DOCS / "implementing-attacks.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[number], names)
    (written,) = (
        value
        for value in names.values()
        if isinstance(value, type)
        and issubclass(value, TrainableThresholdAttack)
        and value is not TrainableThresholdAttack
    )
    data = load_sample("census", 400)
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=50, seed=0),
        data.get_records([0]),
        BlackBoxKnowledge(Raw(), 40),
        seed=1,
    )
    attack = written("accuracy")
    attack.train(threat_model, num_samples=20)
    assert len(threat_model.test(attack, num_samples=20)) == 20
