"""Text to vectors with all-MiniLM-L6-v2, run by onnxruntime without torch: mean-pooled, normalised, 384 dimensions.

One unpadded text per run and pooling in numpy, so that a text gives the same bits alone, in any batch and from any
thread. `weights.py` finds the model's files.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trigpoint.config import Settings
from trigpoint.errors import Cancelled, ModelMissing, shorten
from trigpoint.text.onnx import onnx_runtime
from trigpoint.text.weights import WAYS_OUT, Layout, ModelFiles, find_model, read_layout

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

DIMENSIONS = 384
_BATCH_NICENESS = 10
_MOST_KNOWN, _LONGEST_KNOWN = 1000, 1000  # questions whose vectors are kept, 1.5 kB each; characters of one
WINDOW = 256  # tokens that the model reads, its two special ones included
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_TYPE_TABLE = "embeddings.token_type_embeddings.weight"  # our graph uses its first row: all our tokens are of type 0
_GOLDEN_TEXT = "Significant development should be focused on locations which are or can be made sustainable."

Vector = NDArray[np.float32]
Progress = Callable[[int, int], None]


class EmbeddingService:
    """Embeds texts. The model is loaded on first use; every method may be called from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, text: str) -> Vector:
        """Return the vector of one text, read-only. Raises ValueError if it is empty, ModelMissing if there is no model.

        Short texts are remembered for a while: reviews put the same questions to every application.
        """
        _refuse_empty([text])
        return self._model.known(text) if len(text) <= _LONGEST_KNOWN else self._model.vector(text)

    def embed_batch(
        self,
        texts: Sequence[str],
        batch_size: int = 32,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Vector:
        """Return one row per text, in their order.

        After every `batch_size` texts, progress is reported. Raises Cancelled if asked to stop.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: expected 1 or more")
        texts = list(texts)
        _refuse_empty(texts)
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        with closing(self._model.vectors(texts, ahead=batch_size)) as coming:
            for done in range(len(texts)):
                if done % batch_size == 0 and cancelled is not None and cancelled():
                    raise Cancelled(f"Embedding was cancelled after {done} of {len(texts)} texts")
                vectors[done] = next(coming)
                if progress is not None and ((done + 1) % batch_size == 0 or done + 1 == len(texts)):
                    progress(done + 1, len(texts))
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, the two special ones included; the model reads at most `WINDOW`."""
        return len(self._model.tokenizer.encode(text))

    def fingerprint(self) -> str:
        """Return a text that changes whenever the vectors of the same texts may have changed.

        It is made of the weights, the versions, and the bits of a golden vector.
        """
        return self._model.fingerprint

    def model_files(self) -> ModelFiles:
        """Return the place where the model was found. Raises ModelMissing."""
        return self._model.files

    @property
    def _model(self) -> _Model:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _Model(find_model(self._settings))
        return self._loaded


class _Model:
    """The loaded graph, tokenizer and threads."""

    def __init__(self, files: ModelFiles) -> None:
        self.files = files
        self.tokenizer = _open_tokenizer(files)
        self._end = int(self.tokenizer.encode("").ids[-1])
        self._session, self._weights = _open_graph(files)
        self._threads = ThreadPoolExecutor(max_workers=_cores(), thread_name_prefix="embed", initializer=_give_way)
        self.known = lru_cache(_MOST_KNOWN)(self.vector)

    def vector(self, text: str) -> Vector:
        tokens = self._session.run(None, {"input_ids": self._ids(text)})[0]
        pooled = tokens.mean(axis=0, dtype=np.float32)
        vector = np.asarray(pooled / np.linalg.norm(pooled), dtype=np.float32)
        vector.flags.writeable = False
        return vector

    def vectors(self, texts: Iterable[str], ahead: int) -> Generator[Vector]:
        """Yield one vector per text, in order.

        At most `ahead` are under way at once, so that two callers share fairly.
        """
        running: deque[Future[Vector]] = deque()
        try:
            for text in texts:
                running.append(self._threads.submit(self.vector, text))
                if len(running) > ahead:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()

    def _ids(self, text: str) -> NDArray[np.int64]:
        ids = self.tokenizer.encode(text).ids
        if len(ids) > WINDOW:
            log.warning(
                "text of %d characters is %d tokens: truncated to the model's window of %d (%s)",
                len(text),
                len(ids),
                WINDOW,
                shorten(text, 40),
            )
            ids = [*ids[: WINDOW - 1], self._end]
        return np.asarray(ids, dtype=np.int64)

    @cached_property
    def fingerprint(self) -> str:
        import tokenizers

        with self.files.weights.open("rb") as file:
            weights = hashlib.file_digest(file, "sha256").hexdigest()
        golden = hashlib.sha256(self.vector(_GOLDEN_TEXT).tobytes()).hexdigest()
        versions = (
            f"onnxruntime-{onnx_runtime().__version__} numpy-{np.__version__} tokenizers-{tokenizers.__version__}"
        )
        return f"all-MiniLM-L6-v2 weights-{weights[:16]} {versions} golden-{golden[:16]}"


def _open_tokenizer(files: ModelFiles) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer: Tokenizer = Tokenizer.from_file(str(files.tokenizer))
    except Exception as error:  # the library raises nothing more specific
        raise ModelMissing(f"{files.tokenizer} cannot be read ({error}). {WAYS_OUT}") from error
    tokenizer.no_truncation()  # the file says 128; the model reads 256, and we cut there ourselves
    tokenizer.no_padding()
    return tokenizer


def _open_graph(files: ModelFiles) -> tuple[Any, list[Any]]:
    """Return our graph with the model's weights, and the objects that must be kept alive along with it.

    Each run uses one thread: texts are what runs in parallel.
    """
    onnxruntime = onnx_runtime()
    graph = resources.files("trigpoint.text").joinpath("model/minilm.onnx").read_bytes()
    layout = read_layout(files.weights)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    weights: list[Any] = []
    if layout.sha256.encode() in graph and not files.weights.is_symlink():
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(files.folder.resolve()))
    else:  # other offsets than the graph has, or a link, which onnxruntime does not follow: hand the tensors over
        names, weights = _mapped(files, layout)
        options.add_external_initializers(names, weights)
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"]), weights
    except Exception as error:  # onnxruntime's own exceptions share no useful base
        reason = str(error).splitlines()[0]
        raise ModelMissing(
            f"{files.weights} ({files.origin}) is not all-MiniLM-L6-v2 as we know it ({reason}). {WAYS_OUT}"
        ) from error


def _mapped(files: ModelFiles, layout: Layout) -> tuple[list[str], list[Any]]:
    """Return the tensors that the graph takes, mapped from the file."""
    ort_value = onnx_runtime().OrtValue
    content = np.memmap(files.weights, dtype=np.uint8, mode="r")
    names, values = [], []
    for name, tensor in layout.tensors.items():
        if tensor.dtype == "F32" and name.startswith(("embeddings.", "encoder.")):
            array = content[tensor.start : tensor.end].view(np.float32).reshape(tensor.shape)
            names.append(name)
            values.append(ort_value.ortvalue_from_numpy(array[0] if name == _TYPE_TABLE else array))
    return names, values


def _refuse_empty(texts: Sequence[str]) -> None:
    for index, text in enumerate(texts):
        if not text.strip():
            place = "" if len(texts) == 1 else f" (number {index} of {len(texts)})"
            raise ValueError(f"Cannot embed empty or whitespace-only text{place}")


def _give_way() -> None:
    """Lower this thread's priority, so that a question, embedded in its caller's own thread, comes before a batch."""
    if sys.platform == "linux":  # where every thread has its own priority
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + _BATCH_NICENESS))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_shared: dict[Path | None, EmbeddingService] = {}
_sharing = threading.Lock()


def shared_embedding(settings: Settings) -> EmbeddingService:
    """Return the one service of this process for this model path."""
    with _sharing:
        return _shared.setdefault(settings.embedding_model_path, EmbeddingService(settings))
