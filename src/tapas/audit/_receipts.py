"""What each attack gave, kept as soon as it is there."""

import json
from collections.abc import Callable
from typing import Any

from tapas.engine import Entry, Store
from tapas.errors import StoreError
from tapas.results import AttackSummary


def judged_once(store: Store | None, key: str, judge: Callable[[], AttackSummary]) -> Any:
    """The summary called `key`: from the store if an earlier run left it there whole."""
    if store is None:
        return judge()
    if key in store:
        try:
            return AttackSummary.from_json(json.dumps(store.load(key).notes))
        except StoreError:
            store.discard(key)
    summary = judge()
    store.save(key, Entry(notes=json.loads(summary.to_json())))
    return summary
