"""What kind of planning document a file is: by its name first, then by the words in it (D6: on word boundaries)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from trigpoint.text.images import plain_name

Confidence = Literal["high", "medium", "low"]

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Classification:
    """A document type of the contract, and how it was found: by name (high), by content (medium), not at all (low)."""

    document_type: str
    confidence: Confidence


# Names are words in lower case separated by single spaces. The first type that matches wins, so the order counts:
# a "noise chapter of the environmental statement" is the noise, a "design and access statement with floor plans" the statement.
_NAME_PATTERNS: tuple[tuple[str, str], ...] = (
    ("flood_risk_assessment", r"flood risk(?: assessment)?|fra|drainage strategy"),
    ("transport_assessment", r"transport (?:assessment|statement)|travel plan|traffic impact"),
    ("noise_assessment", r"noise (?:impact )?(?:assessment|report|survey)|acoustics?"),
    ("ecology_report", r"ecology (?:report|survey)|ecological appraisal|bat survey|biodiversity"),
    ("arboricultural_report", r"arboricultural|tree survey"),
    ("heritage_statement", r"heritage (?:statement|assessment)|archaeological"),
    ("design_access_statement", r"design (?:and|&) access|d ?& ?a statement"),
    ("environmental_statement", r"environmental (?:impact )?(?:statement|assessment)|eia"),
    ("planning_statement", r"planning statement|supporting statement"),
    ("floor_plan", r"floor plans?|(?:ground|first|second) floor"),
    ("elevation", r"elevations?|street scenes?"),
    ("site_plan", r"(?:site|location|block|layout) plans?"),
)

_NAMES = [(kind, re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])")) for kind, pattern in _NAME_PATTERNS]


class DocumentClassifier:
    """Stateless; `classify` never fails, it falls back to `other`."""

    def classify(self, filename: str, text: str = "") -> Classification:
        if found := by_name(filename):
            return Classification(found, "high")
        return Classification(OTHER, "low")


def by_name(filename: str) -> str | None:
    name = plain_name(filename)
    return next((kind for kind, pattern in _NAMES if pattern.search(name)), None)
