"""From findings to a rating, from ratings to the overall one: two stated rules, the same for both analysers."""

from __future__ import annotations

from collections.abc import Sequence

from trigpoint.review.findings import Finding, Outcome, Rating
from trigpoint.review.result import AspectReview

NOT_ENOUGH = "Not enough evidence"
NO_POLICY = "no policy in force could be cited"
SEVERITY: dict[Outcome, int] = {"failed": 0, "partly": 1, "contradicted": 2, "met": 7, "not_found": 5}

ASPECT_RULE = (
    "An aspect is red when more than half of its essential checks that have evidence fail; green when every essential "
    "check is met and no check fails or is contradicted; amber in all other cases, and always where there is not enough evidence."
)
OVERALL_RULE = (
    "The application is red when two core aspects (cycle parking, cycle routes, junctions, permeability) are red, or all "
    "of them where fewer are reviewed, or more than half of all aspects; green when every core aspect is green and no other "
    "is red; amber in all other cases."
)


def rate(findings: Sequence[Finding]) -> Rating:
    """The rating of an aspect, by `ASPECT_RULE`."""
    essential = [finding.outcome for finding in findings if finding.essential]
    decided = [outcome for outcome in essential if outcome != "not_found"]
    if decided and sum(outcome == "failed" for outcome in decided) * 2 > len(decided):
        return "red"
    clean = not any(finding.outcome in ("failed", "contradicted") for finding in findings)
    return "green" if decided and clean and all(outcome == "met" for outcome in essential) else "amber"


def key_issue(name: str, rating: Rating, findings: Sequence[Finding]) -> str:
    """The one line that says why. A green one names what was found to be met, and nothing else."""
    if rating == "green":
        met = [finding.short for finding in findings if finding.outcome == "met" and finding.short]
        return _listed(met)
    essential = [finding for finding in findings if finding.essential]
    if all(NO_POLICY in finding.flags for finding in essential):
        return f"Not judged: nothing in force on the day could be cited for {name.lower()}"
    if all(finding.outcome == "not_found" for finding in essential):
        return f"{NOT_ENOUGH}: the documents do not say enough about {name.lower()} to judge it"
    return weightiest([finding for finding in findings if finding.outcome != "met"])[0].text.rstrip(".")


def _listed(parts: Sequence[str]) -> str:
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{text[0].upper()}{text[1:]}"


def weightiest(findings: Sequence[Finding]) -> list[Finding]:
    """What matters most first: an essential point that fails or is met in part, then contradictions, then the rest."""
    return sorted(
        findings, key=lambda f: SEVERITY[f.outcome] + (0 if f.essential or f.outcome == "contradicted" else 3)
    )


def overall_rating(judged: Sequence[AspectReview], core: frozenset[str]) -> Rating:
    """The rating of the application, by `OVERALL_RULE`."""
    weighing = [one for one in judged if one.id in core] or list(judged)
    red = sum(one.rating == "red" for one in weighing)
    red_in_all = sum(one.rating == "red" for one in judged)
    if red >= min(2, len(weighing)) or red_in_all * 2 > len(judged):
        return "red"
    return "green" if not red_in_all and all(one.rating == "green" for one in weighing) else "amber"
