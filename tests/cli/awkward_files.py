"""Files as people have them: dialects, dates, encodings, headers, sizes."""

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 60


@dataclass(frozen=True)
class Awkward:
    """A file, and what reading it must give.

    `kinds` are the kinds of its columns by name where it is read, `refused` words of the message
    where it is not; then the first remedy of the message must lead to `kinds`. `first` are
    values of the first record.
    """

    name: str
    make: Callable[[], bytes]
    kinds: dict[str, str]
    first: dict[str, object]
    refused: str = ""


def people(rows: int = ROWS) -> pd.DataFrame:
    """An ordinary table: no two columns alike."""
    rng = np.random.default_rng(5)
    days = pd.to_datetime("1980-01-13") + pd.to_timedelta(rng.integers(0, 9000, rows), unit="D")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "town": rng.choice(["Köln", "Łódź", "Bern"], rows),
            "height": rng.normal(170.5, 9, rows).round(2),
            "joined": days,
        }
    )


KINDS = {"age": "integer", "town": "category", "height": "real", "joined": "date"}


def _first(frame: pd.DataFrame) -> dict[str, object]:
    row = frame.iloc[0]
    return {"age": int(row["age"]), "height": float(row["height"]), "joined": row["joined"]}


def _text(frame: pd.DataFrame, encoding: str = "utf-8", **options: object) -> bytes:
    return frame.to_csv(**{"index": False, **options}).encode(encoding)  # type: ignore[arg-type]


def _dates(form: str, days: range | None = None, **options: object) -> bytes:
    frame = people()
    if days is not None:
        frame["joined"] = [pd.Timestamp(2020, 1 + d % 12, 1 + d % 11) for d in days]
    return _text(frame.assign(joined=frame["joined"].dt.strftime(form)), **options)


def _european(decimal: str = ",", thousands: str = ".") -> bytes:
    frame = people()
    amounts = [1234.5 + 100 * n for n in range(len(frame))]
    swap = str.maketrans({",": thousands, ".": decimal})
    frame["height"] = [f"{amount:,.2f}".translate(swap) for amount in amounts]
    return _text(frame, sep=";")


def _amounts(text: str, sep: str = ",") -> bytes:
    frame = people()
    frame["height"] = [text.format(n + 0.25) for n in range(len(frame))]
    return _text(frame, sep=sep)


def _excel(sheets: int = 1) -> bytes:
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        for number in range(sheets):
            people().to_excel(writer, sheet_name=f"part {number}", index=False)
    return buffer.getvalue()


def _wide(columns: int) -> bytes:
    rng = np.random.default_rng(1)
    return _text(pd.DataFrame(rng.normal(size=(ROWS, columns))).add_prefix("x"))


def _json_lines() -> bytes:
    return people().to_json(orient="records", lines=True, date_format="iso").encode()


def _years() -> bytes:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(50, 9, (ROWS, 3)).round(3), columns=[2019, 2020, 2021])
    return _text(frame.assign(town=people()["town"]))


def _zips(rows: int = 600) -> bytes:
    rng = np.random.default_rng(3)
    codes = [f"{code:05d}" for code in rng.integers(400, 900, rows)]
    post = [f"N{a} {b}AB" for a, b in rng.integers(1, 15, (rows, 2))]
    return _text(people(rows).assign(zip=codes, post=post))


def _own(**changes: object) -> pd.DataFrame:
    return people().assign(**changes)


def _with_stray() -> bytes:
    frame = people().astype({"height": object})
    frame.loc[[3, 9], "height"] = "-"
    return _text(frame)


P = people()
F = _first(P)
NUMBERS = {"a": "real", "b": "real"}


def corpus() -> list[Awkward]:
    """More than thirty files."""
    plain, year_kinds = F, {"2019": "real", "2020": "real", "2021": "real", "town": "category"}
    months = pd.Timestamp(2020, 1, 1)
    return [
        Awkward("comma.csv", lambda: _text(P), KINDS, F),
        Awkward("semicolon.csv", lambda: _text(P, sep=";"), KINDS, F),
        Awkward("tab.tsv", lambda: _text(P, sep="\t"), KINDS, F),
        Awkward("bar.txt", lambda: _text(P, sep="|"), KINDS, F),
        Awkward("decimal_comma.csv", lambda: _text(P, sep=";", decimal=","), KINDS, F),
        Awkward("spreadsheet.csv", lambda: b"sep=;\r\n" + _text(P, sep=";"), KINDS, F),
        Awkward("bom.csv", lambda: _text(P, "utf-8-sig"), KINDS, F),
        Awkward("utf16.csv", lambda: _text(P, "utf-16"), KINDS, F),
        Awkward(
            "latin.csv",
            lambda: _text(_own(town="Köln"), "cp1252"),
            KINDS,
            {"town": "Köln"},
            "not UTF-8",
        ),
        Awkward("zipped.csv.gz", lambda: gzip.compress(_text(P)), KINDS, F),
        Awkward("lines.jsonl", _json_lines, KINDS, F),
        Awkward("list.json", lambda: P.to_json(orient="records", date_format="iso").encode(),
                KINDS, F),
        Awkward("pandas_index.csv", lambda: _text(P, index=True), KINDS, F),
        Awkward(
            "r_index.csv",
            lambda: _text(P, index=True).replace(b",age", b"age", 1),
            KINDS,
            F,
        ),
        Awkward(
            "equal_names.csv",
            lambda: _text(P.rename(columns={"height": "age"})),
            {"age": "integer", "town": "category", "age_2": "real", "joined": "date"},
            {"age": F["age"], "age_2": F["height"]},
        ),
        Awkward("years.csv", _years, year_kinds, {}),
        Awkward(
            "numbered_columns.csv",
            lambda: _text(pd.DataFrame(np.linspace(0, 5, 20).reshape(10, 2))),
            {"0": "real", "1": "real"},
            {"0": 0.0},
        ),
        Awkward(
            "only_whole_numbers.csv",
            lambda: b"1,2\n" + b"".join(b"%d,%d\n" % (n % 7 + 30, n % 5 + 1) for n in range(60)),
            {"1": "integer", "2": "ordered"},
            {},
            "may be a header or a record",
        ),
        Awkward(
            "no_header.csv",
            lambda: _text(P, header=False),
            {"column_0": "integer", "column_1": "category", "column_2": "real", "column_3": "date"},
            {"column_0": F["age"]},
        ),
        Awkward(
            "words_without_header.csv",
            lambda: b"red,yes\n" + b"blue,no\nred,yes\n" * 20,
            {"red": "category", "yes": "category"},
            {},
            "may be a header or a record",
        ),
        Awkward("day_first.csv", lambda: _dates("%d/%m/%Y"), KINDS, F),
        Awkward("points.csv", lambda: _dates("%d.%m.%Y"), KINDS, F),
        Awkward("month_first.csv", lambda: _dates("%m/%d/%Y"), KINDS, F),
        Awkward("slashes.csv", lambda: _dates("%Y/%m/%d"), KINDS, F),
        Awkward("month_names.csv", lambda: _dates("%d %b %Y"), KINDS, F),
        Awkward(
            "either_order.csv",
            lambda: _dates("%d/%m/%Y", range(ROWS)),
            KINDS,
            {"joined": months},
            "day first or the month first",
        ),
        Awkward("short_years.csv", lambda: _dates("%d.%m.%y"), KINDS, F, "century"),
        Awkward(
            "times.csv",
            lambda: _dates("%d.%m.%Y 08:30"),
            {**KINDS, "joined": "datetime"},
            {"age": F["age"]},
        ),
        Awkward("thousands.csv", _european, KINDS, {"height": 1234.5}),
        Awkward("swiss.csv", lambda: _european(".", "'"), KINDS, {"height": 1234.5}),
        Awkward(
            "either_mark.csv",
            lambda: _text(_own(height=[f"{n}.250" for n in range(ROWS)]), sep=";"),
            KINDS,
            {"height": 0.25},
            "may be 0.250 or 0250",
        ),
        Awkward("euro.csv", lambda: _amounts("{:.2f} €", ";"), KINDS, {"height": 0.25}),
        Awkward("dollar.csv", lambda: _amounts("${:.2f}"), KINDS, {"height": 0.25}),
        Awkward("percent.csv", lambda: _amounts("{:.2f}%"), KINDS, {"height": 0.25}),
        Awkward(
            "codes.csv",
            _zips,
            {**KINDS, "zip": "integer", "post": "category"},
            {},
        ),
        Awkward("quoted.csv", lambda: _text(P, quoting=1), KINDS, F),
        Awkward("spaces.csv", lambda: _text(P).replace(b",", b", "), KINDS, F),
        Awkward("trailing.csv", lambda: _text(P, sep=";").replace(b"\n", b";\n"), KINDS, F),
        Awkward(
            "title_above.csv",
            lambda: b"Patients of the clinic\nprinted in May\n" + _text(P),
            KINDS,
            F,
            "where the first row has 1",
        ),
        Awkward("stray_word.csv", _with_stray, KINDS, {"age": F["age"]}, "but also '-'"),
        Awkward("windows_lines.csv", lambda: _text(P).replace(b"\n", b"\r\n"), KINDS, F),
        Awkward("blank_lines.csv", lambda: _text(P).replace(b"\n", b"\n\n"), KINDS, F),
        Awkward("wide.csv", lambda: _wide(500), {f"x{n}": "real" for n in range(500)}, {}),
        Awkward("long.csv", lambda: _text(people(20_000)), KINDS, _first(people(20_000))),
        Awkward("one_row.csv", lambda: _text(P.head(1)), {"age": "integer", "town": "category",
                "height": "real", "joined": "date"}, plain),
        Awkward("excel.xlsx", _excel, KINDS, F),
        Awkward("sheets.xlsx", lambda: _excel(2), KINDS, F, "2 sheets"),
        Awkward("binary.parquet", lambda: _parquet(P), KINDS, F),
    ]  # fmt: skip


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def hopeless() -> dict[str, bytes]:
    """Files that are no tables: refused in one line, whatever is done."""
    return {
        "empty.csv": b"",
        "zeros.csv": b"\0" * 100,
        "damaged.csv.gz": b"\x1f\x8b" + b"x" * 20,
        "damaged.parquet": b"PAR1nonsense",
        "damaged.xlsx": b"PKnonsense",
        "object.json": json.dumps({"a": 1}).encode() + b"\n[1]",
        "old.xls": b"anything",
        "letter.docx": b"anything",
        "ragged.csv": b"a,b\n1,2\n3\n4,5\n",
    }


def write(folder: Path, name: str, content: bytes) -> Path:
    """Put a file into a folder."""
    path = folder / name
    path.write_bytes(content)
    return path
