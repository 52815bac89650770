"""A letter has one voice, says what consultees recommend, and never makes a ground of what is met."""

from __future__ import annotations

import pytest
from review_samples import evidence_of_text, result_of
from written_samples import written_evidence

from trigpoint.review.concluding import conclude
from trigpoint.review.consultees import recommendations
from trigpoint.review.draft import Held
from trigpoint.review.findings import Finding
from trigpoint.review.letter import Ground, Letter, Sender
from trigpoint.review.letter_draft import draft_letter
from trigpoint.review.letter_files import letter_text
from trigpoint.review.result import ReviewResult
from trigpoint.review.submitted import Cited, DraftConclusion, DraftFinding, DraftGround, SummarySentence, Verdict
from trigpoint.review.voice import in_voice

MIXED = "We object because our members cycle here; I was nearly hit, and it worries me. The path is well lit in Grade I land."


def test_a_person_says_i_and_a_group_says_we_throughout() -> None:
    assert in_voice(MIXED, plural=False) == (
        "I object because my members cycle here; I was nearly hit, and it worries me. The path is well lit in Grade I land."
    )
    assert in_voice(MIXED, plural=True) == (
        "We object because our members cycle here; we were nearly hit, and it worries us. The path is well lit in Grade I land."
    )
    assert in_voice("We are sure, as we’re here.", plural=False) == "I am sure, as I am here."
    assert in_voice("I am sure that I’ve seen it.", plural=True) == "We are sure that we’ve seen it."


def test_a_quotation_keeps_the_voice_of_whoever_said_it() -> None:
    said = "The council says “we object to our loss”, and we agree."
    assert in_voice(said, plural=False) == "The council says “we object to our loss”, and I agree."


@pytest.mark.parametrize(("organisation", "mine", "others"), [("", "I", "we"), ("Barton Cycle Group", "we", "I")])
def test_the_printed_letter_takes_the_voice_of_its_sender(organisation: str, mine: str, others: str) -> None:
    grounds = (
        Ground(id="a", text="We ask for more, and I mean it."),
        Ground(id="b", text="I think that we should act."),
    )
    letter = Letter(stance="object", grounds=grounds, sender=Sender(name="Ann Other", organisation=organisation))
    words = letter_text(letter).replace("’", " ").split()
    assert mine in [word if mine == "I" else word.lower() for word in words]
    assert others not in [word if others == "I" else word.lower() for word in words]


@pytest.mark.parametrize(
    ("name", "body", "position", "words"),
    [
        ("housing-hollins-fold", "Lancashire County Council", "against", "not able to support the application"),
        ("school-st-aldhelm", "Active Travel England", "against", "Deferral"),
        ("logistics-brackwater", "Leicestershire County Council", "undecided", "further information is required"),
        ("barn-tithe-lane", "Mereshire County Council", "no objection", "no objection subject to conditions"),
    ],
)
def test_the_letter_says_what_a_consultee_recommends(name: str, body: str, position: str, words: str) -> None:
    evidence = written_evidence(name)
    (said,) = recommendations(evidence)
    assert (said.body, said.position) == (body, position)
    assert words in said.quote
    review = result_of(evidence).review.model_copy(update={"consultees": (said,)})
    result = result_of(evidence).model_copy(update={"review": review})
    printed = letter_text(draft_letter(result))
    assert f"{body} wrote on " in printed or f"{body} gave its recommendation as “{words}" in printed
    assert words in letter_text(draft_letter(result))


def test_an_objection_tells_fairly_that_a_consultee_does_not_object() -> None:
    evidence = written_evidence("barn-tithe-lane")
    result: ReviewResult = result_of(evidence)
    letter = Letter(stance="object", grounds=(Ground(id="a", text="The store is too small."),))
    review = result.review.model_copy(update={"consultees": recommendations(evidence), "letter": letter})
    printed = letter_text(draft_letter(result.model_copy(update={"review": review})))
    assert "Mereshire County Council gave its recommendation as “no objection subject to conditions”" in printed


def _held(name: str, outcome: str) -> Held:
    finding = Finding.model_validate(
        {"check": f"cycle_parking-other-{name}", "requirement": "Stores", "outcome": outcome, "text": f"{name} text"}
    )
    given = DraftFinding(aspect="cycle_parking", outcome="failed", statement="A statement", requirement="Stores")
    return Held(given=given, verdict=Verdict(id=name, verdict="verified"), finding=finding)


def test_what_is_met_is_no_ground_of_objection() -> None:
    conclusion = DraftConclusion(
        summary=(SummarySentence(text="It is proposed."),),
        stance="object",
        letter=(
            DraftGround(
                text="The stores are too small for the homes.", rests_on=("F1", "F2"), asks="enlarge the stores"
            ),
            DraftGround(text="The stores are covered and welcome.", rests_on=("F2",), asks="keep them"),
            DraftGround(text="A welcome way through, were it open.", rests_on=("F1", "F2"), welcomes=True),
        ),
    )
    held = {"F1": _held("f1", "failed"), "F2": _held("f2", "met")}
    evidence = evidence_of_text("Nothing.")
    letter = conclude(conclusion, evidence=evidence, aspects=(), held=held, settled=frozenset(), model="m").letter
    assert letter is not None
    short, met, praised = letter.grounds
    assert (short.kind, short.rests_on) == ("shortfall", ("cycle_parking-other-f1",))
    assert (met.kind, met.ticked, met.asks) == ("strength", False, "")
    assert (praised.kind, praised.ticked) == ("strength", False)
    assert "welcome" not in letter_text(letter)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("No home shall be occupied until the stores shown on the plan have been built.", True),
        ("The stores shall be large.", False),
        ("Before occupation the applicant shall pay a contribution of £9,500.", False),
        ("Before occupation adequate stores shall be provided.", False),
    ],
)
def test_a_condition_names_its_trigger_and_asks_for_no_money(text: str, kept: bool) -> None:
    conclusion = DraftConclusion(
        summary=(SummarySentence(text="It is proposed."),),
        stance="object",
        conditions=(Cited(text=text, rests_on=("F1",)),),
    )
    evidence = evidence_of_text("Nothing but £9,500.")
    held = {"F1": _held("f1", "failed")}
    judged = conclude(conclusion, evidence=evidence, aspects=(), held=held, settled=frozenset(), model="m")
    assert judged.conclusion is not None
    assert bool(judged.conclusion.conditions) is kept
