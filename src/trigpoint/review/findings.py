"""Judged points with the words they rest on. Rules and models produce the same `Finding`; `verify` checks it, and every
surface renders it. Results stored by version 0.1.0 load into the same types: fields that came later have defaults.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Rating = Literal["green", "amber", "red"]
Outcome = Literal["met", "partly", "failed", "contradicted", "noted", "not_found"]
"""`noted` is published as an open point, never as a finding; `not_found` is only in results of version 0.1.0."""
SHORTFALLS: frozenset[Outcome] = frozenset({"partly", "failed", "contradicted"})
Assessed = Literal["yes", "partly", "no"]


class Stored(BaseModel):
    """A frozen part of a result. Unknown fields are ignored, so that an older version can open a newer result."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Citation(Stored):
    """A quotation from one of the application's documents."""

    passage_id: str
    document_id: str
    document: str
    pages: tuple[int, ...]
    quote: str
    speaks: Outcome = Field("met", description="The outcome that these words support.")
    status: str | None = Field(None, description="Whether the words propose, describe what exists, quote policy …")
    speaker: str | None = Field(None, description="Who says it: the applicant, a consultee, the officer …")

    @property
    def place(self) -> str:
        return f"{self.document}, {pages_text(self.pages)}"


class PolicyCitation(Stored):
    """A passage of the revision in force. `ref` is the readable form: `LTN 1/20:Table 5-2`."""

    passage_id: str
    source: str
    revision_id: str
    version_label: str
    section_ref: str
    ref: str
    page: int | None = None
    quote: str


class Calculation(Stored):
    """A figure that no document states: what it was computed from and how, so that anyone can repeat it."""

    expression: str = Field(description="For example `127 + 7 = 134`.")
    inputs: tuple[float, ...]
    result: float


class Measure(Stored):
    """A figure that the documents give, or that was worked out, as a chart shows it."""

    label: str = Field(description="Where it comes from, for example `Transport Assessment, page 9`.")
    value: float
    shown: str = Field(description="The figure with its unit, for example `2.5 m`.")


class Comparison(Stored):
    """Figures next to each other, and next to the bound that policy sets, if there is one."""

    measures: tuple[Measure, ...]
    wanted: Literal["at least", "at most"] | None = None
    bound: float | None = None
    bound_shown: str = ""


class Limit(Stored):
    """Another point of the review that limits what is met."""

    point: str = Field(description="The `check` of the finding, or the id of the open point, that limits it.")
    text: str


class Finding(Stored):
    """One judged point: its outcome, the words that prove it, and the policy it rests on."""

    check: str
    requirement: str
    outcome: Outcome
    text: str
    lacking: str | None = Field(
        None, description="What is lacking: the last sentence of the text, if it was named apart."
    )
    essential: bool = False
    evidence: tuple[Citation, ...] = ()
    policy: tuple[PolicyCitation, ...] = ()
    standard: Citation | None = Field(
        None, description="The standard by which it is measured, as a document quotes it. None: the policies."
    )
    limits: tuple[Limit, ...] = Field((), description="Other points of the review that limit what is met here.")
    flags: tuple[str, ...] = Field((), description="Remarks of the verification.")
    short: str | None = Field(None, description="The point in a few words, for the key issue of a green aspect.")
    calculations: tuple[Calculation, ...] = ()
    comparison: Comparison | None = Field(None, description="Its figures against their standard, or each other.")
    recommendation: str | None = None
    condition: str | None = None

    @property
    def provided(self) -> str:
        """The text without the sentence on what is lacking."""
        return self.text.removesuffix(self.lacking).strip() if self.lacking else self.text


class Place(Stored):
    """Pages of one document."""

    document: str
    document_id: str
    pages: tuple[int, ...]

    def __str__(self) -> str:
        """Return `Travel Plan.pdf, pages 3, 4 and 9`."""
        return f"{self.document}, {listed_pages(self.pages)}" if self.pages else self.document


class NotAssessed(Stored):
    """A check that applies and was not judged: why not, and which pages a person should look at."""

    id: str = Field("", description="By which a conclusion names it; empty if none can.")
    check: str
    requirement: str
    essential: bool = False
    reason: str
    places: tuple[Place, ...] = ()
    evidence: tuple[Citation, ...] = Field((), description="What the documents do say on it, as it was quoted.")
    request: str | None = Field(None, description="What to ask of the applicant, if the documents leave it open.")
    noted: bool = Field(
        False, description="The documents say it, and no verdict follows; else something was not found."
    )
    policy: tuple[str, ...] = Field((), description="References of the policy that asks for it.")


class Elsewhere(Stored):
    """A question of an aspect that a finding of another aspect answers: the point is told there, and counts here too."""

    requirement: str
    essential: bool = False
    outcome: Outcome
    finding: str = Field(description="The `check` of the finding that answers it.")
    aspect: str = Field(description="Name of the aspect under which it is told.")
    text: str


Group = Literal["proposed", "open", "ruled_out", "existing", "asked", "context", "mentioned"]
GROUPS: dict[Group, str] = {
    "proposed": "Proposed",
    "open": "Left open: conditional, indicative, or for later approval",
    "ruled_out": "Ruled out",
    "existing": "Existing",
    "asked": "Asked for by policy or by others",
    "context": "Other schemes, assumptions and history",
    "mentioned": "Mentioned: read the page to see what is meant",
}
"""What a statement is, in the order in which a brief shows it, with its title."""


class Quotation(Stored):
    """A statement of the documents on an aspect, and the standard next to its figure if there is one."""

    group: Group
    topics: tuple[str, ...]
    citation: Citation
    figures: bool = Field(False, description="Whether the statement gives a figure on the aspect.")
    standard: str | None = None
    more_rows: int = Field(0, description="How many further rows of the same table are on the aspect and not quoted.")

    @property
    def rest(self) -> str:
        """Return how many rows of a table this quotation also tells of, in words; nothing if it is whole."""
        if not self.more_rows:
            return ""
        return f"and {self.more_rows} more rows of this table"


class PolicyAsk(Stored):
    """What policy asks on an aspect, in our words, and the passage that says so. None: its section is to be confirmed."""

    provision: str
    says: str
    source: str
    citation: PolicyCitation | None = None
    confirmed: bool = Field(False, description="Whether a person confirmed the section; else a search found it.")


def listed_pages(pages: tuple[int, ...]) -> str:
    """Return `page 3`, `pages 3 and 4`, `pages 3, 4 and 9`."""
    if len(pages) == 1:
        return f"page {pages[0]}"
    return f"pages {', '.join(map(str, pages[:-1]))} and {pages[-1]}"


def pages_text(pages: tuple[int, ...]) -> str:
    """Return `page 14`, `pages 14-15` or `page not known`."""
    if not pages:
        return "page not known"
    if len(pages) == 1:
        return f"page {pages[0]}"
    return f"pages {pages[0]}-{pages[-1]}"
