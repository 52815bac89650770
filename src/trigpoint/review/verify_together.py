"""Check findings against each other before they are published: none repeats another, none contradicts another."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.scopes import words_of_groups
from trigpoint.review.findings import Finding
from trigpoint.review.lookup import stems
from trigpoint.review.stated import read_numbers

NEARLY_THE_SAME = 0.6  # share of the words of two statements that are the same
ABOUT_THE_SAME = 0.35  # if both quote the same words
NEAR = 0.25  # if both quote the same words and belong to the same aspect
_PART = re.compile(
    r"\b(?:block|phase|plot|zone|parcel|building|unit|stage|core|wing|tower) (?:[A-Z]|\d+)\b", re.IGNORECASE
)


def repeated(one: Finding, others: Mapping[str, Finding]) -> str | None:
    """Return the name of a finding that says the same from the same words; None if there is none."""
    return next((name for name, other in others.items() if _repeats(one, other)), None)


def contradicted(one: Finding, others: Mapping[str, Finding]) -> str | None:
    """Return why a finding cannot be published next to the others, naming the one that it contradicts; or None."""
    for name, other in others.items():
        if _contradicts(one, other):
            return (
                f"It contradicts {name}, which answers the same point with {other.outcome}: “{other.text[:160]}”. "
                f"Hand in one judgement that takes both into account, under the id {name} to replace it"
            )
    return None


def reports(finding: Finding, discrepancy: Discrepancy) -> bool:
    """Return whether a finding reports a discrepancy found by arithmetic: it quotes two of its places, with their figures."""
    if finding.outcome != "contradicted":
        return False
    figures = [{number.value for number in read_numbers(text)} for text in (finding.text, discrepancy.summary)]
    quoted = [
        [*one.passage_id.removeprefix(f"{one.document_id}:").split("-"), one.document_id] for one in finding.evidence
    ]
    places = {
        (source.document_id, source.start)
        for source in (one.source for one in discrepancy.inputs)
        if any(name == source.document_id and int(a) < source.end and source.start < int(b) for a, b, name in quoted)
    }
    return len(places) >= 2 and len(figures[0] & figures[1]) >= 2


def _repeats(one: Finding, other: Finding) -> bool:
    """Return whether two findings say the same: from the same words, with the same figures, of the same subject."""
    if one.outcome != other.outcome or not _same_figures(one.text, other.text) or _other_subject(one.text, other.text):
        return False
    mine, theirs = ({c.passage_id for c in finding.evidence} for finding in (one, other))
    if not (mine <= theirs or theirs <= mine):
        return False
    if _question(one) and _question(other) and _point(one) != _point(other):
        return False
    alike = _alike(one, other)
    if mine != theirs:
        return alike >= NEARLY_THE_SAME
    if one.outcome != "contradicted" and _question(one) and _point(one) == _point(other):
        return True
    return alike >= (NEAR if _area(one) == _area(other) else ABOUT_THE_SAME)


def _other_subject(one: str, other: str) -> bool:
    """Return whether two texts are about different users or parts: the flats may have what the houses lack."""
    mine, theirs = _subjects(one), _subjects(other)
    return bool(mine and theirs) and (mine[0] != theirs[0] or not set(mine) & set(theirs))


def _subjects(text: str) -> list[str]:
    """Return the groups of users and the named or numbered parts that a text speaks of, in its order."""
    named = words_of_groups(text)
    groups = {group: text.casefold().find(word) for word, group in named.items() if group != "long"}
    parts = {match.group().casefold(): match.start() for match in _PART.finditer(text)}
    return sorted(groups | parts, key=(groups | parts).__getitem__)


def _same_figures(one: str, other: str) -> bool:
    """Return whether one text has all figures of the other: "2.5 m wide" and "400 m long" are two points."""
    mine, theirs = ({number.value for number in read_numbers(text)} for text in (one, other))
    return mine <= theirs or theirs <= mine


def _contradicts(one: Finding, other: Finding) -> bool:
    """Return whether one finding calls met what the other calls failed: the same thing, from the same words.

    A question may be met for one part and fail for another; what rests on other words is left to the second reader, who
    sees both.
    """
    if {one.outcome, other.outcome} != {"met", "failed"} or _other_subject(one.text, other.text):
        return False
    mine, theirs = ({c.passage_id for c in finding.evidence} for finding in (one, other))
    if _differ(one.text, other.text):
        return False
    if _point(one) == _point(other) and _question(one):
        return mine == theirs or (bool(mine & theirs) and _alike(one, other) >= ABOUT_THE_SAME)
    return mine == theirs and one.requirement == other.requirement


def _alike(one: Finding, other: Finding) -> float:
    """Return the share of the words of two statements that are the same."""
    words = set(stems(one.text)), set(stems(other.text))
    return len(words[0] & words[1]) / max(1, len(words[0] | words[1]))


def _differ(one: str, other: str) -> bool:
    """Return whether two texts are about different figures: staff may have what residents lack."""
    mine, theirs = ({number.value for number in read_numbers(text)} for text in (one, other))
    return bool(mine and theirs) and not mine & theirs


def _point(finding: Finding) -> str:
    """Return what a finding answers: its aspect and question, without its own id."""
    return "-".join(finding.check.split("-")[:2])


def _area(finding: Finding) -> str:
    return finding.check.split("-")[0]


def _question(finding: Finding) -> str:
    question = _point(finding).partition("-")[2]
    return "" if question == "other" else question
