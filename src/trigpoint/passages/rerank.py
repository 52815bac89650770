"""Orders the best passages by a cross-encoder, which reads the question and each passage together.

Off unless RERANKER_MODEL_PATH names a folder with `model.onnx` and `tokenizer.json`. No model is shipped.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trigpoint.config import Settings
from trigpoint.errors import ModelMissing
from trigpoint.passages.model import Hit, Question
from trigpoint.passages.search import PLACES
from trigpoint.passages.store import PassageStore
from trigpoint.text.onnx import onnx_runtime

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CANDIDATES = 30  # read by the model; those below keep their order
_WINDOW = 512  # tokens of question and passage together
_FILES = ("model.onnx", "tokenizer.json")
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class Reranker:
    """A cross-encoder, loaded on first use. Safe to call from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how likely each text answers the question, 0 to 1. Raise ModelMissing if the model cannot be used."""
        with self._loading:
            if self._loaded is None:
                self._loaded = _Model(self._folder)
        return [self._loaded.score(question, text) for text in texts]


def shared_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name, one for each folder and process; None if they name none."""
    path = settings.reranker_model_path
    return None if path is None else _of_folder(path.expanduser().absolute())


def best_passages(store: PassageStore, question: Question, reranker: Reranker | None) -> list[Hit]:
    """Return the store's answer; that of a hybrid search in the reranker's order, with its scores, if there is one."""
    if reranker is None or question.words is None or question.k < 1:
        return store.search(question)
    hits = store.search(replace(question, k=max(question.k, CANDIDATES)))
    scores = [hit.score for hit in hits]
    places = reranked(reranker, question.words, [hit.text for hit in hits], scores)
    return [replace(hits[place.was], fused=round(place.score, PLACES)) for place in places[: question.k]]


class Place(NamedTuple):
    """The new place of a passage of the old order, and its score there."""

    was: int
    score: float


def reranked(reranker: Reranker, question: str, texts: Sequence[str], scores: Sequence[float]) -> list[Place]:
    """Return the new order of passages that are given best first.

    The first ones are scored by the model. The others stay behind them in their order, each with its share of the
    lowest of those scores, so that scores never rise from one place to the next.
    """
    read = reranker.scores(question, texts[:CANDIDATES])
    first = sorted((Place(was, score) for was, score in enumerate(read)), key=lambda place: -place.score)
    lowest = first[-1].score if first else 1.0
    rest = [Place(was, lowest * scores[was]) for was in range(len(read), len(texts))]
    return [*first, *rest]


@cache
def _of_folder(folder: Path) -> Reranker:
    return Reranker(folder)


class _Model:
    def __init__(self, folder: Path) -> None:
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing:
            raise _unusable(folder, f"has no {' and no '.join(missing)}")
        self._tokenizer = _open_tokenizer(folder)
        self._session = _open_session(folder)
        self._inputs = {given.name for given in self._session.get_inputs()}
        if not {"input_ids"} <= self._inputs <= _KNOWN_INPUTS:
            raise _unusable(folder, f"takes {', '.join(sorted(self._inputs))}, which is not a cross-encoder's input")

    def score(self, question: str, text: str) -> float:
        pair = self._tokenizer.encode(question, text)
        given = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        return _probability(np.asarray(self._session.run(None, feed)[0], dtype=np.float64).ravel())


def _open_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library raises plain Exception
        raise _unusable(folder, f"has a tokenizer.json that cannot be read ({error})") from error
    tokenizer.enable_truncation(_WINDOW)
    tokenizer.no_padding()
    return tokenizer


def _open_session(folder: Path) -> Any:
    onnxruntime = onnx_runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(
            str(folder / "model.onnx"), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has a class for every way in which a file can be wrong
        raise _unusable(folder, f"has a model.onnx that cannot be loaded ({error})") from error


def _probability(logits: NDArray[np.float64]) -> float:
    """Return the logistic function of one output; of two, no and yes, the share of yes."""
    margin = logits[0] if len(logits) == 1 else logits[1] - logits[0]
    return float(1 / (1 + np.exp(-np.clip(margin, -500, 500))))


def _unusable(folder: Path, problem: str) -> ModelMissing:
    return ModelMissing(
        f"RERANKER_MODEL_PATH={folder} {problem}. Name a folder with model.onnx and tokenizer.json of a cross-encoder, "
        "or leave the setting out"
    )
