"""Search of passages in a real Chroma and a real lexical index: exact, filtered, fused (P16, P17, D9)."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.passages.fusion import DEFAULT_ALPHA
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.search import PassageIndex, SearchMode
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


@pytest.fixture(scope="module")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    command = [
        Path(sys.executable).with_name("chroma"),
        "run",
        "--path",
        tmp_path_factory.mktemp("chroma"),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not _answers(port):
        assert time.monotonic() < deadline, "chroma run did not start"
        time.sleep(0.2)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=["embedded", "served"])
def index(request: pytest.FixtureRequest, settings: Settings, embedding: EmbeddingService) -> Iterator[PassageIndex]:
    if request.param == "served":
        settings = load_settings(chroma_url=request.getfixturevalue("chroma_url"))
    with ChromaStore(settings, "documents") as store:
        collection = store.collection("passages", embedding.fingerprint())
        ids, texts = list(PASSAGES), [text for _, text in PASSAGES.values()]
        collection.upsert(
            ids, embedding.embed_batch(texts), texts, [{"group": group} for group, _ in PASSAGES.values()]
        )
        lexical = LexicalIndex(None)
        for group in "abc":
            lexical.replace(group, [(i, text) for i, (g, text) in PASSAGES.items() if g == group])
        yield PassageIndex(collection, lexical, embedding)


def test_semantic_scores_are_cosines_to_four_places_and_ties_go_by_id(
    index: PassageIndex, embedding: EmbeddingService
) -> None:
    query = "Where can I leave my bike?"
    hits = index.search(query, 10)
    assert len(hits) == len(PASSAGES)
    for hit in hits:
        cosine = float(np.dot(embedding.embed(query), embedding.embed(hit.text)))
        assert hit.relevance_score == pytest.approx(max(0.0, cosine), abs=6e-5)
        assert round(hit.relevance_score, 4) == hit.relevance_score
        assert hit.score is None
        assert hit.metadata["group"] == PASSAGES[hit.id][0]
    ranked = [(-hit.relevance_score, hit.id) for hit in hits]
    assert ranked == sorted(ranked)
    assert hits[0].id == "a3"
    same = [hit.id for hit in hits if hit.text.startswith("Secure")]
    assert same == ["a1", "b3"]


def test_hybrid_ranks_by_the_fused_score_and_keeps_the_cosine_p17(index: PassageIndex) -> None:
    semantic = {hit.id: hit.relevance_score for hit in index.search("SLE4", 10)}
    hits = index.search("SLE4", 10, mode="hybrid")
    assert hits[0].id == "b1"
    assert {hit.id: hit.relevance_score for hit in hits} == semantic
    scores = [hit.score for hit in hits if hit.score is not None]
    assert len(scores) == len(hits)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert hits[0].score is not None
    assert hits[0].score > 0.5
    assert all(hit.score == pytest.approx(DEFAULT_ALPHA * hit.relevance_score, abs=1e-4) for hit in hits[1:])


def test_hybrid_has_what_neither_word_nor_rank_would_hide(index: PassageIndex) -> None:
    """What has no word in common is found by its meaning, though the words of others matched."""
    ids = [hit.id for hit in index.search("cycle storage", 3, mode="hybrid")]
    assert ids == ["a1", "b3", "a3"]


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_filter_gives_k_of_those_that_satisfy_it_p16(index: PassageIndex, mode: SearchMode) -> None:
    hits = index.search("cycle parking", 3, {"group": "a"}, ["a"], mode)
    assert {hit.id for hit in hits} == {"a1", "a2", "a3"}
    hits = index.search("cycle parking", 2, {"group": {"$in": ["b", "c"]}}, ["b", "c"], mode)
    assert hits[0].id == "b3"
    assert len(hits) == 2
    assert index.search("cycle parking", 3, {"group": "nowhere"}, ["nowhere"], mode) == []


def test_words_of_passages_outside_the_filter_do_not_count(index: PassageIndex) -> None:
    """The lexical search may be wider than the filter; the answer and its scores are not."""
    narrow = index.search("cycle parking", 3, {"group": "b"}, ["b"], "hybrid")
    wide = index.search("cycle parking", 3, {"group": "b"}, None, "hybrid")
    assert [hit.id for hit in wide] == [hit.id for hit in narrow]
    assert {hit.metadata["group"] for hit in wide} == {"b"}


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_no_results_are_wanted_or_no_words_match(index: PassageIndex, mode: SearchMode) -> None:
    assert index.search("cycle", 0, mode=mode) == []
    assert len(index.search("zzqx", 4, mode=mode)) == 4


def test_an_empty_query_or_an_unknown_mode_is_refused(index: PassageIndex) -> None:
    with pytest.raises(ValueError, match="empty"):
        index.search("  ", 3)
    with pytest.raises(ValueError, match="mode='fuzzy'"):
        index.search("cycle", 3, mode="fuzzy")  # type: ignore[arg-type]


def test_reciprocal_ranks_can_be_chosen(index: PassageIndex) -> None:
    hits = index.search("secure cycle parking", 3, mode="hybrid", fusion="rrf")
    assert [hit.id for hit in hits][:2] == ["a1", "b3"]
    assert hits[0].score == hits[1].score == 1.0
