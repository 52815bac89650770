"""Linear readers over hashed features: small weights that `tools/train_reading.py` makes and the package carries.

A feature is known by its hash only, so that the weights hold no words of the documents they were learned from.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_LENGTH = 3.0  # of a statement's vector, so that long and short statements weigh the same
Scores = NDArray[np.float64]
Head = TypeVar("Head", bound=str)


@dataclass(frozen=True)
class LinearReader(Generic[Head]):
    """Logistic heads over the same features: one column of weights for each.

    `heads` names the columns, in order; `hashes` is sorted; `rarity` weighs a feature by how seldom it occurs; `steps`
    scale the whole-number weights.
    """

    heads: tuple[Head, ...]
    hashes: NDArray[np.uint32]
    rarity: NDArray[np.float16]
    weights: NDArray[np.int8]
    steps: NDArray[np.float32]
    biases: NDArray[np.float32]

    def logits(self, features: Mapping[str, float]) -> Scores:
        """Return one number for each head: above zero means that it is more likely than not."""
        rows, values = self.vector(features)
        weighted = self.weights[rows].astype(np.float64) * values[:, None]
        return np.asarray(weighted.sum(axis=0) * self.steps + self.biases, dtype=np.float64)

    def chances(self, features: Mapping[str, float]) -> Scores:
        """Return the chance of each head, from 0 to 1, each by itself."""
        return np.asarray(1 / (1 + np.exp(-self.logits(features))), dtype=np.float64)

    def vector(self, features: Mapping[str, float]) -> tuple[NDArray[np.intp], Scores]:
        """Return the rows of the features that are known, and their values."""
        return known_features(features, self.hashes, self.rarity)


def known_features(
    features: Mapping[str, float], hashes: NDArray[np.uint32], rarity: NDArray[np.float16]
) -> tuple[NDArray[np.intp], Scores]:
    """Return where features are in a sorted table of hashes, and their values as a vector of fixed length."""
    asked = np.fromiter((hash_of(name) for name in features), dtype=np.uint32, count=len(features))
    strength = np.fromiter(features.values(), dtype=np.float64, count=len(features))
    places = np.minimum(np.searchsorted(hashes, asked), len(hashes) - 1)
    known = hashes[places] == asked
    values = strength[known] * rarity[places[known]]
    length = float(np.sqrt((values * values).sum()))
    return places[known], values * (_LENGTH / length) if length else values


def hash_of(feature: str) -> int:
    """Return the number by which a feature is known."""
    return zlib.crc32(feature.encode())


def load_reader(name: str, vocabulary: tuple[Head, ...]) -> LinearReader[Head]:
    """Return a reader that ships with the package. Raise RuntimeError if it was trained on names that are gone.

    Names of the vocabulary that it was not trained on are not among its heads: only the rules find those.
    """
    with resources.files("trigpoint.reading").joinpath("weights", f"{name}.npz").open("rb") as file:
        stored = dict(np.load(file))
    trained = stored.pop("heads").tolist()
    if gone := [head for head in trained if head not in vocabulary]:
        raise RuntimeError(
            f"reading/weights/{name}.npz was trained on {', '.join(gone)}, which reading/vocabulary.py no longer has. "
            "Train the readers again: python tools/train_reading.py"
        )
    return LinearReader(heads=tuple(vocabulary[vocabulary.index(head)] for head in trained), **stored)
