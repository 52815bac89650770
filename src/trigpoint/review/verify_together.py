"""Check findings against each other before they are published: none repeats another, none contradicts another."""

from __future__ import annotations

from collections.abc import Mapping

from trigpoint.review.findings import Finding
from trigpoint.review.lookup import stems

NEARLY_THE_SAME = 0.6  # share of the words of two statements that are the same


def clash(one: Finding, others: Mapping[str, Finding]) -> str | None:
    """Return why a finding cannot stand next to the others, naming the one that it repeats or contradicts; or None."""
    for name, other in others.items():
        if _repeats(one, other):
            return f"It repeats {name}: “{other.text[:160]}”. Leave it out, or say what is different about it"
        if _contradicts(one, other):
            return (
                f"It contradicts {name}, which answers the same point with {other.outcome}: “{other.text[:160]}”. "
                f"Hand in one judgement that takes both into account, under the id {name} to replace it"
            )
    return None


def _repeats(one: Finding, other: Finding) -> bool:
    if one.outcome != other.outcome:
        return False
    mine, theirs = set(stems(one.text)), set(stems(other.text))
    alike = len(mine & theirs) / max(1, len(mine | theirs))
    same_words = {c.passage_id for c in one.evidence} == {c.passage_id for c in other.evidence}
    return alike >= NEARLY_THE_SAME or (same_words and _point(one) == _point(other) and one.outcome != "contradicted")


def _contradicts(one: Finding, other: Finding) -> bool:
    if {one.outcome, other.outcome} != {"met", "failed"}:
        return False
    same_question = _point(one) == _point(other) and not _point(one).endswith("-other")
    same_words = {c.passage_id for c in one.evidence} == {c.passage_id for c in other.evidence}
    return same_question or (same_words and one.requirement == other.requirement)


def _point(finding: Finding) -> str:
    """Return what a finding answers: its aspect and question, without its own id."""
    return "-".join(finding.check.split("-")[:2])
