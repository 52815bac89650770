"""A review at a glance: what comes first, what the verdict says, how long there is to respond."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from trigpoint.review.conclusion import Conclusion, Sentence
from trigpoint.review.findings import Finding
from trigpoint.review.overview import Overview, deadline
from trigpoint.review.result import AspectReview, ReviewBody

TODAY = date(2025, 7, 1)


def finding(outcome: str, text: str = "Something", *, essential: bool = False, **more: Any) -> Finding:
    return Finding(check="c", requirement="R", outcome=outcome, text=text, essential=essential, **more)


def aspect(name: str, *findings: Finding, **more: Any) -> AspectReview:
    given = {"rating": "amber", "key_issue": "", **more}
    return AspectReview(id=name.lower(), name=name, findings=findings, **given)


def review(*aspects: AspectReview, **more: Any) -> Overview:
    return Overview(ReviewBody(overall_rating="amber", summary="", aspects=aspects, **more))


@pytest.mark.parametrize(
    ("end", "words", "state"),
    [
        ("2025-07-13", "Consultation closes in 12 days (13 July 2025)", "open"),
        ("2025-07-02", "Consultation closes tomorrow (2 July 2025)", "soon"),
        ("2025-07-01", "Consultation closes today (1 July 2025)", "soon"),
        ("2025-06-30", "Consultation closed 30 June 2025", "closed"),
    ],
)
def test_a_deadline_is_told_as_people_say_it(end: str, words: str, state: str) -> None:
    found = deadline(end, TODAY)
    assert found is not None
    assert (found.words, found.state) == (words, state)


@pytest.mark.parametrize("end", [None, "", "soon", "2025-02-30", "31/12/2025"])
def test_without_a_date_there_is_no_deadline(end: str | None) -> None:
    assert deadline(end, TODAY) is None


def test_essential_failures_come_before_others_and_at_most_five_are_shown() -> None:
    weak = [finding("partly", f"partly {number}") for number in range(4)]
    shown = review(
        aspect("A", *weak, finding("failed", "minor")), aspect("B", finding("failed", "grave", essential=True))
    )
    assert [point.finding.text for point in shown.main] == ["grave", "minor", "partly 0", "partly 1", "partly 2"]
    assert shown.main[0].kind == "essential"
    assert shown.main[0].label != shown.main[1].label


def test_contradictions_are_apart_and_numbers_name_each_finding_once() -> None:
    own, general = finding("contradicted", "own"), finding("contradicted", "general")
    shown = review(aspect("A", finding("met"), own), contradictions=(own, general))
    assert shown.main == ()
    assert [point.finding.text for point in shown.contradictions] == ["own", "general"]
    assert [point.number for point in shown.points] == [1, 2, 3]


def test_equal_findings_of_two_aspects_keep_their_own_numbers() -> None:
    same = finding("failed", "the same")
    shown = review(aspect("A", same), aspect("B", same.model_copy()))
    assert sorted(point.number for point in shown.main) == [1, 2]
    assert {point.aspect.name for point in shown.main if point.aspect} == {"A", "B"}


@pytest.mark.parametrize(
    ("essentials", "words"),
    [
        ((True, True), "Both points could be judged: neither is met (both are essential)."),
        ((False, False), "Both points could be judged: neither is met."),
        ((True, False, False), "All three points could be judged: none of them is met (one of them essential)."),
        ((True, True, True), "All three points could be judged: none of them is met (all of those are essential)."),
    ],
)
def test_the_verdict_says_how_much_of_what_is_not_met_is_essential(essentials: tuple[bool, ...], words: str) -> None:
    failed = [finding("failed", f"Point {n}", essential=one) for n, one in enumerate(essentials)]
    assert review(aspect("A", *failed)).verdict[0] == words


def test_the_verdict_counts_what_was_judged_and_names_the_worst() -> None:
    shown = review(
        aspect("A", finding("failed", "The path is too narrow", essential=True), finding("met")),
        aspect("B", finding("contradicted", "Two widths")),
        aspect("C", assessed="no"),
    )
    assert shown.verdict == (
        "All three points could be judged: one is met, one is not met (it is essential) and one is contradicted within the "
        "documents.",
        "The most serious: the path is too narrow.",
        "One of three aspects is left for you to judge.",
    )


def test_the_numbers_of_the_verdict_add_up_with_contradictions_and_open_points() -> None:
    concluded = Conclusion(summary=(Sentence(text="The path is too narrow.", rests_on=("c",)),))
    open_point = {"check": "x", "requirement": "X", "reason": "Not found."}
    notes = [open_point | {"reason": "The parish asks for a bench.", "noted": True}] * 2
    shown = review(
        aspect("A", finding("failed"), finding("met"), not_assessed=[open_point, *notes]),
        contradictions=(finding("contradicted", "Two widths"), finding("contradicted", "Two dates")),
        conclusion=concluded,
    )
    assert shown.verdict == (
        "Four of 5 points could be judged: one is met, one is not met and two are contradicted within the documents. One is "
        "left open. Two more are reported without a verdict.",
        "The path is too narrow.",
    )


def test_a_review_of_nothing_says_so_in_one_sentence() -> None:
    assert len(review().verdict) == 1
    assert "Nothing" in review().verdict[0]


def test_a_very_long_finding_does_not_flood_the_verdict() -> None:
    shown = review(aspect("A", finding("failed", "word " * 200)))
    assert all(len(sentence) < 200 for sentence in shown.verdict)


def test_filters_leave_what_they_name() -> None:
    open_point = {"check": "x", "requirement": "X", "reason": "Not read."}
    shown = review(
        aspect("A", finding("met"), finding("failed")), aspect("B", assessed="no", not_assessed=[open_point])
    )
    first, second = shown.aspects
    assert (first.state, second.state) == ("problems", "open")
    assert [point.finding.outcome for point in first.shown("met")] == ["met"]
    assert [one.aspect.name for one in shown.aspects if one.answers("open")] == ["B"]
    assert [one.aspect.name for one in shown.aspects if one.answers("problems")] == ["A"]


def test_a_judged_review_puts_first_what_its_conclusion_names_and_says_it_in_its_words() -> None:
    grave = finding("failed", "grave", essential=True)
    named = finding("partly", "named").model_copy(update={"check": "a.named"})
    sentences = [
        {"text": "A scheme of 200 homes."},
        {"text": "The path is too narrow to share.", "rests_on": ["a.named"]},
        {"text": "word " * 100, "rests_on": ["c"]},
        {"text": "A fourth.", "rests_on": ["c"]},
    ]
    shown = review(aspect("A", grave, named), conclusion={"summary": sentences, "main": ["a.named", "gone"]})
    assert [point.finding.text for point in shown.main] == ["named", "grave"]
    assert len(shown.verdict) == 3
    assert shown.verdict[1] == "The path is too narrow to share."
    assert len(shown.verdict[2]) < 250
