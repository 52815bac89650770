"""The quotations that prove a statement come before those that only belong to it."""

from __future__ import annotations

from trigpoint.review.citing import document_places
from trigpoint.review.deciding import deciding_first, proving
from trigpoint.review.findings import Citation, Finding
from trigpoint.review.overview import Point


def _cited(document: str, page: int, quote: str, **more: str) -> Citation:
    return Citation.model_validate(
        {"passage_id": quote, "document_id": document, "document": document, "pages": (page,), "quote": quote, **more}
    )


OFFER = _cited("Planning Statement.pdf", 3, "£120,000 towards resurfacing the greenway")
REQUEST = _cited("Highways Response.pdf", 2, "The County requests £240,000 towards surfacing and widening the greenway")
OTHER = _cited("Transport Assessment.pdf", 1, "A survey was made in May.")
TEXT = (
    "The applicant offers £120,000 for the greenway, while the County requests £240,000 for surfacing and widening it."
)


def test_the_quotation_with_most_of_a_statement_is_the_first() -> None:
    assert deciding_first(TEXT, (OTHER, OFFER, REQUEST)) == (REQUEST, OFFER, OTHER)


def test_the_second_quotation_is_the_one_that_adds_most_to_the_first() -> None:
    again = _cited("Addendum.pdf", 1, "The County requests £240,000 for widening the greenway")
    assert deciding_first(TEXT, (REQUEST, again, OFFER))[:2] == (REQUEST, OFFER)


def test_the_standard_comes_after_the_words_on_the_application() -> None:
    standard = _cited("Planning Statement.pdf", 2, f"Policy T1: {TEXT}", status="policy")
    assert deciding_first(TEXT, (standard, OFFER)) == (OFFER, standard)


def test_a_point_of_the_main_part_shows_the_deciding_quotation() -> None:
    finding = Finding(check="c", requirement="R", outcome="partly", text=TEXT, evidence=(OTHER, OFFER, REQUEST))
    assert Point(1, finding, None).deciding[0] == REQUEST


def test_five_documents_are_named_and_the_deciding_ones_are_among_them() -> None:
    others = [_cited(f"Paper {name}.pdf", 1, "A survey was made in May.") for name in "ABCDEF"]
    places = document_places(deciding_first(TEXT, [*others, OFFER, REQUEST]), 5)
    assert places.startswith("Highways Response, page 2; Planning Statement, page 3; ")
    assert places.count(";") == 4


def test_the_page_of_words_that_a_text_quotes_is_among_those_that_prove_it() -> None:
    pavements = _cited("Statement.pdf", 25, "wider pavements and highway works are proposed outside the boundary")
    terms = _cited("Statement.pdf", 82, "Highway works (to be scoped and agreed)")
    text = 'Wider pavements are proposed, but the head of terms for highway works is still "to be scoped and agreed".'
    assert set(proving(text, (pavements, terms), most=5)) == {pavements, terms}
    without = text.replace('"', "")
    assert proving(without, (pavements, terms), most=5) == (pavements,)
