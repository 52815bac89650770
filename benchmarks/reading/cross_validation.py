"""The trained readers measured on families that they have not seen: trained once for each, without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from benchmarks.reading.applications import LabelledApplication
from benchmarks.reading.scores import Outcomes, by_coverage, print_outcomes, score, share
from benchmarks.reading.training import Example, examples_of, train
from trigpoint.reading.features import Features
from trigpoint.reading.readers import Readers

_OF_RULES = (
    "class ",
    "topic by rule ",
    "aspect by rule ",
    "cue ",
    "signal ",
    "status by rule ",
    "section ",
    "speaker ",
)
"""How the names of those features begin that come from word lists and rules."""


def cross_validate(applications: Sequence[LabelledApplication]) -> None:
    """Print the scores of each family, read by readers that learned from all others: with the rules, and without."""
    examples = {one.name: examples_of(one) for one in applications}
    tables = {
        "words and rules": _outcomes(applications, examples, lambda one: one),
        "words alone": _outcomes(applications, examples, _without_rules),
    }
    for reader, families in tables.items():
        for family, outcomes in families.items():
            print_outcomes(f"{reader}: {family}", outcomes)
    for reader, families in tables.items():
        print(f"\n{_table(reader, families)}")


def readers_without(applications: Sequence[LabelledApplication]) -> Iterator[tuple[LabelledApplication, Readers]]:
    """Yield each application with readers that learned from all other families, which takes a while."""
    examples = {one.name: examples_of(one) for one in applications}
    for family in dict.fromkeys(one.family for one in applications):
        readers = train([each for one in applications if one.family != family for each in examples[one.name]])
        yield from ((one, readers) for one in applications if one.family == family)


def _outcomes(
    applications: Sequence[LabelledApplication],
    examples: dict[str, list[Example]],
    shown: Callable[[Example], Example],
) -> dict[str, Outcomes]:
    scored: dict[str, Outcomes] = {}
    together = Outcomes()
    for family in dict.fromkeys(one.family for one in applications):
        learned = [shown(each) for one in applications if one.family != family for each in examples[one.name]]
        readers, outcomes = train(learned), Outcomes()
        for application in applications:
            if application.family == family:
                outcomes.add(score(application, readers))
        scored[family] = outcomes
        together.add(outcomes)
    return {**scored, "all": together}


def _without_rules(example: Example) -> Example:
    return replace(
        example,
        on_aspect=_words(example.on_aspect),
        on_topic=_words(example.on_topic) or example.on_topic,
        on_status=_words(example.on_status),
    )


def _words(features: Features) -> Features:
    return {name: strength for name, strength in features.items() if not name.startswith(_OF_RULES)}


def _table(reader: str, families: dict[str, Outcomes]) -> str:
    rows = [
        f"| {reader} | {family} | {share(one.status)} | {share(one.certain_of).value:.3f}, {share(one.certain)} | "
        f"{share(one.taken_for_provision)} | {share(one.quoted)} | {share(one.irrelevant)} | "
        f"{share(one.misplaced).value:.3f} | {one.unlabelled} |"
        for family, one in families.items()
    ]
    return "\n".join([*rows, "", f"Status by coverage, {reader}: {by_coverage(families['all'])}"])
