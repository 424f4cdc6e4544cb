"""Write docs/library-of-attacks.md from the docstrings of the attacks.

Run with ``python docs/make_library.py``; a test fails while the page is out of date.
"""

import inspect
import re
from pathlib import Path

import tapas.attacks
from tapas.attacks import Attack, DensityEstimator, DistanceMetric, SetClassifier, SetFeature

PAGE = Path(__file__).with_name("library-of-attacks.md")
INTRODUCTION = """\
# Library of attacks

This page is written from the docstrings by `python docs/make_library.py`.

Every attack accepts `label=`, its display name. *D* is the released table, the *target* is the
record that the attacker wants to know about. Scores are higher where the positive secret
(membership, or the second attribute value) is likelier. `criterion=` says how a threshold on the
score is chosen: `"accuracy"`, `("tp", rate)`, `("fp", rate)` or `("threshold", value)`; the last
needs no training trials and is the only one that a no-box attacker can use. How to write your own
is told in [implementing-attacks.md](implementing-attacks.md).
"""
STRENGTH = """\
## How much they find

Mean AUC on 25 vulnerable / 25 random people with intervals of 95 % over releases, private datasets of
1,000 records, auxiliary knowledge, 100 releases for training and 100 for judging. "Pair" is the better of
`ClosestDistanceMIA` and `GroundhogAttack`; "transferred" is `SubsetAttack(transfer=True)`, which judges
people by weights that were learnt from others; `MarginalsAttack()` knows nothing of the generator, and
`EnsembleAttack` weighs the marginals that it is known to keep, as by default. Made by
`python benchmarks/bench_strength.py FOLDER --table TABLE --generator NAME --attacks closest groundhog subsets transferred
nearness tree ensemble`. `SubsetAttack` on 1,000 people in 1,000 trials of 1,000 rows
and 15 columns costs 45 s of CPU and 0.9 GiB beyond the generator (`bench_strength.py --cost`).

| generator, table | pair | `SubsetAttack` | transferred | `NearnessAttack` | `MarginalsAttack` | `EnsembleAttack` |
|---|---|---|---|---|---|---|
| Bayesian network, snake | .550 (.531-.566) / .531 (.503-.556) | .785 (.770-.800) / .665 (.653-.682) | .780 (.765-.796) / .665 (.653-.683) | .610 (.596-.627) / .567 (.545-.585) | .635 (.617-.651) / .568 (.547-.589) | .793 (.779-.807) / .670 (.658-.689) |
| SMOTE, snake | .733 (.715-.752) / .791 (.779-.805) | .625 (.608-.647) / .722 (.709-.737) | .615 (.596-.637) / .716 (.701-.731) | .748 (.730-.771) / .809 (.796-.824) | .530 (.513-.548) / .622 (.606-.642) | .746 (.727-.769) / .811 (.800-.826) |
| MST, epsilon 10, snake | .526 (.511-.541) / .515 (.497-.529) | .661 (.641-.679) / .640 (.622-.657) | .662 (.642-.679) / .637 (.618-.653) | .581 (.562-.604) / .544 (.525-.562) | .608 (.592-.625) / .627 (.609-.643) | .664 (.646-.679) / .651 (.633-.667) |
| Gaussian copula, snake | .544 (.526-.563) / .504 (.488-.518) | .657 (.641-.678) / .599 (.585-.617) | .652 (.635-.671) / .595 (.580-.614) | .587 (.571-.602) / .538 (.522-.557) | .519 (.502-.536) / .487 (.468-.510) | .656 (.640-.678) / .598 (.584-.615) |
| CART, snake | .707 (.692-.720) / .633 (.615-.652) | .813 (.798-.829) / .737 (.724-.755) | .804 (.790-.820) / .719 (.703-.739) | .755 (.738-.770) / .671 (.653-.693) | .683 (.668-.703) / .649 (.633-.668) | .819 (.808-.836) / .742 (.727-.759) |
| PrivBayes, epsilon 1000, snake | .796 (.780-.816) / .705 (.687-.725) | .947 (.939-.956) / .911 (.897-.924) | .943 (.934-.952) / .909 (.897-.922) | .811 (.794-.828) / .722 (.702-.745) | .824 (.808-.842) / .799 (.781-.816) | .949 (.940-.958) / .913 (.899-.926) |
| MST, epsilon 1000, snake | .601 (.578-.620) / .564 (.547-.586) | .915 (.905-.927) / .819 (.803-.837) | .912 (.903-.924) / .817 (.803-.834) | .653 (.630-.676) / .603 (.585-.624) | .888 (.880-.899) / .802 (.789-.816) | .923 (.915-.933) / .829 (.815-.846) |
| Bayesian network, adult | .561 (.542-.578) / .518 (.494-.538) | .767 (.749-.785) / .596 (.581-.614) | .761 (.745-.778) / .589 (.573-.606) | .613 (.593-.631) / .548 (.527-.567) | .683 (.658-.701) / .610 (.595-.629) | .790 (.775-.806) / .608 (.593-.627) |
| MST, epsilon 1000, adult | .597 (.577-.616) / .524 (.506-.546) | .774 (.760-.787) / .606 (.590-.623) | .766 (.751-.781) / .604 (.587-.623) | .622 (.600-.640) / .547 (.525-.571) | .754 (.737-.773) / .624 (.608-.641) | .803 (.791-.817) / .629 (.614-.647) |
| CART, adult | .692 (.668-.713) / .673 (.644-.696) | .902 (.892-.913) / .875 (.861-.889) | .893 (.883-.904) / .873 (.859-.884) | .859 (.846-.873) / .847 (.830-.861) | .632 (.610-.654) / .594 (.578-.611) | .904 (.892-.916) / .873 (.861-.885) |
| Gaussian copula, adult | .541 (.515-.569) / .530 (.510-.548) | .677 (.664-.696) / .613 (.597-.627) | .676 (.663-.696) / .608 (.590-.626) | .706 (.685-.725) / .687 (.665-.707) | .491 (.473-.511) / .529 (.505-.549) | .732 (.714-.749) / .689 (.666-.708) |
| SMOTE, adult | .657 (.641-.673) / .755 (.738-.776) | .582 (.567-.599) / .627 (.612-.643) | .563 (.552-.575) / .602 (.588-.621) | .697 (.679-.713) / .758 (.745-.776) | .537 (.516-.554) / .581 (.565-.598) | .696 (.679-.713) / .759 (.747-.778) |

With 50 releases of each phase on snake, `EnsembleAttack` that knows which marginals the generator keeps has on MST of
epsilon 10 .664 (.637-.691) / .655 (.629-.679) where it had .646 (.623-.672) / .652 (.628-.677) untold, the Bayesian
network .786 (.757-.815) / .674 (.652-.697) where it had .778 (.751-.806) / .665 (.640-.693) untold (`--releases 50
--attacks untold ensemble`).

What the fitted mechanism adds, and what exact knowledge does (one background of 1,000 records, all but the targets known): snake, 100 releases of
each phase, by `python benchmarks/bench_strength.py FOLDER --attacks subsets fitted [--knowledge exact]`, where "fitted" is
`LikelihoodAttack`, for an attacker who sees the fitted mechanism (`WhiteBoxKnowledge`):

| generator | `SubsetAttack` | fitted | `SubsetAttack`, exact | fitted, exact |
|---|---|---|---|---|
| Bayesian network | .785 (.770-.800) / .665 (.653-.682) | .919 (.911-.931) / .771 (.765-.785) | .824 (.804-.840) / .693 (.663-.718) | .993 (.990-.996) / .982 (.977-.987) |
| MST, epsilon 10 | .661 (.641-.679) / .640 (.622-.657) | .660 (.640-.676) / .651 (.635-.664) | .694 (.677-.714) / .658 (.642-.679) | .693 (.675-.710) / .655 (.635-.676) |
| MST, epsilon 1000 | .915 (.905-.927) / .819 (.803-.837) | .996 (.994-.998) / .957 (.953-.965) | .967 (.960-.974) / .880 (.865-.892) | 1.000 (1.000-1.000) / 1.000 (1.000-1.000) |
| PrivBayes, epsilon 1000 | .947 (.939-.956) / .911 (.897-.924) | 1.000 (1.000-1.000) / 1.000 (1.000-1.000) | .978 (.973-.983) / .932 (.920-.943) | 1.000 (1.000-1.000) / 1.000 (1.000-1.000) |
| Gaussian copula | .657 (.641-.678) / .599 (.585-.617) | .534 (.516-.550) / .506 (.493-.520) | .706 (.688-.724) / .655 (.634-.672) | .586 (.562-.611) / .528 (.503-.553) |

On the copula the likelihood of categories tells less than counts of its releases do: there, ask both.

Attribute inference on snake, 60 releases of each phase, by an attacker who knows the other columns of all private
records; mean AUC over values, measured alike (`python benchmarks/bench_attributes.py FOLDER`). "Half copies"
release half of the private records; with two values nobody can exceed .875 there, but for chance.

| generator, attribute | `ClosestDistanceAIA` | `SubsetAttack` | `EnsembleAttack` | `ReconstructionAttack` |
|---|---|---|---|---|
| CART, married (2 values) | .620 (.595-.646) / .592 (.560-.621) | .674 (.644-.704) / .713 (.689-.737) | .679 (.649-.708) / .716 (.692-.739) | .673 (.647-.700) / .673 (.648-.697) |
| half copies, married | .882 (.867-.894) / .875 (.858-.890) | .877 (.859-.892) / .875 (.856-.892) | .877 (.859-.893) / .875 (.856-.891) | .865 (.847-.882) / .846 (.825-.863) |
| half copies, faminc (15 values) | .879 (.865-.890) / .866 (.855-.880) | .879 (.863-.889) / .840 (.825-.857) | .883 (.867-.892) / .854 (.839-.869) | .813 (.795-.826) / .804 (.786-.821) |

`ReconstructionAttack` needs no training trials; the others have learnt from 60.
"""  # noqa: E501
GROUPS = (
    ("Attacks", Attack),
    ("Distances between records", DistanceMetric),
    ("Features of a table", SetFeature),
    ("Classifiers of tables", SetClassifier),
    ("Density estimators", DensityEstimator),
)
_FIELD = re.compile(r"^(Idea|Needs|Score|Reference)(?::\s*|$)", re.MULTILINE)


def page() -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION, STRENGTH]
    for title, base in GROUPS:
        classes = _public(base)
        parts.append(f"## {title}\n\n{_overview(classes)}\n")
        parts += [_section(cls) for cls in classes]
    return "\n".join(parts)


def _public(base: type) -> list[type]:
    named = (getattr(tapas.attacks, name) for name in tapas.attacks.__all__)
    return sorted(
        (c for c in named if inspect.isclass(c) and issubclass(c, base)),
        key=lambda c: (c is not base, c.__name__.lower()),
    )


def _overview(classes: list[type]) -> str:
    rows = [f"| [`{c.__name__}`](#{c.__name__.lower()}) | {_first_line(c)} |" for c in classes]
    return "\n".join(["| class | |", "|---|---|", *rows])


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _section(cls: type) -> str:
    text = inspect.getdoc(cls) or ""
    return f"### {cls.__name__}\n\n```python\n{_signature(cls)}\n```\n\n{_as_markdown(text)}\n"


def _signature(cls: type) -> str:
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(cls).parameters.values()
    ]
    return f"{cls.__name__}({', '.join(str(parameter) for parameter in parameters)})"


def _as_markdown(text: str) -> str:
    """Headings become bold words; indented explanations become paragraphs."""
    lines: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if set(stripped) == {"-"}:
            lines[-1] = f"**{lines[-1]}**"
            lines.append("")
        elif match := _FIELD.match(line):
            lines += ["", f"*{match[1]}.* {line[match.end() :]}".rstrip()]
        elif re.match(r"^\w[\w, ]* : ", line):
            name, kind = line.split(" : ", 1)
            lines += ["", f"- `{name}`: {kind}"]
        elif line.startswith("    ") and lines and lines[-1].startswith("- `"):
            lines.append(f"  {stripped}")
        else:
            lines.append(stripped)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return text.replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
