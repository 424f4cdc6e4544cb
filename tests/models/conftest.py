"""What the tests of models share."""

import pytest


@pytest.fixture
def no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what inputs alone tell: it is tested elsewhere, and takes longer than the rest."""
    from tapas.threat_models import _model_game

    monkeypatch.setattr(_model_game, "told_by_inputs", lambda *_, **__: None)
