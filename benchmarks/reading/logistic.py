"""Logistic regression on sparse rows by L-BFGS: numpy alone, and the same bits every time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Row = tuple[NDArray[np.intp], Array]
_KEPT = 8  # steps that L-BFGS remembers
_LEAST_GAIN = 1e-6
_MOST_STEPS = 80


@dataclass(frozen=True)
class Sparse:
    """Rows of features, each with the places and values of those that are not zero."""

    rows: Sequence[Row]
    width: int

    @cached_property
    def places(self) -> NDArray[np.intp]:
        return np.concatenate([places for places, _ in self.rows])

    @cached_property
    def values(self) -> Array:
        return np.concatenate([values for _, values in self.rows])

    @cached_property
    def row_of(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.rows)), [len(places) for places, _ in self.rows])

    def times(self, weights: Array) -> Array:
        """Return the product with a column of weights."""
        return np.bincount(self.row_of, self.values * weights[self.places], minlength=len(self.rows))

    def gathered(self, errors: Array) -> Array:
        """Return the product of the transposed rows with a column."""
        return np.bincount(self.places, self.values * errors[self.row_of], minlength=self.width)


def fit_logistic(rows: Sparse, targets: Array, importance: Array, penalty: float) -> tuple[Array, float]:
    """Return the weights and the bias that tell the targets (0 or 1) best, with an L2 penalty on the weights."""

    def loss(point: Array) -> tuple[float, Array]:
        weights, bias = point[:-1], point[-1]
        logits = rows.times(weights) + bias
        misfit = float((importance * (np.logaddexp(0, logits) - targets * logits)).sum())
        errors = importance * (1 / (1 + np.exp(-logits)) - targets)
        slope = np.append(rows.gathered(errors) + penalty * weights, errors.sum())
        return misfit + 0.5 * penalty * float(weights @ weights), slope

    found = minimise(loss, np.zeros(rows.width + 1))
    return found[:-1], float(found[-1])


def minimise(loss: Callable[[Array], tuple[float, Array]], point: Array) -> Array:
    """Return where a smooth convex function is least."""
    value, slope = loss(point)
    history: list[tuple[Array, Array]] = []
    for _ in range(_MOST_STEPS):
        direction = _direction(slope, history)
        new, new_value, new_slope = _step(loss, point, value, slope, direction)
        moved, turned = new - point, new_slope - slope
        if moved @ turned > 0:
            history = [*history, (moved, turned)][-_KEPT:]
        gain, point, value, slope = value - new_value, new, new_value, new_slope
        if gain < _LEAST_GAIN * abs(value):
            break
    return point


def _direction(slope: Array, history: Sequence[tuple[Array, Array]]) -> Array:
    """Return the direction of descent of L-BFGS (the two-loop recursion)."""
    if not history:
        return slope / max(1.0, float(np.linalg.norm(slope)))
    direction, shares = slope.copy(), []
    for moved, turned in reversed(history):
        share = (moved @ direction) / (moved @ turned)
        direction -= share * turned
        shares.append(share)
    moved, turned = history[-1]
    direction *= (moved @ turned) / (turned @ turned)
    for (moved, turned), share in zip(history, reversed(shares), strict=True):
        direction += moved * (share - (turned @ direction) / (moved @ turned))
    return direction


def _step(
    loss: Callable[[Array], tuple[float, Array]], point: Array, value: float, slope: Array, direction: Array
) -> tuple[Array, float, Array]:
    """Return the first point along the direction that is low enough, halving the way to it."""
    way, fall = 1.0, float(slope @ direction)
    while True:
        new = point - way * direction
        new_value, new_slope = loss(new)
        if new_value <= value - 1e-4 * way * fall or way < 1e-8:
            return new, new_value, new_slope
        way /= 2
