"""What keys of an audit file are called on a command line that has no such file."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tapas.errors import ConfigError, TapasError

_SHARED = {
    "data.drop": "--drop",
    "data.read": "--read",
    "attacks": "--attack",
    "gates": "limits",
    "a gate on auc of at most": "--max-auc",
    "known_share": "--known-share",
}
PREDICTIONS = {
    **_SHARED,
    "data.table": "FILE",
    "predictions.known_share": "--known-share",
    "outputs='logits' (--outputs logits)": "--outputs logits",
    "PredictionsMIA": "`tapas predictions`",
}
RELEASE = {
    **_SHARED,
    "data.table": "PRIVATE",
    "data.holdout": "HOLDOUT",
    "data.schema": "--schema",
    "release.file": "RELEASED",
    "release.reference": "--reference",
    "release.read": "--read-released",
    "release.known_share": "--known-share",
    "subgroups": "--subgroup",
    "sensitive_attribute": "--attribute",
    "give attribute_values, or name": "name",
    "give attribute_values": "there is none",
    "give reference=..., population=... or auxiliary data": "give --reference",
    "ObservedMIA": "`tapas release`",
    "ObservedAIA": "`tapas release --attribute`",
}
_OF_FILES = re.compile(r" \((in an audit file, |data\.read: )[^()]*\)")
_SAID_TWICE = re.compile(r"(\(--[^()]*), (data|predictions|release)\.[^()]*\)")


@contextmanager
def told_in_options(called: Mapping[str, str]) -> Iterator[None]:
    """Errors about keys of an audit file name options and arguments instead."""
    try:
        yield
    except TapasError as error:
        problems = error.problems if isinstance(error, ConfigError) else (str(error),)
        raise ConfigError(*(in_options(words, called) for words in problems)) from error


def in_options(words: str, called: Mapping[str, str]) -> str:
    """The same words with options in place of keys."""
    said = _SAID_TWICE.sub(r"\1)", _OF_FILES.sub("", words))
    keys = "|".join(re.escape(key) for key in sorted(called, key=len, reverse=True))
    found = rf"(?<![\w./'-])({keys})(\[\d+\]|\.\d+)?(?![\w'/-])"
    return re.sub(found, lambda key: called[key[1]], said)
