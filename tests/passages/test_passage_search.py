"""One hybrid search over every kind of store: exact, filtered, fused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from trigpoint.config import load_settings
from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.fusion import DEFAULT_ALPHA, FusionMethod
from trigpoint.passages.model import Hit, Passage, Question, Rules, Where
from trigpoint.passages.search import SearchMode
from trigpoint.storage.chroma import ChromaStore
from trigpoint.text.embed import EmbeddingService

PASSAGES = {
    "a1": ("a", "Secure and covered cycle parking shall be provided for every dwelling."),
    "a2": ("a", "The flood risk assessment finds the site to be in Flood Zone 1."),
    "a3": ("a", "Bicycles can be stored in the shed of each house."),
    "b1": ("b", "Policy SLE4 seeks improved transport and connections."),
    "b2": ("b", "Trees and hedgerows along the boundary will be retained."),
    "b3": ("b", "Secure and covered cycle parking shall be provided for every dwelling."),
    "c1": ("c", "Noise from the railway line was measured over three days."),
}


Ask = Callable[..., list[Hit]]


@pytest.fixture(scope="module", params=["embedded", "served"])
def ask(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingService
) -> Iterator[Ask]:
    """Ask a store that holds the passages."""
    folder = tmp_path_factory.mktemp("search")
    url = request.getfixturevalue("chroma_url") if request.param == "served" else None
    settings = load_settings(trigpoint_data_dir=folder, chroma_url=url)
    rules = Rules(document_key="group", section=lambda passage: passage.id)  # no neighbours
    with ChromaStore(settings, "documents") as store:
        collection = ChromaPassages(store, folder, "passages", "passages_ledger", rules, embedding.fingerprint)
        vectors = embedding.embed_batch([text for _, text in PASSAGES.values()])
        passages = [
            Passage(i, group, n, text, {"group": group, "chunk_index": n}, vectors[n])
            for n, (i, (group, text)) in enumerate(PASSAGES.items())
        ]
        collection.write(passages, replace=["a", "b", "c"])

        def asked(
            query: str,
            k: int,
            groups: Sequence[str] | None = None,
            mode: SearchMode = "semantic",
            fusion: FusionMethod = "convex",
        ) -> list[Hit]:
            words = query if mode == "hybrid" else None
            return collection.search(Question(embedding.embed(query), k, words, Where.of(groups), fusion))

        yield asked
        collection.close()


def test_semantic_scores_are_cosines_to_four_places_and_ties_go_by_id(ask: Ask, embedding: EmbeddingService) -> None:
    query = "Where can I leave my bike?"
    hits = ask(query, 10)
    assert len(hits) == len(PASSAGES)
    for hit in hits:
        cosine = float(np.dot(embedding.embed(query), embedding.embed(hit.text)))
        assert hit.cosine == pytest.approx(max(0.0, cosine), abs=6e-5)
        assert round(hit.cosine, 4) == hit.cosine
        assert hit.fused is None
        assert hit.metadata["group"] == PASSAGES[hit.id][0]
    ranked = [(-hit.cosine, hit.id) for hit in hits]
    assert ranked == sorted(ranked)
    assert hits[0].id == "a3"
    same = [hit.id for hit in hits if hit.text.startswith("Secure")]
    assert same == ["a1", "b3"]


def test_hybrid_ranks_by_the_fused_score_and_keeps_the_cosine_p17(ask: Ask) -> None:
    semantic = {hit.id: hit.cosine for hit in ask("SLE4", 10)}
    hits = ask("SLE4", 10, mode="hybrid")
    assert hits[0].id == "b1"
    assert {hit.id: hit.cosine for hit in hits} == semantic
    scores = [hit.fused for hit in hits if hit.fused is not None]
    assert len(scores) == len(hits)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert hits[0].score > 0.5
    assert all(hit.score == pytest.approx(DEFAULT_ALPHA * hit.cosine, abs=1e-4) for hit in hits[1:])


def test_hybrid_has_what_neither_word_nor_rank_would_hide(ask: Ask) -> None:
    """What has no word in common is found by its meaning, though the words of others matched."""
    ids = [hit.id for hit in ask("cycle storage", 3, mode="hybrid")]
    assert ids == ["a1", "b3", "a3"]


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_filter_gives_k_of_those_that_satisfy_it_p16(ask: Ask, mode: SearchMode) -> None:
    hits = ask("cycle parking", 3, ["a"], mode)
    assert {hit.id for hit in hits} == {"a1", "a2", "a3"}
    hits = ask("cycle parking", 2, ["b", "c"], mode)
    assert hits[0].id == "b3"
    assert len(hits) == 2
    assert ask("cycle parking", 3, ["nowhere"], mode) == []


def test_a_score_does_not_depend_on_which_other_passages_the_filter_lets_through(ask: Ask) -> None:
    wide = {hit.id: hit.score for hit in ask("cycle parking", 10, mode="hybrid")}
    narrow = ask("cycle parking", 10, ["b"], "hybrid")
    assert {hit.id for hit in narrow} == {"b1", "b2", "b3"}
    assert {hit.id: hit.score for hit in narrow} == {i: score for i, score in wide.items() if i.startswith("b")}


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_no_results_are_wanted_or_no_words_match(ask: Ask, mode: SearchMode) -> None:
    assert ask("cycle", 0, mode=mode) == []
    assert len(ask("zzqx", 4, mode=mode)) == 4


def test_reciprocal_ranks_can_be_chosen(ask: Ask) -> None:
    hits = ask("secure cycle parking", 3, mode="hybrid", fusion="rrf")
    assert [hit.id for hit in hits][:2] == ["a1", "b3"]
    assert hits[0].score == hits[1].score == 1.0
