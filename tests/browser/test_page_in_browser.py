"""The pages in a real browser: silent, alone, sortable, filterable, readable in every dress."""

import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from tapas.cli._view import serve
from tapas.report import AuditPage, ComparisonPage
from tapas.results import (
    AttackCrash,
    AuditedSubject,
    AuditRecord,
    Claim,
    Gate,
    MIAttackSummary,
    TrialFailure,
    append_verdict,
    note_progress,
    performance_table,
)

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)><script>document.title='owned'</script>\"'\n=1+1 $x$"


def membership(strength, attack, target, seed):
    labels = np.tile([1, 0], 100)
    scores = strength * labels + np.random.default_rng(seed).normal(size=200)
    return MIAttackSummary(labels, scores > strength / 2, scores, "G", attack, "D", target)


def audit(strength=1.0, name="Generator", title="A <b>title</b>"):
    attacks, targets = ("Closest", HOSTILE), ("3", "20", HOSTILE)
    summaries = tuple(
        membership(strength + 0.3 * t, attack, target, 10 * a + t)
        for a, attack in enumerate(attacks)
        for t, target in enumerate(targets)
    )
    copy = tuple(membership(6.0, attack, "3", 99) for attack in attacks)
    return AuditRecord(
        title,
        {"title": title, HOSTILE: HOSTILE},
        "0" * 32,
        1,
        (
            AuditedSubject(
                name,
                "audited",
                summaries,
                (TrialFailure("test", 1, HOSTILE),),
                (AttackCrash(HOSTILE, "3", HOSTILE),),
                {"test": 200},
            ),
            AuditedSubject("Copy " + HOSTILE, "control", copy),
        ),
        claim=Claim(0.1),
        gates=(Gate("auc", 0.6),),
        provenance={"finished": "2026-01-02T03:04:05+00:00"},
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return AuditPage(audit()).publish(tmp_path_factory.mktemp("report"))[0]


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    pages = ComparisonPage([audit(2.0), audit(0.0, "Other")], ["old", HOSTILE])
    return pages.publish(tmp_path_factory.mktemp("comparison"))[0]


@contextmanager
def opened(browser, path, **options):
    """Open a page; fail if it says anything, asks for anything or runs what it should not."""
    context = browser.new_context(**options)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    yield page
    assert said == []
    assert asked == [path.as_uri()]
    context.close()


def column(page, number, table="#all-results"):
    return page.locator(f"{table} tbody tr:not([hidden]) td:nth-child({number})").all_inner_texts()


def first_numbers(texts):
    return [float(text.split()[0].rstrip("%").replace("−", "-")) for text in texts]


def test_the_report_is_silent_alone_and_complete(browser, report):
    with opened(browser, report) as page:
        assert page.title() == "A <b>title</b>"
        assert page.locator("svg.chart").count() >= 3
        assert page.locator("svg.chart title").count() > 3
        assert page.locator("table").count() >= 5
        assert page.locator("#all-results tbody tr").count() == 8
        assert page.locator("img, iframe, #main script").count() == 0
        box = page.locator("svg.chart").first.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 300


def test_headers_sort_both_ways_by_mouse_and_keyboard(browser, report):
    with opened(browser, report) as page:
        header = page.locator("#all-results thead th", has_text="AUC")
        button = header.get_by_role("button")
        button.click()
        values = first_numbers(column(page, 7))
        assert values == sorted(values, reverse=True)
        assert header.get_attribute("aria-sort") == "descending"
        button.focus()
        page.keyboard.press("Enter")
        values = first_numbers(column(page, 7))
        assert values == sorted(values)
        assert header.get_attribute("aria-sort") == "ascending"
        page.locator("#all-results thead th", has_text="Target").get_by_role("button").click()
        assert column(page, 3)[-2:] == ["20", "20"]
        assert header.get_attribute("aria-sort") == "none"


def test_results_can_be_filtered_by_target(browser, report):
    with opened(browser, report) as page:
        page.locator("select[data-key='2']").select_option(label="20")
        assert column(page, 3) == ["20", "20"]
        assert page.locator("form.filters output").inner_text() == "Showing 2 of 8 results"
        page.locator("select[data-key='2']").select_option(label="all")
        assert len(column(page, 3)) == 8


def test_everything_can_be_read_without_javascript(browser, report):
    with opened(browser, report, java_script_enabled=False) as page:
        assert page.locator("form.filters").is_hidden()
        assert page.locator("#all-results tbody tr").count() == 8
        assert page.locator("th button").count() == 0
        assert page.get_by_text("Claim contradicted").count() + page.get_by_text("Fail").count()


def test_the_first_tab_stop_skips_to_the_verdict(browser, report):
    with opened(browser, report) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
        assert page.locator(".skip").bounding_box()["x"] >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("width", [400, 1200])
def test_pages_never_scroll_sideways(browser, report, comparison, tmp_path, width):
    endless = AuditPage(audit(1.0, "W" * 300, "W" * 300)).publish(tmp_path)[0]
    for path in (report, comparison, endless):
        with opened(browser, path, viewport={"width": width, "height": 800}) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_in_both_schemes(browser, report, scheme):
    contrast = """() => {
      const light = c => { const p = c.match(/[\\d.]+/g).map(Number).slice(0, 3)
          .map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * p[0] + .7152 * p[1] + .0722 * p[2]; };
      const ground = e => { for (; e; e = e.parentElement) {
          const c = getComputedStyle(e).backgroundColor;
          if (!/, 0\\)$/.test(c) && c !== 'transparent') return c; } return 'rgb(255,255,255)'; };
      const pairs = [...document.querySelectorAll('p, td .v, .i, caption, .state, svg text')].map(
        e => [getComputedStyle(e)[e.tagName === 'text' ? 'fill' : 'color'], ground(e)]);
      return Math.min(...pairs.map(([a, b]) => { const [x, y] = [light(a), light(b)].sort();
        return (Math.max(x, y) + .05) / (Math.min(x, y) + .05); })); }"""
    with opened(browser, report, color_scheme=scheme) as page:
        assert page.evaluate(contrast) >= 4.5


def test_the_report_prints_and_repeats_table_headers(browser, report):
    with opened(browser, report) as page:
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        assert page.locator(".filters").is_hidden()
        button = page.locator("#all-results th button").first
        # A button box inside a header would keep the header from being repeated on each page.
        assert button.evaluate("e => getComputedStyle(e).display") == "contents"
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_comparison_is_silent_and_sorts(browser, comparison):
    with opened(browser, comparison) as page:
        assert page.locator("svg.chart").count() == 1
        header = page.locator("#all-changes thead th", has_text="Difference")
        header.get_by_role("button").click()
        values = first_numbers(column(page, 6, "#all-changes"))
        assert len(values) == 8
        assert values == sorted(values, reverse=True)


def test_no_number_is_off_screen_on_a_phone(browser, report, comparison):
    outside = """() => [...document.querySelectorAll('td, tbody th, dd, p, li, pre, caption, svg')]
      .filter(e => e.getClientRects().length && !e.closest('.skip'))
      .map(e => [e.getBoundingClientRect(), e.textContent])
      .filter(([box]) => box.right > innerWidth + 1 || box.left < -1).map(([, text]) => text)"""
    for path, name in ((report, "AUC"), (comparison, "Difference")):
        with opened(browser, path, viewport={"width": 375, "height": 800}) as page:
            assert page.evaluate(outside) == []
            label = "e => getComputedStyle(e, '::before').content"
            assert name in " ".join(page.locator("td.n").evaluate_all(f"all => all.map({label})"))


def test_the_list_of_runs_follows_what_is_going_on(browser, tmp_path):
    for number in range(50):
        (tmp_path / f"run {number} {HOSTILE.replace('/', '_')}").mkdir()
        (tmp_path / f"run {number} {HOSTILE.replace('/', '_')}" / "question.json").write_text("{}")
    going = tmp_path / "going"
    going.mkdir()
    (going / "question.json").write_text("{}")
    note_progress(going, 30, 120, time.time() - 10)
    server = serve(tmp_path, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    page = browser.new_page(viewport={"width": 375, "height": 800})
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    assert page.locator("tbody tr").count() == 51
    assert page.get_by_text("30 of 120 trials").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.title() == "Audits"
    note_progress(going, 90, 120, time.time() - 10)
    page.get_by_text("90 of 120 trials").wait_for(timeout=15_000)
    page.get_by_label("look again").uncheck()
    assert page.url.endswith("#still")
    assert said == []
    page.close()
    server.shutdown()
    thread.join()
    server.server_close()


def many_targets(number):
    """A run about so many targets of hostile names."""
    rng = np.random.default_rng(0)
    summaries = []
    for target in range(number):
        members = np.arange(20) % 2 == 0
        scores = members + rng.normal(size=20)
        name = f"{target} {HOSTILE}"
        summaries.append(MIAttackSummary(members, scores > 1, scores, "G", "Attack", "D", name))
    about = {"target": [f"{t} {HOSTILE}" for t in range(number)], "agrees_on": ["age"] * number}
    subject = AuditedSubject("Generator", "audited", tuple(summaries), targets=about)
    return AuditRecord("Audit", {}, "f" * 32, 1, (subject,), gates=(Gate("auc", 0.75),))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Fifty runs, one of them with a thousand targets and one that is going on."""
    root = tmp_path_factory.mktemp("runs")
    for number in range(48):
        (root / f"run {number}").mkdir()
        (root / f"run {number}" / "question.json").write_text("{}")
    for name, record in (("large", many_targets(1000)), ("small", many_targets(3))):
        (root / name).mkdir()
        (root / name / "question.json").write_text("{}")
        record.save(root / name)
        append_verdict(root / name, record)
        append_verdict(root / name, record)
        AuditPage(record).publish(root / name)
    going = root / "going"
    going.mkdir()
    (going / "question.json").write_text("{}")
    note_progress(going, 30, 120, time.time() - 10, ["After 8 test trials: AUC of 0.61"])
    server = serve(root, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_view_leads_from_fifty_runs_to_a_thousand_targets_to_trials(browser, served):
    page = browser.new_page(viewport={"width": 375, "height": 800})
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{served}#still")
    assert page.locator("#runs tbody tr").count() == 51
    assert page.get_by_text("AUC of 0.61").count() == 1
    assert page.locator("svg.trend").count() == 2
    page.get_by_role("link", name="large", exact=True).click()
    page.wait_for_load_state("load")
    assert page.locator("tbody tr").count() == 1000
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.locator("tbody a").first.click()
    assert page.get_by_text("What is known").count() == 1
    assert page.get_by_role("row").filter(has_text="right").count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_role("link", name="large", exact=True).click()
    page.wait_for_load_state("load")
    assert page.locator("tbody tr").count() == 1000
    assert said == []
    page.close()


def axe_source():
    """axe-core, from the npm cache or registry; without it the test is skipped, with the reason."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, which fetches axe-core")
    place = Path(tempfile.gettempdir()) / "tapas-axe"
    script = place / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        place.mkdir(exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--no-save", "--prefix", str(place), "axe-core@4"], capture_output=True
        )
        if done.returncode or not script.is_file():
            pytest.skip("axe-core cannot be fetched")
    return script.read_text(encoding="utf-8")


def kinds_of_pages():
    """Pages of a model and of a generator, with people, records and accuracy."""
    rng = np.random.default_rng(1)
    members = np.arange(200) % 2 == 0
    scores = 3 * members + rng.normal(size=200)
    summary = MIAttackSummary(
        members, scores > 1, scores, "M", "LiRA", "D", "all", dependence="one release"
    )
    about = {
        "source": ["members", "non_members"] * 100,
        "row": list(range(200)),
        "class": ["a", "b"] * 100,
        "confidence": [0.9] * 200,
        "confidence_without": [0.4] * 200,
    }
    table = performance_table(np.array(["a", "b"] * 100), np.array(["a"] * 200), members)
    model = AuditedSubject(
        "Model", "audited", (summary,), records=about, performance=table.to_dict("list")
    )
    question = {"model": {"access": "scores"}, "knowledge": {}}
    yield AuditRecord("A model", question, "f" * 32, 1, (model,), gates=(Gate("auc", 0.75),))
    generator = replace(many_targets(12), question={"generator": {"use": "G"}, "knowledge": {}})
    yield generator


@pytest.mark.parametrize("width", [1280, 375])
def test_axe_finds_no_serious_violation(browser, report, comparison, served, tmp_path, width):
    source = axe_source()
    pages = [report.as_uri(), comparison.as_uri(), f"{served}#still", f"{served}small/"]
    pages.append(f"{served}small/?" + urlencode({"subject": "Generator", "target": f"0 {HOSTILE}"}))
    for number, record in enumerate(kinds_of_pages()):
        folder = tmp_path / str(number)
        pages.append(AuditPage(record, ()).publish(folder)[0].as_uri())
    found = {}
    for address in pages:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(address)
        page.evaluate(source)
        result = page.evaluate("axe.run(document)")
        found[address] = [
            (one["id"], one["impact"], one["nodes"][0]["html"][:120])
            for one in result["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert len(result["passes"]) > 10
        page.close()
    assert not any(found.values()), {name: one for name, one in found.items() if one}
