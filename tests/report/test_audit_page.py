"""The page of an audit: right words, nothing foreign, nothing unescaped, for every record."""

import base64
import contextlib
import hashlib
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import tapas.attacks
from tapas.errors import ConfigError, StoreError
from tapas.models import Access
from tapas.report import AuditPage, ComparisonPage, compare_records
from tapas.report._page_attacker import READ_PARAMETERS, attacker_words
from tapas.report._page_numbers import between, bound
from tapas.report._page_tables import result_table
from tapas.report._page_tiles import tiles
from tapas.report._roc_figure import _blocks
from tapas.results import (
    AIAttackSummary,
    AttackCrash,
    AuditedSubject,
    AuditRecord,
    BinaryAIAttackSummary,
    Claim,
    Estimate,
    Findings,
    Gate,
    MIAttackSummary,
    TrialFailure,
    append_verdict,
    decide,
    holds_together,
    performance_table,
    read_history,
    rounded,
    rounded_down,
    rounded_up,
    summary_facts,
)
from tapas.stats import smallest_leak

HOSTILE = (
    "<script>alert(\"x\")</script>' onload='y' &amp;\n=cmd|'/C calc'!A0 $\\frac{1}{2}$ \x00\u202e"
)
VOID = {"meta", "wbr", "input", "br", "hr", "img", "link"}


def membership(strength, attack="Closest", target="0", trials=120, scores=None, **more):
    labels = np.tile([1, 0], trials // 2)
    # The same noise in both worlds: without strength nothing at all can be learnt.
    noise = np.repeat(np.random.default_rng(7).normal(size=trials // 2), 2)
    scores = strength * labels + noise if scores is None else scores
    return MIAttackSummary(
        labels, scores > strength / 2, scores, "G", attack, "D", target, relation="replace", **more
    )


def many_valued(strength=2.0, trials=120):
    labels = np.arange(trials) % 3
    scores = np.random.default_rng(1).normal(size=(trials, 3))
    scores[np.arange(trials), labels] += strength
    names = np.array(["a<b>", "b", "c"])
    return AIAttackSummary(
        names[labels],
        names[scores.argmax(1)],
        scores,
        "G",
        "Guess",
        "D",
        "0",
        "job",
        attribute_values=list(names),
    )


def two_valued():
    labels = np.tile(["yes", "no"], 60)
    scores = (labels == "yes") + np.random.default_rng(2).normal(size=120)
    guesses = np.where(scores > 0.5, "yes", "no")
    return BinaryAIAttackSummary(labels, guesses, scores, "G", "A", "D", "0", "ill", "yes")


def subject(*summaries, name="Generator", **more):
    return AuditedSubject(name=name, summaries=summaries, trials={"test": 120}, **more)


def record(*subjects, title="Audit", **more):
    question = more.pop("question", {"title": title, "rows": [1, 2]})
    provenance = {"tapas": "1.2.3", "finished": "2026-02-03T04:05:06+00:00", "seconds": 61.5}
    return AuditRecord(title, question, "f" * 32, 42, subjects, provenance=provenance, **more)


class Page(HTMLParser):
    """Tags, attributes and text of a page, with a check that tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.stack, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack and self.stack[-1] not in ("style", "script"):
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())


RECORDS = {
    "leak": record(subject(membership(3.0)), claim=Claim(0.5), gates=(Gate("auc", 0.6),)),
    "nothing learnt": record(subject(membership(0.0, trials=2000))),
    "controls": record(
        subject(membership(1.0)),
        subject(membership(6.0), name="Copy", role="control"),
        subject(membership(0.0), name="Independent", role="control"),
    ),
    "many values": record(subject(many_valued())),
    "two values": record(subject(two_valued())),
    "one model, many records": record(
        subject(membership(1.0, "LiRA", "", groups=np.zeros(120, int))), claim=Claim(1.0)
    ),
    "decisions only": record(
        subject(MIAttackSummary([1, 0] * 20, [1, 0] * 20, None, "G", "A", "D", "0"))
    ),
    "one class": record(subject(MIAttackSummary([1, 1], [1, 0], [0.5, math.inf]))),
    "nothing ran": record(
        subject(crashes=(AttackCrash("A", "0", "ValueError: no"),)), gates=(Gate("auc", 0.6),)
    ),
    "no subjects": record(title=""),
}


@pytest.fixture(scope="module", params=RECORDS)
def page(request):
    return AuditPage(RECORDS[request.param]).html()


def hostile_record():
    summaries = [membership(1.0, HOSTILE, HOSTILE + str(n)) for n in range(2)]
    return record(
        subject(
            *summaries,
            name=HOSTILE,
            failures=(TrialFailure("test", 3, HOSTILE),),
            crashes=(AttackCrash(HOSTILE, HOSTILE, HOSTILE),),
        ),
        subject(many_valued(), name="c" + HOSTILE, role="control"),
        title=HOSTILE,
        question={HOSTILE: HOSTILE, "nan": math.nan},
        claim=Claim(1.0, 1e-5),
        gates=(Gate("auc", 0.55), Gate("tpr_at_fpr", 0.5)),
        stopped=HOSTILE,
    )


def foreign(text):
    """What a page must not have: scripts or styles outside its own, addresses, handlers."""
    tags = Page(text).tags
    assert [tag for tag, _ in tags].count("script") == 1
    assert [tag for tag, _ in tags].count("style") == 1
    assert not {tag for tag, _ in tags} & {"img", "link", "iframe", "object", "embed", "base"}
    for _, attributes in tags:
        for name, value in attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            if name in ("href", "src", "action"):
                assert value.startswith("#")


def test_pages_are_well_formed_and_load_nothing(page):
    foreign(page)
    assert "http:" not in page
    assert "https:" not in page
    assert "url(http" not in page


def test_ids_are_unique_and_links_lead_somewhere(page):
    found = Page(page)
    assert len(found.ids) == len(set(found.ids))
    targets = {a["href"][1:] for tag, a in found.tags if tag in ("a", "use")}
    targets |= set(re.findall(r"url\(#([^)]*)\)", page))
    assert targets <= set(found.ids)


def test_the_policy_allows_the_pages_own_style_and_script_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        content = re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_every_table_has_a_caption_and_headers_with_a_scope(page):
    found = Page(page)
    tags = [tag for tag, _ in found.tags]
    assert tags.count("table") == tags.count("caption")
    assert all("scope" in attributes for tag, attributes in found.tags if tag == "th")
    assert {"main", "header", "nav", "footer"} <= set(tags)


def test_no_number_is_written_as_nan_or_inf(page):
    assert not re.search(r"\b(nan|inf|None)\b", Page(page).words.split("Provenance")[0])


def test_equal_records_give_equal_pages():
    first, second = (AuditPage(RECORDS["controls"]).html() for _ in range(2))
    assert first == second
    again = AuditRecord.from_json(RECORDS["controls"].to_json(), where="text")
    assert AuditPage(again).html() == first


def test_hostile_strings_stay_text_everywhere():
    text = AuditPage(hostile_record()).html()
    foreign(text)
    assert "<script>alert" not in text
    assert "\x00" not in text
    assert "\u202e" not in text
    found = Page(text)
    assert "<script>alert" in found.words
    assert "=cmd|'/C calc'!A0 $\\frac{1}{2}$" in found.words
    charts = [a for tag, a in found.tags if tag == "svg" and a.get("class") == "chart"]
    assert charts
    assert all(a["aria-label"] for a in charts)


def test_lone_surrogates_can_be_written(tmp_path):
    odd = record(subject(membership(1.0, "a\ud800", "t\udfff"), name="s\ud800"), title="\ud800")
    path = AuditPage(odd).publish(tmp_path)[0]
    assert "\N{REPLACEMENT CHARACTER}" in path.read_text(encoding="utf-8")


def test_the_verdict_is_that_of_the_gates():
    for name in ("leak", "nothing learnt", "nothing ran"):
        found = RECORDS[name]
        first = AuditPage(found).words[0]
        words = {"fail": "Fail", "inconclusive": "Nothing ran", "none": "No leak shown"}
        assert first.startswith(words[decide(found).state])


def test_a_contradicted_claim_is_said_before_passing_gates():
    found = record(subject(membership(4.0)), claim=Claim(0.1), gates=(Gate("auc", 1.0),))
    assert [outcome.state for outcome in decide(found).outcomes] == ["pass"]
    assert AuditPage(found).words[0].startswith("Claim contradicted")


def test_the_certified_epsilon_shares_the_error_as_gates_do():
    found = record(
        subject(*(membership(2.0, f"A{n}") for n in range(4))), gates=(Gate("epsilon", 0.1),)
    )
    findings = Findings(found)
    expected = summary_facts(found.subjects[0].summaries[0], confidence=1 - 0.05 / 4)
    assert findings.epsilon == pytest.approx(float(expected.epsilon))
    assert decide(found).outcomes[0].low == pytest.approx(findings.epsilon)
    assert any(
        f"at least {rounded_down(findings.epsilon)}" in words for words in AuditPage(found).words
    )


def test_the_page_lists_which_statements_hold_together():
    found = record(
        subject(*(membership(2.0, f"A{n}") for n in range(4))), gates=(Gate("auc", 0.9),)
    )
    page = AuditPage(found).html()
    assert "Which statements hold together" in page
    assert "all 4 audited results" in page
    assert "each is made at 98.75%" in page  # 5 % shared by four
    assert "The gate passes or fails wrongly in at most 5% of audits over all 4" in page
    alone = holds_together(Findings(record(subject(membership(2.0)))), decide(found))
    assert "each is made at 95%" in alone[0]


def test_what_holds_together_names_the_level_of_this_look_and_every_kind_of_interval():
    later = record(subject(membership(2.0).sharing(0.1)))
    first, *_ = holds_together(Findings(later), decide(later))
    assert "each is made at 99.5%" in first
    said = " ".join(holds_together(Findings(later), decide(later)))
    assert "is made at 99.75%" in said  # scores and a certificate share it
    assert "Bands around ROC curves hold together over the one audited result" in said
    judged = record(
        subject(
            membership(2.0, dependence="one release"),
            records={"class": ["a", "b"] * 60},
            performance=performance_table(
                np.arange(120) % 2, np.arange(120) % 3 % 2, np.arange(120) < 60
            ).to_dict("list"),
        )
    )
    said = " ".join(holds_together(Findings(judged), decide(judged)))
    assert "Bands" not in said
    assert "Of single records, the shares of others that score as high hold together" in said
    assert "Accuracies of a model, gaps and ratios hold together" in said


def test_a_bound_on_coins_is_not_said_to_share_its_error_between_ways():
    flipped = record(subject(membership(2.0, dependence="coins")))
    said = " ".join(holds_together(Findings(flipped), decide(flipped)))
    assert "Each bound counts right guesses" in said
    assert "comparisons of pairs" not in said


def test_bands_of_the_curves_of_many_values_share_the_error():
    """One curve for each of three values: all bands hold together, as the caption says."""
    page = AuditPage(record(subject(many_valued()))).html()
    assert "Bands of all audited results hold together with 95% confidence" in page
    assert "98.3333 % band" in page
    assert ": 95 % band" not in page


def test_a_leak_that_pairs_are_said_to_find_nine_times_in_ten_is_found_so_often():
    def played(seed, epsilon):
        """Randomized response, in 80 pairs of one background each."""
        rng, labels = np.random.default_rng(seed), np.tile([1, 0], 80)
        told = labels ^ (rng.random(160) > 1 / (1 + math.exp(-epsilon)))
        groups = np.arange(160) // 2
        one = MIAttackSummary(labels, told, told * 1.0, "G", "A", "D", "0", groups=groups)
        return Findings(record(subject(one)))

    epsilon = smallest_leak(80, confidence=0.975, method="portfolio of pairs")
    words = " ".join(AuditPage(played(0, 0.0).record).words)
    assert f"(epsilon {rounded(epsilon)}) would have been found at least nine times in ten" in words
    findings = [played(seed, epsilon) for seed in range(100)]
    assert sum(one.shown_by_scores or one.shown_by_certificate for one in findings) >= 85


def test_words_follow_the_intervals_that_hold_together_and_say_what_may_be_missed():
    """One of forty attacks that see nothing looks good alone, and is not called a leak."""
    rng = np.random.default_rng(0)
    summaries = []
    for number in range(40):
        labels, scores = np.tile([1, 0], 60), rng.normal(size=120)
        summaries.append(MIAttackSummary(labels, scores > 0, scores, "G", f"A{number}", "D", "0"))
    findings = Findings(record(subject(*summaries)))
    assert any(result.own.auc.low > 0.5 or result.own.auc.high < 0.5 for result in findings.all)
    words = " ".join(AuditPage(record(subject(*summaries))).words)
    assert "No attack did reliably better than guessing" in words
    assert not any(word in words for word in ("clear", "strong:", "almost complete"))
    epsilon = smallest_leak(60, confidence=1 - 0.05 / 80)  # scores or a certificate
    assert f"(epsilon {rounded(epsilon)}) would have been found at least nine times in ten" in words
    assert "from randomized response (epsilon" in words
    assert "may one that shows in few trials only" in words
    strong = AuditPage(record(subject(membership(5.0), *summaries))).words
    assert any("The leak is strong: this is not chance" in sentence for sentence in strong)


def test_a_claim_of_gaussian_privacy_names_what_its_bound_assumes():
    rng = np.random.default_rng(1)
    labels = np.tile([1, 0], 500)
    scores = rng.normal(size=1000) + labels
    one = MIAttackSummary(labels, scores > 0.5, scores, "G", "A", "D", "0", relation="replace")
    plain, gaussian = (
        record(subject(one), claim=Claim(2.0, 1e-5, family)) for family in (None, "gaussian")
    )
    assert Findings(plain).claim.state == "open"
    assert Findings(gaussian).claim.state == "contradicted"
    assert Findings(gaussian).epsilon > 2 > Findings(plain).epsilon
    words = AuditPage(gaussian).html()
    assert words.count("if the mechanism is Gaussian") >= 3
    (gate,) = decide(gaussian, [Gate("epsilon", 2.0)]).outcomes
    assert "delta 1e-05, if the mechanism is Gaussian" in gate.words
    assert Findings(gaussian).certificate.conditions == "delta 1e-05, if the mechanism is Gaussian"
    assert Findings(plain).certificate.conditions == "delta 1e-05"
    assert "if the mechanism is Gaussian" not in AuditPage(plain).html()
    assert AuditRecord.from_json(gaussian.to_json()).claim == gaussian.claim
    with pytest.raises(ConfigError, match="delta above 0"):
        Claim(1.0, family="gaussian")


@pytest.mark.parametrize("tells", [0.0, 1.0])
def test_controls_are_described_by_what_they_are(tells):
    controls = [
        AuditedSubject("control: resampled records", "control", (membership(4.0),)),
        AuditedSubject("control: independent columns", "control", (membership(tells),)),
    ]
    page = AuditPage(record(subject(membership(0.5)), *controls)).html()
    assert "cannot leak" not in page
    assert ("even that is no safe release" in page) == (tells > 0)
    assert ("against “control: independent columns”" in page) == (tells > 0)
    assert "cannot leak" not in AuditPage(record(subject(membership(0.5)))).html()


@pytest.mark.parametrize(
    ("audited", "tells", "name", "ends"),
    [
        (0.5, 1.5, "control: independent columns", "columns”, of which more is found for certain."),
        (1.5, 1.5, "control: independent columns", "“control: independent columns”."),
        (0.5, 0.0, "control: independent columns", None),
        (0.5, 1.5, "one that may leak for all that is known", None),
    ],
)
def test_the_verdict_names_a_control_that_leaks_and_is_not_meant_to(audited, tells, name, ends):
    """It stood in the section on controls alone: no terminal and no JSON had it."""
    control = AuditedSubject(name, "control", (membership(tells),))
    found = record(subject(membership(audited)), control)
    said = [one for one in AuditPage(found).words if one.startswith("A control that is not meant")]
    assert [one.endswith(str(ends)) for one in said] == [True] * (ends is not None)


def test_a_control_is_seldom_said_to_leak_more_than_what_leaks_as_much():
    labels, said = np.tile([1, 0], 60), 0
    for seed in range(40):
        scores = np.random.default_rng(seed).normal(size=(2, 120)) + labels
        mine, other = (MIAttackSummary(labels, one > 0.5, one) for one in scores)
        control = AuditedSubject("control", "control", (mine,))
        said += Findings(record(subject(other), control)).is_above_audited("control")
    assert said <= 2


def test_what_is_said_of_controls_holds_for_all_of_them_together():
    """Of controls that tell nothing one stands out now and then, as chance has it."""
    labels = np.tile([1, 0], 40)
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        controls = [
            AuditedSubject(f"control {n}", "control", (MIAttackSummary(labels, s > 0, s),))
            for n, s in enumerate(rng.normal(size=(10, 80)))
        ]
        findings = Findings(record(subject(membership(3.0)), *controls))
        said += max(findings.control_leaks.values()) > 0
    assert said <= 6


def test_controls_that_are_meant_to_leak_are_nothing_to_read_against():
    """Not even where they happen to be the lowest."""
    controls = [
        AuditedSubject("control: resampled records", "control", (membership(1.0),)),
        AuditedSubject("control: independent columns", "control", (membership(2.0),)),
    ]
    found = record(subject(membership(3.0)), *controls)
    assert "against “control: independent columns”" in AuditPage(found).html()
    alone = record(subject(membership(3.0)), controls[0])
    words = AuditPage(alone).html()
    assert "even that is no safe release" not in words
    assert "Read the audited results against" not in words


def test_whose_epsilon_is_certified_is_said():
    """It need not be that of the strongest by AUC, who is named before."""
    labels = np.tile([1, 0], 400)
    noise = np.repeat(np.random.default_rng(0).normal(size=400), 2)
    by_area = membership(1.3, target="all", trials=800)
    few = np.where(labels == 1, noise + 9 * (noise > 0.3), noise)  # surest of some, always right
    by_bound = membership(0.0, target="some", trials=800, scores=few)
    found = Findings(record(subject(by_area, by_bound)))
    assert found.best.target == "all"
    assert found.certified.target == "some"
    (said,) = [words for words in AuditPage(found.record).words if "epsilon is at least" in words]
    assert "shown by Closest against target some" in said
    assert "about some; lower bound" in AuditPage(found.record).html()


@pytest.mark.parametrize("claimed", [0.001, 0.5])
def test_an_epsilon_that_would_read_as_0_is_no_number_in_words(claimed):
    scores = np.zeros(400)
    scores[[*range(0, 20, 2), 1, 3, 5]] = 1.0
    found = record(subject(membership(0.0, trials=400, scores=scores)), claim=Claim(claimed))
    findings = Findings(found)
    assert 0 < findings.epsilon < 0.01
    page = AuditPage(found)
    (said,) = [words for words in page.words if words.startswith("With 95% confidence over all")]
    assert "epsilon is above 0 (replace neighbours), shown by Closest against target 0" in said
    assert "by a bound so near 0 that it says no more; a perfect attack" in said
    claim = "is contradicted: more was shown." if claimed < 0.01 else "only just above 0 was shown"
    assert any(claim in words for words in page.words)
    assert "0.00 was shown" not in page.html()
    assert "≥ 0.00" not in page.html()


def test_the_gap_is_rounded_alike_in_words_and_in_the_table():
    table = performance(0.84, 0.52)
    for end, value in (("gap", 0.16), ("gap_low", 0.12075), ("gap_high", 0.2058)):
        table[end] = [value] * 3
    for end, value in (("low", 0.9), ("high", 1.0)):
        table[f"train_accuracy_{end}"] = [value] * 3
    table |= {"train_records": [600] * 3, "test_records": [600] * 3}
    words = Page(AuditPage(record(subject(membership(3.0), performance=table))).html()).words
    assert "The gap, at least 12.0%, alone" in words
    assert "12.0 to 20.6%" in words


@pytest.mark.parametrize(
    ("strength", "said"),
    [(3.0, "no limits set; leak found"), (0.0, "no limits set; no leak shown")],
)
def test_the_history_says_what_was_found_where_no_limit_was_set(strength, said, tmp_path):
    found = record(subject(membership(strength)))
    append_verdict(tmp_path, found)
    history = read_history(tmp_path)
    words = Page(AuditPage(found, history).html()).words
    assert said in words
    earlier = [{name: value for name, value in history[0].items() if name != "leaks"}]
    assert "no limits set" in Page(AuditPage(found, earlier).html()).words


def test_few_trials_cannot_contradict_a_large_claim():
    found = record(subject(membership(3.0, trials=20)), claim=Claim(9.0))
    assert "could not have been contradicted" in " ".join(AuditPage(found).words)


def test_one_model_with_many_records_has_no_certificate_and_says_why():
    page = AuditPage(RECORDS["one model, many records"])
    words = " ".join(page.words)
    assert "records of one release or model and not independent" in words
    assert "was not tested" in words
    assert "band" not in "".join(re.findall(r"<title>[^<]*", page.html()))


def test_controls_are_never_called_the_strongest_audited_result():
    findings = Findings(RECORDS["controls"])
    assert findings.best.own.subject == "Generator"
    assert {result.own.subject for result in findings.controls} == {"Copy", "Independent"}


def test_targets_are_ordered_by_what_is_certain():
    found = record(subject(membership(0.5, target="weak"), membership(3.0, target="strong")))
    assert [result.target for result in Findings(found).exposed] == ["strong", "weak"]


def test_failures_crashes_and_early_ends_are_shown():
    text = Page(AuditPage(hostile_record()).html()).words
    assert "Attacks that crashed" in text
    assert "Trials in which" in text
    assert "Trials ended before their number was reached" in text


def test_a_large_audit_has_few_figures_and_a_bounded_size():
    subjects = [
        subject(
            *(membership(0.1 * s, f"A{a}", f"{t}", 100) for a in range(5) for t in range(5)),
            name=f"S{s}",
        )
        for s in range(10)
    ]
    text = AuditPage(record(*subjects)).html()
    assert len(text) < 3_000_000
    assert text.count('class="chart"') <= 9
    assert text.count("data-k=") == 250


def test_publishing_writes_files_whole_or_not_at_all(tmp_path):
    files = AuditPage(RECORDS["leak"]).publish(tmp_path / "new")
    assert [path.name for path in files] == ["report.html", "results.csv"]
    assert sorted((tmp_path / "new").iterdir()) == files
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        AuditPage(RECORDS["leak"]).publish(tmp_path / "file")


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (rounded_down, 1.699, "1.69"),
        (rounded_down, 0.3, "0.30"),
        (rounded_down, -0.001, "−0.01"),
        (rounded_up, 0.701, "0.71"),
        (rounded_up, 0.7, "0.70"),
        (rounded, math.nan, "not defined"),
        (rounded, math.inf, "∞"),
        (rounded, -0.001, "0.00"),
        (bound, 0.0, "≥ 0"),
        (bound, 2.199, "≥ 2.19"),
        (bound, 0.01, "≥ 0.01"),
        (bound, 0.0044, "> 0"),
    ],
)
def test_numbers_are_never_rounded_towards_more_than_was_shown(function, value, text):
    assert function(value) == text


def test_estimates_next_to_one_are_not_shown_as_one():
    assert between(Estimate(0.9974, 0.98, 0.9996)) == ("0.997", "0.98 to 1.00")


def test_thinned_bands_contain_the_whole_ones():
    starts, stops = _blocks(1000)
    limits = np.sort(np.random.default_rng(0).random(1000))
    assert len(starts) == 300
    owners = np.repeat(np.arange(300), stops - starts + 1)
    assert (limits[starts][owners] <= limits).all()
    assert (limits[stops][owners] >= limits).all()


def test_what_is_the_same_in_every_row_is_no_column():
    alone = AuditPage(record(subject(membership(2.0), membership(1.0, "Other"))))
    table = result_table(alone._findings)
    assert [name for name, _ in table.columns][:2] == ["Attack", "Trials"]
    assert table.about == ("Generator", "0")
    assert "Certified ε" in dict(table.columns)
    one_release = membership(2.0, dependence="one release")
    table = result_table(AuditPage(record(subject(one_release)))._findings)
    assert "Certified ε" not in dict(table.columns)  # none can be had
    both = record(subject(membership(2.0), name="a"), subject(membership(2.0), name="b"))
    names = [name for name, _ in result_table(AuditPage(both)._findings).columns]
    assert names[:3] == ["Subject", "Attack", "Trials"]


def test_the_strongest_is_said_to_be_so_by_a_measure():
    page = AuditPage(record(subject(membership(2.0), membership(1.0, "Other"))))
    assert any(line.startswith("The strongest by AUC, Closest") for line in page.words)
    assert "the result whose AUC is furthest from guessing for certain" in page.html()
    several = AuditPage(record(subject(many_valued())))
    assert any(line.startswith("The strongest by accuracy, ") for line in several.words)


def test_none_is_called_strongest_where_no_leak_is_shown():
    noise = np.random.default_rng(3).normal(size=200)
    below, near = (
        membership(0.0, name, trials=200, scores=scores)
        for name, scores in (("Below", noise - 0.2 * np.tile([1, 0], 100)), ("Near", noise))
    )
    page = AuditPage(record(subject(near, below)))
    assert page._findings.best.shared.auc.value < 0.5
    (said,) = (line for line in page.words if "nearest to showing a leak" in line)
    assert said.startswith("The one whose AUC comes nearest to showing a leak, Below")
    assert "guessing: 0.50; below it tells as much as above" in said
    assert "Accuracy of Below" in page.html()


def test_a_failed_limit_is_told_first():
    page = AuditPage(RECORDS["leak"])
    assert re.match(
        r"Fail: .*the gate failed: AUC between 0\.\d+ and .*, above 0\.6\.", page.words[0]
    )


def test_what_an_interval_of_two_rates_is_stands_where_it_comes_first():
    html = AuditPage(record(subject(membership(1.0)))).html()
    first = html.index("Found at 1% false alarms")
    said = "the interval allows for chance in both rates at once"
    assert first < html.index(said) < html.index("How to read the numbers")


def test_controls_have_a_section_only_where_there_are_some():
    assert 'id="controls"' in AuditPage(RECORDS["controls"]).html()
    without = AuditPage(RECORDS["leak"]).html()
    assert "controls" not in re.findall(r'href="#(\w+)"', without)
    assert "There are no controls" in without


def beside_inputs(shift, leak=3.0):
    """A leak beside inputs that tell the sides apart by so many standard deviations."""
    labels = np.tile([1, 0], 300)
    noise = np.repeat(np.random.default_rng(7).normal(size=300), 2)
    inputs = 1 / (1 + np.exp(-shift * (labels - 0.5) - noise))
    return record(
        subject(membership(leak, trials=600, inputs_alone=inputs, dependence="one release"))
    )


def test_a_split_is_called_unfit_on_strong_evidence_only():
    unfit, may_differ = "this split is unfit for an audit", "may differ a little"
    for shift, told, said, unsaid in (
        (0.0, False, "", (unfit, may_differ)),
        (0.22, True, may_differ, (unfit,)),
        (1.0, True, unfit, (may_differ,)),
    ):
        found = beside_inputs(shift)
        facts = Findings(found).best.shared
        assert (facts.told_by_inputs, facts.split_is_unfit) == (told, said == unfit)
        words = Page(AuditPage(found).html()).words
        assert said in words
        assert not any(text in words for text in unsaid)


def test_a_gain_below_zero_is_nobodys_doing():
    words = " ".join(AuditPage(beside_inputs(0.22, 0.0)).words)
    assert "and the attack no more than that (gain −" in words
    assert "doing" not in words
    words = " ".join(AuditPage(beside_inputs(0.0)).words)
    assert (
        "beyond that. This is the model's doing if members and non-members were drawn at random "
        "from the same source, which no test can prove." in words
    )


def test_where_no_leak_is_shown_nothing_is_said_to_be_the_models_doing():
    found = beside_inputs(0.0, 0.1)
    findings = Findings(found)
    assert not findings.leaks
    assert findings.best.shared.auc_gain.value > 0
    words = " ".join(AuditPage(found).words)
    assert "the attack gains" in words
    assert "doing" not in words


def test_inputs_in_which_nothing_was_found_have_no_figure_that_looks_measured():
    alone = np.full(600, 0.5)
    found = record(
        subject(membership(3.0, trials=600, inputs_alone=alone, dependence="one release"))
    )
    page = AuditPage(found)
    (said,) = (line for line in page.words if "without the model" in line)
    assert said.startswith(
        "Nothing was found in the inputs alone, without the model, that tells members and "
        "non-members apart; the attack gains 0."
    )
    assert "beyond guessing" in said
    (tile,) = (one for one in tiles(Findings(found)) if one["name"] == "AUC of inputs alone")
    assert (tile["value"], tile["interval"]) == ("none found", "")
    assert "the split is fit" not in page.html()


def test_who_does_better_than_guessing_as_the_inputs_may_is_not_said_to_be_guessing():
    """An AUC above one half for certain, of which the inputs alone tell an uncertain part."""
    rng = np.random.default_rng(4)
    labels, noise = np.tile([1, 0], 200), rng.normal(size=400)
    scores = noise + 0.25 * labels
    alone = noise + rng.normal(size=400) + 0.3 * labels
    judged = membership(0, trials=400, scores=scores, inputs_alone=alone, dependence="one release")
    found = record(subject(judged))
    findings = Findings(found)
    facts = findings.best.shared
    assert facts.auc.low > 0.5
    assert not facts.told_by_inputs
    assert not findings.leaks
    said = " ".join(AuditPage(found).words)
    assert "better than guessing" not in said
    assert said.count("No attack did reliably better than the inputs alone tell") == 2


def test_an_unfit_split_is_told_in_the_headline():
    assert AuditPage(beside_inputs(1.0, 0.0)).words[0].startswith("Split unfit: Members and")
    assert AuditPage(beside_inputs(0.0, 0.0)).words[0].startswith("No leak shown")


def test_a_guess_from_the_inputs_is_called_one():
    """Guessing between as many members as others is right in half of the records."""
    assert "guessing: 50.0%" in Page(AuditPage(beside_inputs(0.0)).html()).words
    found = beside_inputs(1.0)
    share = f"{100 * Findings(found).best.shared.chance:.1f}%"
    words = Page(AuditPage(found).html()).words
    assert share != "50.0%"
    assert f"best guess from the inputs alone, without the model: {share}" in words
    assert f"guessing: {share}" not in words


# -- comparisons ---------------------------------------------------------------------------------


def test_a_fixed_leak_is_better_and_a_new_one_worse():
    old, new = (record(subject(membership(s, trials=400), name=n)) for s, n in ((3, "a"), (0, "b")))
    assert compare_records([old, new]).changes[0].state == "better"
    assert compare_records([new, old]).changes[0].state == "worse"
    assert compare_records([old, old]).changes[0].state == "unclear"
    assert ComparisonPage([new, old], ["x", "y"]).words[0].startswith("Worse")


def test_differences_join_the_ends_by_squares():
    old, new = (record(subject(membership(s))) for s in (1.0, 2.0))
    change = compare_records([old, new]).changes[0]
    assert change.difference.value == pytest.approx(change.after.value - change.before.value)
    down_by = math.hypot(
        change.after.value - change.after.low, change.before.high - change.before.value
    )
    assert change.difference.low == pytest.approx(change.difference.value - down_by)


def test_intervals_of_differences_cover_zero_under_no_change():
    rng = np.random.default_rng(5)

    def again():
        labels = np.tile([1, 0], 60)
        scores = labels + rng.normal(size=120)
        return record(subject(MIAttackSummary(labels, scores > 0.5, scores, "", "A", "", "0")))

    missed = sum(
        compare_records([again(), again()]).changes[0].state != "unclear" for _ in range(60)
    )
    # At 5 % error, more than nine of sixty are seen once in a thousand times.
    assert missed <= 9


def test_an_attack_that_turned_round_is_not_worse():
    """An AUC below one half tells as much as one as far above it."""
    low, high = (record(subject(membership(s, trials=400))) for s in (-1.5, 1.5))
    change = compare_records([low, high]).changes[0]
    assert change.before.value < 0.2 < 0.8 < change.after.value
    assert change.state == "unclear"
    assert change.difference.value == pytest.approx(0.0, abs=0.02)
    nothing = record(subject(membership(0.0, trials=400)))
    assert compare_records([nothing, low]).changes[0].state == "worse"
    assert compare_records([low, nothing]).changes[0].state == "better"


@pytest.mark.parametrize(("before", "after"), [(0.5, 0.5), (0.5, 0.52), (0.45, 0.55), (0.3, 0.6)])
def test_differences_from_one_half_cover_the_true_one(before, after):
    rng, error = np.random.default_rng(3), 0.03
    seen = np.array([before, after]) + error * rng.normal(size=(2000, 2))
    true = abs(after - 0.5) - abs(before - 0.5)
    covered = 0
    for pair in seen:
        old, new = (Estimate(v, v - 1.96 * error, v + 1.96 * error).turned_up(0.5) for v in pair)
        found = new.minus(old)
        covered += found.low <= true <= found.high
    assert covered / 2000 >= 0.94  # three standard errors below 95 %


def performance(right, of_class):
    return {
        "slice": ["all", "class", "class"],
        "value": ["all", "no", "yes"],
        "train_accuracy": [1.0, 1.0, 1.0],
        "test_accuracy": [right, 0.9, of_class],
        "test_accuracy_low": [right - 0.02, 0.87, of_class - 0.05],
        "test_accuracy_high": [right + 0.02, 0.93, of_class + 0.05],
        "precision": [0.7, 0.8, 0.6],
        "recall": [0.7, 0.9, of_class],
    }


def test_comparisons_say_what_a_remedy_costs_the_model():
    old, new = (
        record(subject(membership(s, trials=400), name=n, performance=performance(*right)))
        for s, n, right in ((3, "a", (0.84, 0.52)), (0, "b", (0.83, 0.37)))
    )
    found = compare_records([old, new], ["v1", "v2"])
    assert [(c.part, c.before.value, c.after.value) for c in found.costs] == [
        ("all", 0.84, 0.83),
        ("class: no", 0.9, 0.9),
        ("class: yes", 0.52, 0.37),
    ]
    worst = found.costs[2].difference
    assert worst.value == pytest.approx(-0.15)
    assert worst.high == pytest.approx(-0.15 + math.hypot(0.05, 0.05))
    page = ComparisonPage([old, new], ["v1", "v2"])
    assert page.words[0].startswith("Better")
    said = page.words[1]
    assert "right in 84.0% before, 83.0% after" in said
    assert "of class yes: 52.0% before, 37.0% after" in said
    assert 'id="costs"' in page.html()
    assert "-15.0 points" in Page(page.html()).words.replace("−", "-")
    without = ComparisonPage([record(subject(membership(0.0)))] * 2)
    assert 'id="costs"' not in without.html()
    assert without.comparison.costs == ()


def test_subjects_are_matched_by_name_where_there_are_several():
    names = ("a", "b")
    old = record(*(subject(membership(1.0), name=n) for n in names))
    new = record(subject(membership(1.0), name="b"), subject(membership(1.0), name="c"))
    found = compare_records([old, new])
    assert [change.subject for change in found.changes] == ["b"]
    assert len(found.unmatched) == 2


def people(strength, names, attack="A"):
    rng = np.random.default_rng(len(names))
    labels = np.tile([1, 0], 60)
    made = []
    for name in names:
        scores = strength * labels + rng.normal(size=120)
        made.append(MIAttackSummary(labels, scores > 0.5, scores, "", attack, "", name))
    return record(subject(*made))


def test_runs_about_other_targets_are_compared_by_the_mean_over_theirs():
    before, after = people(1.5, "abcdef"), people(0.0, "ghijklm")
    found = compare_records([before, after], ["v1", "v2"])
    (change,) = found.changes
    assert (change.kind, change.state) == ("mean", "better")
    assert change.target == "mean over targets: 6 before, 7 after"
    assert "Over all targets, which need not be the same in both: A: mean AUC" in found.words[0]
    kinds = [change.kind for change in compare_records([before, before]).changes]
    assert kinds == ["mean", *["same"] * 6]


def test_runs_by_other_attacks_are_compared_by_the_strongest_of_either():
    before, after = record(subject(membership(3.0, trials=400))), people(0.0, "a", "Other")
    (change,) = (found := compare_records([before, after])).changes
    assert (change.kind, change.state) == ("strongest", "better")
    assert "strongest" in found.words[0]
    # What was picked out of several has a wider interval.
    (picked,) = compare_records([before, people(0.0, "abcd", "Other")]).changes
    assert picked.before.low < change.before.low


def test_the_strongest_of_either_are_compared_beside_a_weak_attack_in_common():
    weak = membership(0.0, "Weak", trials=400)
    before, after = (
        record(subject(membership(strength, attack, trials=400), weak))
        for strength, attack in ((3.0, "Scores"), (0.5, "Labels"))
    )
    found = compare_records([before, after])
    assert sorted(change.kind for change in found.changes) == ["same", "strongest"]
    assert found.count(found.names[1], "better") == 1
    assert "Scores before, Labels after" in found.words[0]


def test_comparison_pages_hold_every_change_and_stay_closed(tmp_path):
    old, new = record(subject(membership(2.0))), hostile_record()
    page = ComparisonPage([old, new, RECORDS["nothing ran"]], ["old", HOSTILE, "none"])
    foreign(page.html())
    assert "none has no audited result in common" in " ".join(page.words)
    assert [path.name for path in page.publish(tmp_path)] == ["comparison.html"]
    same = ComparisonPage([old, old])
    assert "unclear" in Page(same.html()).words
    assert "Runs side by side" in same.html()
    assert "1. Audit" in same.comparison.names


def test_a_comparison_needs_two_records_and_as_many_names():
    with pytest.raises(ConfigError, match="at least two"):
        compare_records([RECORDS["leak"]])
    with pytest.raises(ConfigError, match="as many names"):
        compare_records([RECORDS["leak"]] * 2, ["one"])


@pytest.mark.parametrize(
    ("model", "seen"),
    [
        ({"access": "scores"}, "sees its scores, and"),
        ({"access": "labels"}, "sees its labels, and"),
        ({"shown": {"top": 1, "decimals": 2}}, "1 largest score for each record, to 2 decimals"),
        ({"shown": {"top": 3, "decimals": None}}, "3 largest scores for each record, and"),
        ({"shown": {"top": None, "decimals": 1}}, "sees its scores, to 1 decimal, and"),
    ],
)
def test_a_page_says_which_part_of_the_scores_is_shown(model, seen):
    record = AuditRecord("Audit", {"model": model}, "f00", 0, ())
    assert seen in " ".join(attacker_words(record))


def test_a_page_says_where_no_attack_reads_the_parameters_that_are_shown():
    def said(*names: str, access: str = "parameters") -> str:
        attacks = [{"use": name} for name in names]
        question = {"model": {"access": access}, "attacks": attacks}
        return " ".join(attacker_words(AuditRecord("Audit", question, "f00", 0, ())))

    words = "None of these attacks reads the parameters"
    assert words in said("LossMIA", "CertaintyMIA")
    assert words not in said("LossMIA", access="scores")
    assert words not in said("LossMIA", "TreeMIA")
    assert words not in said("LossMIA", "mine:Attack")
    reading = set()
    for name in tapas.attacks.__all__:
        with contextlib.suppress(TypeError, AttributeError, ConfigError):  # no attacks
            if getattr(tapas.attacks, name)().needs.access is Access.PARAMETERS:
                reading.add(name)
    assert reading == READ_PARAMETERS
