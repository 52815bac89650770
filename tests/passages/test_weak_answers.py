"""A list of passages is called weak if nothing in it is likely to answer the question."""

from __future__ import annotations

import pytest

from trigpoint.passages.fusion import fuse
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.weak import is_weak
from trigpoint.text.embed import EmbeddingService

PLANNING = [
    "Secure and covered cycle parking shall be provided for every dwelling before first occupation.",
    "The flood risk assessment finds the site to be in Flood Zone 1, at low risk from rivers.",
    "Policy SLE4 seeks improved transport and connections between Bicester and its villages.",
    "Trees and hedgerows along the boundary will be retained and protected during construction.",
    "The junction of the A41 with Vendee Drive would operate within capacity in 2031.",
]


def test_near_in_meaning_or_in_words_is_enough() -> None:
    assert not is_weak([(0.2, 0.1), (0.6, 0.21)])
    assert not is_weak([(0.2, 0.4)])
    assert is_weak([(0.3, 0.2), (0.2, 0.1)])
    assert is_weak([(0.3, None)])
    assert not is_weak([(0.6, None)])
    assert not is_weak([])


@pytest.mark.parametrize(
    ("question", "weak"),
    [
        ("Where can residents leave their bicycles?", False),
        ("SLE4", False),  # no meaning to the model, but it is one of the words
        ("Vendee Drive capacity", False),
        ("How do I bake a chocolate cake?", True),
        ("Who won the Wimbledon final in 1998?", True),
    ],
)
def test_a_question_that_the_collection_does_not_answer_is_told_by_its_scores(
    question: str, weak: bool, embedding: EmbeddingService
) -> None:
    lexical = LexicalIndex(None)
    lexical.replace("plan", [(str(n), text) for n, text in enumerate(PLANNING)])
    vectors, vector = embedding.embed_batch(PLANNING), embedding.embed(question)
    cosines = {str(n): float(row @ vector) for n, row in enumerate(vectors)}
    fused = fuse(cosines, dict(lexical.search(question, 10)))
    assert is_weak((cosines[i], score) for i, score in fused.items()) is weak
