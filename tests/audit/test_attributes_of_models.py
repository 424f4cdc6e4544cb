"""Which attributes an audit file may ask a model about."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.audit import load_audit
from tapas.errors import ConfigError


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ({"column": "age"}, "goal.attribute.column: 'age' has 200 different values"),
        ({"column": "ill"}, "'ill' is the class that the model predicts: name one of its inputs"),
    ],
)
def test_columns_that_cannot_be_guessed_are_refused(
    attribute: dict[str, Any], said: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.normal(50, 9, 400), "ill": rng.choice(["no", "yes"], 400)})
    people.to_csv(tmp_path / "people.csv", index=False)
    model = {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "ill", "shadows": 0}
    values = {"data": {"table": "people.csv"}, "model": model, "goal": {"attribute": attribute}}
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(values))
    with pytest.raises(ConfigError, match=said):
        load_audit(tmp_path / "audit.yaml")
