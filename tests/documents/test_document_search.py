"""Search, text and deletion: FR-002, FR-003, D4, D9, P16, P17."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from document_bench import CYCLE, NOISE, REF, Bench, make_pdf, prose

from trigpoint.config import Settings
from trigpoint.documents.models import RegisteredDocument
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore
from trigpoint.errors import DocumentNotFound, NoChunks
from trigpoint.passages.model import Passage
from trigpoint.text.chunk import document_text


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.fixture
def two(bench: Bench) -> Bench:
    bench.add(make_pdf(bench.folder / "Transport Assessment.pdf", [CYCLE, NOISE]), ref="25/01178/REM")
    bench.add(make_pdf(bench.folder / "Noise Assessment.pdf", [NOISE]), ref="25/01178/REM")
    bench.add(make_pdf(bench.folder / "Noise Survey.pdf", [NOISE + " Again."]), ref="24/00002/F")
    return bench


def test_results_carry_the_contracts_fields_and_come_best_first(two: Bench):
    results = two.search("how loud is the traffic")
    scores = [passage.relevance_score for passage in results]
    assert len(results) == 3
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 and round(score, 4) == score for score in scores)
    dumped = results[0].model_dump()
    assert list(dumped) == ["chunk_id", "text", "relevance_score", "metadata"]
    assert list(dumped["metadata"]) == [
        "application_ref",
        "document_id",
        "source_file",
        "document_type",
        "page_numbers",
        "chunk_index",
        "total_chunks",
        "extraction_method",
        "char_count",
        "word_count",
    ]


def test_filters_narrow_alone_and_together(two: Bench):
    for mode in ("semantic", "hybrid"):

        def found(mode=mode, **filters):
            passages = two.search("noise", mode=mode, **filters)
            return sorted((p.metadata.application_ref, p.metadata.document_type) for p in passages)

        mine, theirs = ("25/01178/REM", "noise_assessment"), ("24/00002/F", "noise_assessment")
        transport = ("25/01178/REM", "transport_assessment")
        assert found() == sorted([mine, theirs, transport])
        assert found(application_ref=REF) == sorted([mine, transport])
        assert found(document_types=["noise_assessment"]) == sorted([mine, theirs])
        assert found(application_ref=REF, document_types=["noise_assessment", "elevation"]) == [mine]
        assert found(document_types=[]) == found()
        assert found(application_ref="99/99999/X") == []
        assert found(document_types=["unknown"]) == []


def test_p17_hybrid_ranks_by_a_fused_score_and_keeps_the_cosine(two: Bench):
    query = "covered cycle parking spaces"
    semantic = {p.chunk_id: p.relevance_score for p in two.search(query)}
    hybrid = two.search(query, mode="hybrid")
    assert "cycle" in hybrid[0].text
    scores = [p.score for p in hybrid]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {p.chunk_id: p.relevance_score for p in hybrid} == semantic


def test_p17_the_lexical_index_is_rebuilt_when_it_is_missing_or_behind(embedded: Settings, processor):
    bench = Bench(embedded, processor)
    bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE]))
    gone = bench.add(make_pdf(bench.folder / "b.pdf", [NOISE]))
    expected = bench.search("cycle parking", mode="hybrid", document_types=["other"])
    folder = embedded.chroma_dir("documents") / "lexical"
    bench.store.close()

    shutil.rmtree(folder)
    bench = Bench(embedded, processor)
    assert bench.search("cycle parking", mode="hybrid", document_types=["other"]) == expected
    bench.store.passages.lexical.remove(gone.document_id)
    bench.store.passages.lexical.replace("a stranger", [("stranger_000", "cycle parking")])
    bench.store.close()

    bench = Bench(embedded, processor)
    again = bench.search("cycle parking", mode="hybrid", document_types=["other"])
    assert [p.chunk_id for p in again] == [p.chunk_id for p in expected]
    for passage, before in zip(again, expected, strict=True):  # the index counts removed rows until it tidies up
        assert passage.score == pytest.approx(before.score, abs=0.1)
    assert set(bench.store.passages.lexical.groups()) == set(bench.store.registry.rows())
    bench.store.close()


def test_a_damaged_lexical_index_is_rebuilt(embedded: Settings, processor):
    bench = Bench(embedded, processor)
    bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE]))
    expected = bench.search("cycle parking", mode="hybrid")
    bench.store.close()
    for file in (embedded.chroma_dir("documents") / "lexical").iterdir():
        if file.name == "meta.json":
            file.write_bytes(b"{ damaged")
    bench = Bench(embedded, processor)
    assert bench.search("cycle parking", mode="hybrid") == expected
    bench.store.close()


def test_equal_scores_are_ordered_by_chunk_id(bench: Bench):
    for ref in ("25/00003/F", "25/00001/F", "25/00002/F"):
        bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE]), ref=ref)
    ids = [passage.chunk_id for passage in bench.search("cycle parking")]
    assert ids == sorted(ids)
    assert len(ids) == 3


def test_no_more_than_max_results_come_back(bench: Bench):
    outcome = bench.add(make_pdf(bench.folder / "a.pdf", [prose("statement", 60)]))
    assert len(bench.search("item", max_results=2)) == 2
    assert len(bench.search("item", max_results=1000)) == outcome.chunks_created > 2


# --- text and deletion


def test_d4_the_text_reads_as_the_document_does_and_nothing_stands_twice(bench: Bench):
    table = "\n".join("0 0 0 0 0 12 12 12 0 0 ......................... 12" for _ in range(60))
    pages = [prose("statement", 30), table, CYCLE, table]
    path = make_pdf(bench.folder / "a.pdf", pages)
    outcome = bench.add(path)
    row, chunk_count, text = bench.store.text_of(outcome.document_id)
    source = document_text(bench.ingest.processor.extract(path).pages)
    assert squeezed(text) == squeezed(source)
    assert (row.document_id, chunk_count) == (outcome.document_id, outcome.chunks_created)
    assert chunk_count > 3


def test_d4_holds_for_a_document_that_another_client_wrote(bench: Bench):
    outcome = bench.add(make_pdf(bench.folder / "a.pdf", [prose("statement", 60)]))
    _, _, text = bench.store.text_of(outcome.document_id)
    bench.layout.delete([outcome.document_id])
    assert squeezed(bench.store.text_of(outcome.document_id)[2]) == squeezed(text)


def test_the_text_of_an_unknown_document_is_not_found(bench: Bench):
    with pytest.raises(DocumentNotFound, match=r"^Document not found: 25_01178_REM_a1b2c3$"):
        bench.store.text_of("25_01178_REM_a1b2c3")


def test_a_document_whose_passages_are_gone_has_no_chunks(bench: Bench):
    bench.store.registry.register(
        RegisteredDocument("25_01178_REM_a1b2c3", "/x.pdf", "a1b2c3", REF, "other", 2, "now", "ocr", False)
    )
    with pytest.raises(NoChunks):
        bench.store.text_of("25_01178_REM_a1b2c3")


def test_a_deleted_document_is_gone_everywhere_and_can_come_back(two: Bench):
    (transport, _) = two.store.registry.of_application(REF)
    assert two.store.delete_document(transport.document_id) == transport.chunk_count
    assert all(p.metadata.document_id != transport.document_id for p in two.search("cycle parking", max_results=50))
    assert transport.document_id not in two.store.passages.lexical.groups()
    assert two.layout.get(ids=[transport.document_id]) == []
    with pytest.raises(DocumentNotFound):
        two.store.text_of(transport.document_id)
    with pytest.raises(DocumentNotFound):
        two.store.delete_document(transport.document_id)
    assert two.add(Path(transport.file_path)).status == "success"


def test_a_removal_that_was_cut_off_after_its_first_step_is_completed_by_the_next(
    two: Bench, monkeypatch: pytest.MonkeyPatch
):
    (transport, _) = two.store.registry.of_application(REF)
    with monkeypatch.context() as crash:
        crash.setattr(two.store.passages, "delete", lambda document_id: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            two.store.delete_document(transport.document_id)
    assert two.store.delete_document(transport.document_id) == transport.chunk_count
    assert two.store.passages.content(transport.document_id) is None, "its text may not stay behind"
    with pytest.raises(DocumentNotFound):
        two.store.delete_document(transport.document_id)


def meanwhile(work: Callable[[], object]) -> threading.Thread:
    """Let another caller go as far as it can."""
    other = threading.Thread(target=work)
    other.start()
    other.join(3)
    return other


def test_an_ingest_during_a_removal_leaves_the_document_whole(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    document_id = bench.add(path).document_id
    delete, others = bench.store.passages.delete, []

    def slowly(*args, **more):
        others.append(meanwhile(lambda: bench.add(path)))
        return delete(*args, **more)

    monkeypatch.setattr(bench.store.passages, "delete", slowly)
    bench.store.delete_document(document_id)
    others[0].join()
    assert bench.store.registry.get(document_id) is not None
    assert bench.store.has_passages(document_id)


def test_a_removal_during_an_ingest_leaves_no_row_without_passages(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    path = make_pdf(bench.folder / "a.pdf", [CYCLE])
    register, others = bench.store.registry.register, []

    def slowly(row: RegisteredDocument) -> RegisteredDocument:
        others.append(meanwhile(lambda: bench.store.delete_document(row.document_id)))
        return register(row)

    monkeypatch.setattr(bench.store.registry, "register", slowly)
    document_id = bench.add(path).document_id
    others[0].join()
    assert bench.store.registry.get(document_id) is None
    assert not bench.store.has_passages(document_id)


def test_the_type_of_a_document_that_was_removed_meanwhile_is_not_corrected(bench: Bench):
    document_id = bench.add(make_pdf(bench.folder / "a.pdf", [CYCLE])).document_id
    row = bench.store.registry.get(document_id)
    bench.store.delete_document(document_id)
    bench.store.retype(row, "site_plan")
    assert bench.store.registry.get(document_id) is None


# --- P16: exact under filters


class HashedEmbedding:
    """Vectors that depend on the text alone and fall anywhere, so that nothing but arithmetic decides a rank."""

    def embed(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=384).astype(np.float32)
        return vector / np.linalg.norm(vector)

    def fingerprint(self) -> str:
        return "hashed"


def fill(store: DocumentStore, applications: int, chunks_each: int) -> dict[str, tuple[list[str], np.ndarray]]:
    """Documents of random vectors, written as an ingest writes them."""
    rng = np.random.default_rng(7)
    written = {}
    for number in range(applications):
        ref, document_id = f"25/{number:05d}/F", f"25_{number:05d}_F_abcdef"
        vectors = rng.normal(size=(chunks_each, 384)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        ids = [f"{document_id}_001_{i:03d}" for i in range(chunks_each)]
        metadatas = [
            {
                "application_ref": ref,
                "document_id": document_id,
                "source_file": "a.pdf",
                "document_type": "other",  # the row decides
                "page_numbers": "1",
                "chunk_index": i,
                "total_chunks": chunks_each,
                "extraction_method": "text_layer",
                "char_count": 10,
                "word_count": 2,
            }
            for i in range(chunks_each)
        ]
        kind = "site_plan" if number % 2 else "other"
        row = RegisteredDocument(document_id, "/a.pdf", "abcdef", ref, kind, chunks_each, "", "text_layer", False)
        passages = [
            Passage(ids[i], document_id, i, f"chunk {i} of {ref}", metadatas[i], vectors[i]) for i in range(chunks_each)
        ]
        assert store.write(row, passages, None, lambda: False)
        written[ref] = (ids, vectors)
    return written


def assert_exact(settings: Settings, applications: int, chunks_each: int) -> None:
    embedding = HashedEmbedding()
    with DocumentStore(settings, embedding) as store:
        written = fill(store, applications, chunks_each)
        search = DocumentSearch(store).search
        for number, (ref, (ids, vectors)) in enumerate(written.items()):
            query = f"question {number}"
            cosines = np.clip(vectors.astype(np.float64) @ embedding.embed(query).astype(np.float64), 0, 1).round(4)
            expected = sorted(zip(ids, cosines.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))
            found = [(p.chunk_id, p.relevance_score) for p in search(query, application_ref=ref)]
            assert [score for _, score in found] == pytest.approx([score for _, score in expected[:10]], abs=1.01e-4)
            assert {i for i, score in expected if score > found[-1][1] + 2e-4} <= {i for i, _ in found}
            assert len(found) == 10
            plans = search(query, application_ref=ref, document_types=["site_plan"], max_results=chunks_each)
            assert len(plans) == (chunks_each if number % 2 else 0)
            assert {plan.metadata.document_type for plan in plans} <= {"site_plan"}


def test_p16_a_filtered_search_equals_brute_force(settings: Settings):
    assert_exact(settings, applications=20, chunks_each=60)


@pytest.mark.slow
def test_p16_a_filtered_search_equals_brute_force_over_20_000_chunks_of_200_applications(settings: Settings):
    assert_exact(settings, applications=200, chunks_each=100)
