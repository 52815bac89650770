"""Facts that the sample documents state about cycling, with document and page, and the ratings to be reached.

The facts are data, `facts/*.toml`; a test proves that each quotation is on the page it names.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Literal

from trigpoint.demo.applications import FOLDER, sample_applications
from trigpoint.errors import InvalidReference, shorten
from trigpoint.review.findings import Rating


@dataclass(frozen=True)
class SampleFact:
    """One statement in one document.

    `parts` are the items of a sum; `contradicts` names the fact it disagrees with; `ocr` marks what only OCR can
    read; `needs` names the toggle without which the document is not fetched; `superseded` what no review may cite.
    """

    id: str
    aspect: str
    document: str
    page: int
    quote: str
    bearing: Literal["good", "bad", "contradiction"]
    value: float | None = None
    unit: str | None = None
    parts: tuple[int, ...] = ()
    contradicts: str | None = None
    table: str | None = None
    ocr: bool = False
    superseded: bool = False
    needs: Literal["consultation_responses", "public_comments"] | None = None


@dataclass(frozen=True)
class SampleFacts:
    reference: str
    overall: Rating
    aspects: dict[str, Rating]
    because: dict[str, str]
    facts: tuple[SampleFact, ...]

    def fact(self, fact_id: str) -> SampleFact:
        return next(one for one in self.facts if one.id == fact_id)


@cache
def sample_facts(reference: str) -> SampleFacts:
    """Return the facts of one sample application. Raises InvalidReference for any other."""
    application = sample_applications().get(reference)
    if application is None:
        known = ", ".join(sample_applications())
        raise InvalidReference(f"No sample application {shorten(reference)}. There are: {known}")
    data = tomllib.loads((FOLDER / "facts" / f"{application.folder_name}.toml").read_text(encoding="utf-8"))
    return SampleFacts(
        reference=data["reference"],
        overall=data["expected"]["overall"],
        aspects=data["expected"]["aspects"],
        because=data["expected"]["because"],
        facts=tuple(SampleFact(**one | {"parts": tuple(one.get("parts", ()))}) for one in data.get("fact", ())),
    )
