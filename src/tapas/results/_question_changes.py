"""Where the questions of two audits differ."""

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["question_differences"]


def question_differences(
    before: dict[str, Any], after: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Path, value before and value after, of each difference."""
    return _differences(*_without_digests(before, after))


def _differences(before: object, after: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(before.get(name), after.get(name), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(left, right, f"{path}[{place}]")
    elif before != after:
        yield path, _short(before), _short(after)


def _without_digests(
    before: dict[str, Any], after: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Questions without digests of tables as they were encoded, where both have those of files.

    The encoding of one table depends on the others that it is described with.
    """
    if not (before.get("inputs") and after.get("inputs")):
        return before, after
    return _without_digest(before), _without_digest(after)


def _without_digest(question: dict[str, Any]) -> dict[str, Any]:
    data = question.get("data")
    if not isinstance(data, dict):
        return question
    return {**question, "data": {key: data[key] for key in data if key != "digest"}}


def _short(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:119] + "…"
