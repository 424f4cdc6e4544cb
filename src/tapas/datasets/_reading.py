"""How a file is to be read: every choice, each found by itself unless it is given."""

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from tapas._validate import listing
from tapas.errors import ConfigError, SchemaError

MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "NaT", "?")
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_ESCAPES = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "space": " ", "none": ""}


@dataclass(frozen=True)
class Reading:
    """Choices about a file. What is None is found from the file, or refused where it cannot be.

    Attributes
    ----------
    delimiter : str, optional
        What stands between two cells of a text file.
    decimal : {".", ","}, optional
        The mark before the decimals of a number.
    encoding : str, optional
        Such as "utf-8" or "cp1252".
    quote : str
        What cells are quoted with.
    header : bool, optional
        Whether the first row holds the names of the columns.
    index : str or False, optional
        The column that numbers the rows. It labels records, and no attack looks at it. By default a
        first column without a name that numbers the rows.
    dates : str, optional
        "day-first" or "month-first" for dates such as 03/04/2021, a format such as "%d.%m.%y",
        or "text" to leave dates that are not in ISO form alone.
    skip_rows : int
        Lines above the table.
    sheet : str, optional
        Of an Excel file; it must be named if there are several.
    missing : tuple of str
        Further cells that stand for a missing value.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    quote: str = '"'
    header: bool | None = None
    index: str | bool | None = None
    dates: str | None = None
    skip_rows: int = 0
    sheet: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ConfigError(f"decimal must be '.' or ',', got {self.decimal!r}")
        for name in ("delimiter", "quote"):
            value = getattr(self, name)
            if value is not None and (len(value) != 1 or value in "\r\n"):
                raise ConfigError(f"{name} must be one character, got {value!r}")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        named = self.dates in (None, "day-first", "month-first", "text")
        if not named and "%" not in str(self.dates):
            raise ConfigError(
                f"dates must be day-first, month-first, text or a format such as %d.%m.%y, got "
                f"{self.dates!r}"
            )
        if self.index is True or self.index == "":
            raise ConfigError(
                "index names the column that labels records (index=patient_id), or is false: none"
            )
        if self.skip_rows < 0:
            raise ConfigError(f"skip_rows must be at least 0, got {self.skip_rows}")

    @classmethod
    def from_words(cls, words: Iterable[str]) -> "Reading":
        """From words such as ``delimiter=;``, as on a command line."""
        return cls(**choices_from_words(words))  # type: ignore[arg-type]


def choices_from_words(words: Iterable[str]) -> Mapping[str, object]:
    """Choices as values by name; a value may be written as a word (tab, comma, none)."""
    known = [field.name for field in fields(Reading)]
    chosen: dict[str, object] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            raise ConfigError(
                f"{word!r} is no choice: write NAME=VALUE, with one of {_bare(known)}"
            )
        chosen[name] = _value(name, text, chosen)
    return chosen


def uncertain(problem: str, *remedies: str) -> SchemaError:
    """The error of a file that can be read in more than one way; remedies are NAME=VALUE."""
    ways = " or ".join(f"--read {_shell_safe(remedy)}" for remedy in remedies)
    keys = ", ".join(dict.fromkeys(remedy.partition("=")[0] for remedy in remedies))
    return SchemaError(f"{problem}. Say which: {ways} (in an audit file, data.read: {keys})")


def _value(name: str, text: str, chosen: Mapping[str, object]) -> object:
    if name == "missing":
        earlier = chosen.get("missing", ())
        return (*(earlier if isinstance(earlier, tuple) else ()), text)
    if name == "skip_rows":
        if not text.isdigit():
            raise ConfigError(f"skip_rows must be a whole number, got {text!r}")
        return int(text)
    if name == "header" or (name == "index" and text.lower() in _TRUTHS):
        if text.lower() not in _TRUTHS:
            raise ConfigError(f"{name} must be true or false, got {text!r}")
        return _TRUTHS[text.lower()]
    return _ESCAPES.get(text, text) if name in ("delimiter", "decimal") else text


def _check_encoding(name: str) -> None:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ConfigError(f"encoding {name!r} is not known: utf-8 or cp1252, for example") from None


def _shell_safe(remedy: str) -> str:
    return f"'{remedy}'" if any(character in remedy for character in ';|%"*?&$<>() ') else remedy


def _bare(names: Iterable[str]) -> str:
    return listing(names, 20).replace("'", "")
