"""Programs and audit files on the pages are run, or say why not."""

import os
import re
import runpy
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit, AuditFile
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WRITTEN_FROM_CODE = "library-of-attacks.md"  # its blocks are signatures
OWN_SYNTHESISER = """
class MySynthesiser:
    def __init__(self, epochs=1):
        self.epochs = epochs

    def fit(self, frame):
        self.frame = frame

    def sample(self, n):
        return self.frame.sample(n, replace=True)
"""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    is_run: bool

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fence = re.compile(r"(<!-- not run: [^>]+ -->\s*)?^```(\w+)\n(.*?)^```$", re.S | re.M)
    return [
        Block(page.name, text[: m.start(2)].count("\n") + 1, m[2], m[3], m[1] is None)
        for m in fence.finditer(text)
    ]


BLOCKS = [block for page in PAGES if page.name != WRITTEN_FROM_CODE for block in blocks_of(page)]
PROGRAMS = [block for block in BLOCKS if block.language == "python" and block.is_run]
AUDIT_FILES = [
    block
    for block in BLOCKS
    if block.language == "yaml" and {"data", "attacks"} <= set(yaml.safe_load(block.text))
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages speak of."""
    place = tmp_path_factory.mktemp("pages")
    people = load_sample("clinic", 2_400)
    frame = people.data.copy()
    frame.insert(0, "id", [f"person {number}" for number in range(len(frame))])
    frame.to_csv(place / "people.csv", index=False)
    frame.to_parquet(place / "people.parquet")
    (place / "data").mkdir()
    people.write(place / "data" / "people")
    census = load_sample("census", 1_200).data.drop_duplicates()
    for name, rows in (("census", slice(0, 600)), ("train", slice(0, 600))):
        census.iloc[rows].to_csv(place / f"{name}.csv", index=False)
    for name, rows in (("private", slice(0, 300)), ("holdout", slice(300, 600))):
        census.iloc[rows].to_csv(place / f"{name}.csv", index=False)
    census.iloc[:300].sample(200, replace=True, random_state=0).to_csv(
        place / "released.csv", index=False
    )
    (place / "my_package.py").write_text(OWN_SYNTHESISER, encoding="utf-8")
    shutil.copy(ROOT / "examples" / "external_generator.py", place / "my_generator.py")
    (place / "my_generator.py").chmod(0o755)
    for number, name in enumerate(("census", "v1", "v2")):
        _small_audit(number).run(place / "runs" / name, n_jobs=1)
    return place


def _small_audit(seed: int) -> Audit:
    data = load_sample("census", 300)
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=40, seed=seed),
        data.get_records([0]),
        BlackBoxKnowledge(Raw(), 30),
        seed=seed,
    )
    return Audit(threat_model, [ClosestDistanceMIA()], 20, 20)


@pytest.mark.parametrize("block", PROGRAMS, ids=lambda block: block.place)
def test_programs_on_the_pages_run(
    block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.match(r"(import|from) ", block.text), (
        f"{block.place}: a program begins with its imports; mark a fragment with "
        f"<!-- not run: reason -->"
    )
    if "import torch" in block.text:
        pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    program = folder / "snippet.py"
    # The first line of the program is where the page has it, so that errors name that line.
    program.write_text("\n" * block.line + block.text, encoding="utf-8")
    runpy.run_path(os.fspath(program), run_name="__main__")


@pytest.mark.parametrize("block", AUDIT_FILES, ids=lambda block: block.place)
def test_audit_files_on_the_pages_are_valid(block: Block) -> None:
    AuditFile.model_validate(yaml.safe_load(block.text))


def test_the_picture_is_what_its_program_draws() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "make_flow.py"))["picture"]()
    assert drawn == (ROOT / "docs" / "audit-flow.svg").read_text(encoding="utf-8"), (
        "run: python docs/make_flow.py"
    )


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" in target:
                continue
            name, _, heading = target.partition("#")
            place = (page.parent / name) if name else page
            assert place.exists(), f"{page.name}: {target}"
            if heading and place.suffix == ".md":
                titles = re.findall(r"^#+ (.+)$", place.read_text(encoding="utf-8"), re.M)
                known = {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}
                assert heading in known, f"{page.name}: {target}"


def test_programs_in_place_of_notebooks_are_short() -> None:
    flows = [
        block
        for block in PROGRAMS
        if block.page == "coming-from-elsewhere.md" and "threat_model = Model" in block.text
    ]
    assert len(flows) == 7
    for block in flows:
        lines = [line for line in block.text.splitlines() if line.strip()]
        assert len(lines) <= 15, block.place
