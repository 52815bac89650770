"""Vectors of texts for benchmarks, kept in the folder that BENCH_CACHE names, so that a set is embedded once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trigpoint.text.embed import EmbeddingService, Vector


def vectors_of(texts: Sequence[str], embedding: EmbeddingService) -> Vector:
    """Return a row for each text. Without BENCH_CACHE they are computed every time."""
    folder = os.environ.get("BENCH_CACHE")
    if folder is None:
        return embedding.embed_batch(list(texts))
    kept = Path(folder) / f"{_key(texts, embedding)}.npy"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, embedding.embed_batch(list(texts)))
    vectors: Vector = np.load(kept)
    return vectors


def _key(texts: Sequence[str], embedding: EmbeddingService) -> str:
    digest = hashlib.sha256(embedding.fingerprint().encode())
    for text in texts:
        digest.update(b"\0" + text.encode())
    return digest.hexdigest()[:24]
