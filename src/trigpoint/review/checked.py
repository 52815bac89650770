"""The faults of a finding that somebody handed in, and the parts that may be left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from trigpoint.review.findings import Finding, NotAssessed
from trigpoint.review.lookup import shared, stems


class Failure(StrEnum):
    """What was wrong with a finding, in words that repeat nothing of what it claimed: these are published."""

    QUESTION = "a question that is not asked of this development"
    STEP = "an aspect that is judged in another step"
    QUOTATION = "a quotation that is not in the documents"
    POLICY = "a policy that was not shown or does not ask for it"
    CALCULATION = "a calculation that does not hold or uses a figure that is not quoted"
    ACTION = "a recommendation or condition that is not proved"
    FIGURE = "a figure, a section or quoted words without a source"
    MEANING = "quoted words that do not show it"
    SCOPE = "a claim that says more than the quoted words"
    LACK = "nothing that shows what is lacking"
    ABSENCE = "an absence that was not looked for, or that a page answers"


@dataclass(frozen=True)
class LostSupport:
    """A support of a finding that fails: the reason, and the words that were to prove something."""

    kind: Failure
    reason: str
    words: str = ""


@dataclass
class Checked:
    """The outcome of checking: what counts if there are no reasons against it."""

    finding: Finding | None = None
    open_point: NotAssessed | None = None
    reasons: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    lost: list[LostSupport] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # keys of statements that a reason quotes
    failures: list[Failure] = field(default_factory=list)

    def object(self, kind: Failure, reasons: Sequence[str]) -> None:
        """Add reasons against the finding."""
        self.reasons += reasons
        self.failures += [kind] if reasons else []

    def settle_lost(self, statement: str, sources: Iterable[str], *, lenient: bool) -> None:
        """Make reasons of the supports that failed, or leave them out, and say so, if the rest carries the statement."""
        rest = {stem for source in sources for stem in stems(source)}
        carried = all(shared(statement, [one.words]) <= rest for one in self.lost)
        if lenient and carried and not self.reasons:
            self.remarks += [f"Left out: {one.reason}" for one in self.lost]
        else:
            self.reasons = [*(one.reason for one in self.lost), *self.reasons]
            self.failures = [*(one.kind for one in self.lost), *self.failures]
