"""Tells whether a search has found an answer, or merely the least distant passages.

Calibrated on questions put to collections that answer them and to collections about something else.
"""

from __future__ import annotations

from collections.abc import Iterable

NEAR = 0.45  # cosine from which a passage is about the question's subject
COVERING = 0.33  # fused score from which it has enough of the question's words, whatever its cosine


def is_weak(scores: Iterable[tuple[float, float | None]]) -> bool:
    """Return whether no passage is near the question in meaning and none has its words.

    `scores` are the cosine and the fused score of each passage found, None if the search was by meaning alone. Finding
    nothing at all is not weak: there is no passage to be mistaken for an answer.
    """
    listed = list(scores)
    return bool(listed) and all(cosine < NEAR and (fused or 0.0) < COVERING for cosine, fused in listed)
