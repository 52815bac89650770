"""Whether a finding that calls a requirement met provides what its own calculation asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.review.findings import Calculation, Finding
from trigpoint.review.verify import figures_of

_AT_MOST = re.compile(r"\b(?:maxim\w+|at most|no more than|up to|not exceed\w*|less than|fewer than)\b", re.IGNORECASE)


def shortfall_reasons(finding: Finding) -> list[str]:
    """Return why a finding is not met: it has fewer than a rate of its standard comes to by its own calculation.

    Only what is counted in the unit of the rate is compared, and nothing that a standard limits from above.
    """
    if finding.outcome != "met":
        return []
    reasons = {}
    for rate, sum_ in _required(finding):
        provided = _provided(finding, rate, sum_)
        if provided and sum(provided) < sum_.result:
            reasons[sum_.expression] = (
                f"{max(provided):g} is fewer than the {sum_.result:g} of your own calculation ({sum_.expression}): the "
                "requirement is not met. A number of things that is required is rounded up"
            )
    return list(reasons.values())


def _required(finding: Finding) -> Iterator[tuple[Quantity, Calculation]]:
    """Yield the calculations that apply a rate of the standard or of policy, with that rate."""
    standards = [one.quote for one in finding.evidence if one.status == "policy"]
    standards += [one.quote for one in (finding.standard, *finding.policy) if one is not None and one.quote]
    for text in dict.fromkeys(standards):
        if _AT_MOST.search(text):
            continue
        for rate in read_quantities(text):
            for one in finding.calculations:
                if rate.per is not None and rate.unit and rate.per_count in one.inputs and one.result > 1:
                    yield rate, one


def _provided(finding: Finding, rate: Quantity, sum_: Calculation) -> set[float]:
    """Return what the statement counts in the unit of the rate, as far as words on the application state it."""
    stated = _figures(one.quote for one in finding.evidence if one.status != "policy")
    return {
        one.value
        for one in read_quantities(finding.text)
        if one.unit == rate.unit
        and one.per is None
        and one.value > 1
        and one.value in stated
        and one.value not in sum_.inputs
    }


def _figures(texts: Iterable[str]) -> set[float]:
    return {value for text in texts for value in figures_of(text)}
