"""The trained readers measured on families that they have not seen: trained once for each, without it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.reading.applications import LabelledApplication
from benchmarks.reading.scores import Outcomes, print_outcomes, score
from benchmarks.reading.training import examples_of, train


def cross_validate(applications: Sequence[LabelledApplication]) -> None:
    """Print the scores of each family, read by readers that learned from all others."""
    examples = {one.name: examples_of(one) for one in applications}
    together = Outcomes()
    for family in dict.fromkeys(one.family for one in applications):
        held_out = [one for one in applications if one.family == family]
        learned = [each for one in applications if one.family != family for each in examples[one.name]]
        readers, outcomes = train(learned), Outcomes()
        for application in held_out:
            outcomes.add(score(application, readers))
        print_outcomes(family, outcomes)
        together.add(outcomes)
    print_outcomes("all", together)
