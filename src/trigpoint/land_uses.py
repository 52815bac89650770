"""The uses of land that the reading tells apart and that parking standards are stated for."""

from __future__ import annotations

from typing import Literal

Use = Literal[
    "dwellings",
    "office",
    "industrial",
    "storage",
    "retail",
    "food",
    "school",
    "nursery",
    "college",
    "hotel",
    "holiday",
    "care_home",
    "student_housing",
    "health",
    "leisure",
    "community",
    "commercial",
    "other",
]
