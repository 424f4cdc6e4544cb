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
1,000 records, auxiliary knowledge, as many releases for training as for judging. "Pair" is the better of
`ClosestDistanceMIA` and `GroundhogAttack`; "transferred" is `SubsetAttack(transfer=True)`, which judges
people by weights that were learnt from others. Made by `python benchmarks/bench_strength.py FOLDER
--table TABLE --generator NAME --releases NUMBER`. `SubsetAttack` on 1,000 people in 1,000 trials of 1,000 rows
and 15 columns costs 45 s of CPU and 0.9 GiB beyond the generator (`bench_strength.py --cost`).

| generator, table | releases | pair | `SubsetAttack` | transferred | `NearnessAttack` | `EnsembleAttack` |
|---|---|---|---|---|---|---|
| Bayesian network, snake | 100 | .550 (.531-.566) / .531 (.503-.556) | .785 (.770-.800) / .665 (.653-.682) | .780 (.765-.796) / .665 (.653-.683) | .610 (.596-.627) / .567 (.545-.585) | .785 (.771-.801) / .665 (.652-.682) |
| SMOTE, snake | 100 | .733 (.715-.752) / .791 (.779-.805) | .625 (.608-.647) / .722 (.709-.737) | .615 (.596-.637) / .716 (.701-.731) | .748 (.730-.771) / .809 (.796-.824) | .746 (.727-.769) / .811 (.800-.826) |
| MST, epsilon 10, snake | 100 | .526 (.511-.541) / .515 (.497-.529) | .661 (.641-.679) / .640 (.622-.657) | .662 (.642-.679) / .637 (.618-.653) | .581 (.562-.604) / .544 (.525-.562) | .661 (.641-.678) / .639 (.621-.656) |
| Gaussian copula, snake | 60 | .537 (.517-.565) / .503 (.483-.523) | .637 (.624-.656) / .604 (.580-.632) | .631 (.613-.650) / .598 (.570-.627) | .591 (.567-.619) / .532 (.508-.562) | .638 (.622-.656) / .599 (.575-.623) |
| CART, snake | 60 | .705 (.686-.725) / .636 (.614-.662) | .795 (.775-.814) / .730 (.706-.753) | .791 (.776-.813) / .713 (.691-.737) | .753 (.730-.773) / .665 (.644-.689) | .810 (.788-.831) / .742 (.715-.768) |
| PrivBayes, epsilon 1000, snake | 60 | .799 (.775-.820) / .714 (.687-.739) | .944 (.935-.955) / .906 (.891-.923) | .940 (.929-.952) / .903 (.888-.919) | .811 (.791-.831) / .729 (.700-.757) | .946 (.935-.956) / .910 (.896-.928) |
| MST, epsilon 1000, snake | 60 | .624 (.601-.654) / .580 (.554-.606) | .915 (.899-.932) / .826 (.811-.843) | .913 (.897-.930) / .822 (.808-.839) | .671 (.645-.700) / .619 (.591-.646) | .916 (.899-.932) / .826 (.811-.843) |
| Bayesian network, adult | 60 | .565 (.547-.584) / .517 (.490-.543) | .767 (.749-.794) / .594 (.572-.618) | .752 (.732-.779) / .594 (.571-.616) | .598 (.576-.620) / .548 (.523-.577) | .778 (.761-.806) / .606 (.582-.631) |
| MST, epsilon 1000, adult | 60 | | .771 (.754-.787) / .605 (.589-.623) | | | .803 (.785-.820) / .628 (.611-.648) |
| CART, adult | 60 | .696 (.669-.720) / .676 (.645-.704) | .902 (.888-.914) / .869 (.855-.886) | .894 (.879-.908) / .867 (.855-.884) | .849 (.834-.865) / .821 (.802-.842) | .908 (.895-.922) / .864 (.851-.882) |
| Gaussian copula, adult | 60 | .540 (.516-.568) / .524 (.503-.542) | .666 (.647-.690) / .606 (.580-.631) | .660 (.634-.687) / .602 (.578-.628) | .687 (.660-.713) / .654 (.623-.688) | .710 (.686-.732) / .661 (.635-.689) |
| SMOTE, adult | 60 | .662 (.645-.683) / .760 (.742-.786) | .576 (.554-.597) / .622 (.598-.648) | .550 (.528-.571) / .607 (.586-.634) | .682 (.658-.704) / .749 (.734-.767) | .682 (.659-.703) / .749 (.734-.766) |

On MST of epsilon 1000 `MarginalsAttack()`, which knows nothing of the generator, has .890 (.877-.905) / .810
(.796-.829) in the same run; on adult .763 (.744-.784) / .627 (.606-.649), and on the network there .694 (.674-.721) /
.614 (.597-.636). `EnsembleAttack` weighs it in those two rows and in all
of adult, as it does by default; the other rows are older and of subsets and nearness alone. On adult `NearnessAttack` sees
numbers that come back: without them it had .711 / .652 on CART and .545 / .529 on the copula, the ensemble .908 / .874
and .666 / .606.

With 50 releases of each phase on snake, `EnsembleAttack` that knows which marginals the generator keeps has on MST of
epsilon 10 .664 (.637-.691) / .655 (.629-.679) where it had .646 (.623-.672) / .652 (.628-.677) untold, the Bayesian
network .786 (.757-.815) / .674 (.652-.697) where it had .778 (.751-.806) / .665 (.640-.693) untold (`--releases 50
--attacks untold ensemble`). The rows above are older than that knowledge.

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
