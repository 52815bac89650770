"""A cross-encoder that the user supplies orders the best passages. The model here counts one word."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_cross_encoder import make_model

from trigpoint.config import load_settings
from trigpoint.errors import ModelMissing
from trigpoint.passages.rerank import CANDIDATES, Reranker, reranked, shared_reranker


@pytest.mark.parametrize("outputs", [1, 2])
def test_question_and_passage_are_read_together(tmp_path: Path, outputs: int) -> None:
    reranker = Reranker(make_model(tmp_path, outputs))
    none, one, two = reranker.scores("theodolite theodolite ?", ["a pond", "a theodolite", "theodolite by theodolite"])
    assert 0 < none < 0.55 < one < two < 1


def test_the_best_are_ordered_by_the_model_and_scores_never_rise(tmp_path: Path) -> None:
    texts = ["a pond"] * (CANDIDATES + 2)
    texts[7], texts[3], texts[-1] = "theodolite theodolite", "a theodolite", "theodolite theodolite theodolite"
    fused = [0.9 - 0.01 * place for place in range(len(texts))]
    places = reranked(Reranker(make_model(tmp_path)), "which instrument", texts, fused)
    order = [place.was for place in places]
    assert order[:3] == [7, 3, 0]  # equal ones stay in their order
    assert order[-2:] == [CANDIDATES, CANDIDATES + 1]  # not read: too far down
    scores = [place.score for place in places]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_nothing_found_needs_no_order(tmp_path: Path) -> None:
    assert reranked(Reranker(make_model(tmp_path)), "anything", [], []) == []


def test_there_is_no_reranker_unless_the_settings_name_one(tmp_path: Path) -> None:
    assert shared_reranker(load_settings(reranker_model_path=None)) is None
    named = load_settings(reranker_model_path=make_model(tmp_path))
    assert shared_reranker(named) is shared_reranker(named)


def test_a_model_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match=r"RERANKER_MODEL_PATH=.* has no model\.onnx and no tokenizer\.json"):
        Reranker(tmp_path).scores("a", ["b"])
    make_model(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelMissing, match=r"model\.onnx that cannot be loaded"):
        Reranker(tmp_path).scores("a", ["b"])
