"""A word that one passage alone contains leads to it before its neighbours, though they are found by the word too."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from passage_stores import MODEL, for_library, make_passage, sqlite
from tiny_cross_encoder import make_model

from trigpoint.passages.model import Passage, Question
from trigpoint.passages.rerank import Reranker, best_passages
from trigpoint.passages.store import PassageStore
from trigpoint.text.embed import EmbeddingService

SECTIONS, IN_SECTION = 12, 5
SUBJECTS = "The applicant|The council|The scheme|Each dwelling|The access|This policy|The road|A planning condition"
VERBS = "requires|provides|secures|supports|retains|will improve|should include|is served by"
OBJECTS = "cycle parking|the footway|a bus stop|open space|drainage|the hedgerow|a travel plan|safe crossings"
SYLLABLES = "bra|cle|dro|fin|gol|hum|jex|kip|lor|mav|nes|pud|qua|rix|sto|tem"


def sentence(choice: random.Random) -> str:
    return (
        f"{choice.choice(SUBJECTS.split('|'))} {choice.choice(VERBS.split('|'))} {choice.choice(OBJECTS.split('|'))}."
    )


def make_corpus() -> dict[str, Passage]:
    """Passages by the word that each of them alone contains, of lengths that differ."""
    choice = random.Random(3)
    words = choice.sample([f"{a}{b}{c}" for a in SYLLABLES.split("|") for b in SYLLABLES.split("|") for c in "aeo"], 60)
    corpus = {}
    for n, word in enumerate(words):
        sentences = [sentence(choice) for _ in range(choice.randint(2, 9))]
        sentences.insert(choice.randint(0, len(sentences)), f"It is known as the {word}.")
        made = make_passage(f"p{n:02d}", n, text=" ".join(sentences), path=(f"Section {n // IN_SECTION}",))
        corpus[word] = for_library(made)
    return corpus


CORPUS = make_corpus()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingService) -> Iterator[PassageStore]:
    passages = list(CORPUS.values())
    vectors = embedding.embed_batch([passage.text for passage in passages])
    with sqlite(tmp_path_factory.mktemp("unique")) as opened:
        opened.write([replace(p, vector=v) for p, v in zip(passages, vectors, strict=True)], model=MODEL)
        yield opened


@pytest.mark.parametrize("question", ["{}", "What does it say about {}?", "Where is the {} provided?"])
def test_the_passage_that_contains_the_word_comes_before_its_neighbours(
    store: PassageStore, embedding: EmbeddingService, question: str
) -> None:
    kept = 0
    for word, passage in CORPUS.items():
        asked = question.format(word)
        hits = store.search(Question(embedding.embed(asked), len(CORPUS), asked))
        section = [hit.id for hit in hits if hit.passage.metadata["doc"] == passage.metadata["doc"]]
        assert len(section) == IN_SECTION
        kept += section[0] == passage.id
    assert kept >= 58


def test_neighbours_are_found_by_the_word_too(store: PassageStore, embedding: EmbeddingService) -> None:
    word, passage = next(iter(CORPUS.items()))
    hits = {hit.id: hit for hit in store.search(Question(embedding.embed(word), 60, word))}
    assert hits["p01"].bm25 > 0
    assert hits["p01"].bm25 < hits[passage.id].bm25
    assert hits["p10"].bm25 == 0


def test_a_reranker_has_the_last_word_on_a_hybrid_answer(
    store: PassageStore, embedding: EmbeddingService, tmp_path: Path
) -> None:
    word = next(iter(CORPUS))
    reranker = Reranker(make_model(tmp_path, word=list(CORPUS)[2]))
    asked = Question(embedding.embed(word), 2, word)
    assert best_passages(store, asked, None)[0].id == "p00"
    first, second = best_passages(store, asked, reranker)
    assert (first.id, second.id) == ("p02", "p00")
    assert first.fused is not None
    assert 1 >= first.fused > (second.fused or 0) >= 0
    by_meaning = Question(embedding.embed(word), 2)
    assert best_passages(store, by_meaning, reranker) == best_passages(store, by_meaning, None)
