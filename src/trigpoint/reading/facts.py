"""Facts: what a statement says about a topic, with figure, place, status, speaker, polarity and certainty."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trigpoint.reading.documents import Frozen, Source
from trigpoint.reading.quantities import Quantity
from trigpoint.reading.vocabulary import PROVISION, Polarity, Speaker, Status, Topic

CERTAIN = 0.9
"""The certainty from which on a fact may be judged. Below it, a fact is quoted and not judged."""

Reader = Literal["rules", "model", "person"]


class Fact(Frozen):
    """What one statement says about one topic. A statement on three topics gives three facts with one source.

    `quantities` are those that measure this topic. `place` is "on site", "off site", "other site" or a named place.
    `because` lists the signals that decided the status, in words, for a reader who wants to check it.
    """

    topic: Topic
    status: Status = "mentioned"
    speaker: Speaker = "applicant"
    polarity: Polarity = "neutral"
    certainty: Annotated[float, Field(ge=0, le=1)] = 0.0
    quantities: tuple[Quantity, ...] = ()
    place: str = ""
    source: Source
    because: tuple[str, ...] = ()
    reader: Reader = "rules"

    @property
    def is_certain(self) -> bool:
        """Whether status and speaker are known well enough to be judged."""
        return self.certainty >= CERTAIN and self.status != "mentioned"

    @property
    def is_provision(self) -> bool:
        """Whether the statement certainly says that something will be provided."""
        return self.is_certain and self.status in PROVISION and self.polarity == "provides"
