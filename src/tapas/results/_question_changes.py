"""Where the questions of two audits differ."""

import json
import re
from collections.abc import Iterator
from typing import Any

# What is read off files: of each table its file, digest and so on, and how many records are judged.
_NO_CHOICES = re.compile(r"inputs|inputs\.\w+\.[^.]+\.\w+|data\.records(\.\w+)?")
_FREE = re.compile(r"(^|\.)(parameters|arguments)\.")  # any name may stand below, with any value

__all__ = ["question_differences"]


def question_differences(
    before: dict[str, Any], after: dict[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Path, value before and value after, of each difference.

    What one record does not say of the same audit, as earlier versions wrote less, is none.
    """
    return _differences(*_without_digests(before, after))


def _differences(before: object, after: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            below = f"{path}.{name}" if path else str(name)
            if (name in before) != (name in after) and _is_unsaid(
                below, before.get(name, after.get(name))
            ):
                continue
            yield from _differences(before.get(name), after.get(name), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(left, right, f"{path}[{place}]")
    elif before != after:
        yield path, _short(before), _short(after)


def _is_unsaid(path: str, value: object) -> bool:
    """Whether only one record has a key because the other was written by an earlier version.

    That is so of what is no choice, and of choices that are empty: they are the same as none.
    """
    return bool(_NO_CHOICES.fullmatch(path)) or (value in ([], {}) and not _FREE.search(path))


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
