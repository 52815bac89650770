"""Trained readers: weights without words, the same from the same examples, and a statement placed by what it says."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.reading.training import fit_reader

from trigpoint.reading.documents import Document
from trigpoint.reading.facts import read_facts
from trigpoint.reading.linear import LinearReader, load_reader
from trigpoint.reading.profile import Profile
from trigpoint.reading.readers import Readers, shipped_readers
from trigpoint.reading.statements import document_statements
from trigpoint.reading.vocabulary import ASPECTS, PLACED_TOPICS, READ_STATUSES, aspects_of

EXAMPLES = [{"cycle": 1.0, "store": 1.0}, {"cycle": 1.0, "rack": 1.0}, {"bus": 1.0, "stop": 1.0}, {"bus": 1.0}] * 5
WANTED = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]] * 5)


def small_reader() -> LinearReader[str]:
    return fit_reader(("cycles", "buses"), EXAMPLES, WANTED, np.ones_like(WANTED))


def test_a_reader_learns_what_its_examples_show() -> None:
    on_cycles, on_buses = small_reader().chances({"cycle": 1.0, "store": 1.0})
    assert on_cycles > 0.8 > 0.2 > on_buses


def test_the_same_examples_give_the_same_weights() -> None:
    one, other = small_reader(), small_reader()
    assert all(np.array_equal(part, vars(other)[name]) for name, part in vars(one).items())


def test_features_that_were_never_seen_change_nothing() -> None:
    reader = small_reader()
    assert np.array_equal(reader.logits({"tram": 1.0}), reader.logits({}))


def test_a_feature_that_was_seen_once_is_not_learned() -> None:
    wanted = np.vstack([WANTED, [[1.0, 0.0]]])
    reader = fit_reader(("cycles", "buses"), [*EXAMPLES, {"Tithe Lane": 1.0}], wanted, np.ones((21, 2)))
    assert np.array_equal(reader.logits({"Tithe Lane": 1.0}), reader.logits({}))


def test_the_shipped_weights_are_numbers_for_named_aspects_topics_and_statuses() -> None:
    readers = shipped_readers()
    for reader in (readers.aspects, readers.topics, readers.statuses):
        parts = [part for name, part in vars(reader).items() if name != "heads"]
        assert all(part.dtype.kind in "uif" for part in parts)
        assert reader.weights.shape == (len(reader.hashes), len(reader.heads))
    assert set(readers.aspects.heads) <= set(ASPECTS)
    assert set(readers.topics.heads) <= set(PLACED_TOPICS)
    assert readers.statuses.heads == READ_STATUSES


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("Two-tier racks for 240 bicycles will be installed in the basement.", "cycle_parking"),
        ("The nearest bus stops are on Mill Road, 320 m from the centre of the site.", "public_transport"),
        ("A Travel Plan Coordinator will be appointed three months before first occupation.", "travel_planning"),
        ("A contribution of £120,000 will be paid towards the crossing of the A4074.", "off_site"),
    ],
)
def test_a_statement_is_quoted_under_its_aspect(text: str, aspect: str) -> None:
    document = Document(id="d1", name="Transport Statement.pdf", text=text)
    facts = read_facts(document_statements(document), Profile(), (document,))
    assert aspect in {name for fact in facts for name in aspects_of(fact.topic)}


@pytest.mark.parametrize(
    "text",
    [
        "The roof is to be covered in natural slate with lead flashings.",
        "Foul water will be discharged to the public sewer in Church Lane.",
        "No bats were recorded in the roof void during the survey in June.",
    ],
)
def test_a_statement_on_something_else_is_not_quoted(text: str) -> None:
    document = Document(id="d1", name="Design Statement.pdf", text=text)
    assert not read_facts(document_statements(document), Profile(), (document,))


def test_weights_for_names_that_are_gone_are_refused_with_the_way_out() -> None:
    gone = r"aspects.npz was trained on cycle_parking, which .* no longer has. Train the readers again"
    with pytest.raises(RuntimeError, match=gone):
        load_reader("aspects", ASPECTS[1:])


def test_an_aspect_without_trained_weights_is_found_by_its_rules() -> None:
    trained = shipped_readers()
    aspects = trained.aspects
    untrained = LinearReader(
        aspects.heads[1:],
        aspects.hashes,
        aspects.rarity,
        aspects.weights[:, 1:],
        aspects.steps[1:],
        aspects.biases[1:],
    )
    text = "Two-tier racks for 240 bicycles will be installed in the basement. The nearest bus stop is 320 m away."
    document = Document(id="d1", name="Transport Statement.pdf", text=text)
    statements = document_statements(document)
    facts = read_facts(statements, Profile(), (document,), Readers(untrained, trained.topics, trained.statuses))
    assert {(name, fact.relevance == 1.0) for fact in facts for name in aspects_of(fact.topic)} == {
        ("cycle_parking", True),
        ("public_transport", False),
    }
