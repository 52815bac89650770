"""Facts that are certain, whatever the reader makes of a text: what judging and verifying are tested with."""

from __future__ import annotations

from dataclasses import replace

from trigpoint.reading.facts import Fact
from trigpoint.reading.profile import Profile
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.vocabulary import Polarity, Speaker, Status, Topic
from trigpoint.review.evidence import Evidence


def stated(evidence: Evidence, *facts: Fact, profile: Profile | None = None) -> Evidence:
    """The evidence with facts that are certain, whatever the reader makes of the text."""
    return replace(evidence, facts=facts, discrepancies=(), profile=profile or evidence.profile)


def fact(
    evidence: Evidence,
    topic: Topic,
    words: str,
    *,
    status: Status = "proposed",
    speaker: Speaker = "applicant",
    polarity: Polarity = "provides",
    certainty: float = 0.95,
    page: int = 1,
) -> Fact:
    """A fact of words that are in the first document."""
    document = evidence.documents[0]
    start = document.text.index(words)
    return Fact.model_validate(
        {
            "topic": topic,
            "status": status,
            "speaker": speaker,
            "polarity": polarity,
            "certainty": certainty,
            "quantities": read_quantities(words),
            "source": {
                "document_id": document.id,
                "document": document.name,
                "page": page,
                "start": start,
                "end": start + len(words),
                "statement": 0,
                "quote": words,
            },
        }
    )
