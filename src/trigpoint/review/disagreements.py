"""The words of the letter for each kind of contradiction: its heading, why it matters, what is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DisagreementWords:
    """The words of the letter for a kind of contradiction."""

    heading: str
    matters: str
    asks: str


DISAGREEMENTS = {
    "sum": DisagreementWords(
        "figures that do not add up",
        "The total cannot be relied on until the difference is explained.",
        "explain the figures on {subject}, and correct them",
    ),
    "percentage": DisagreementWords(
        "a percentage that does not fit its figures",
        "Until that is put right, neither can be relied on.",
        "correct the percentage on {subject}, or the figures it is taken from",
    ),
    "rate": DisagreementWords(
        "a total that does not follow from its rate",
        "Until that is put right, neither can be relied on.",
        "correct the rate or the total on {subject}",
    ),
    "figures_differ": DisagreementWords(
        "conflicting figures",
        "Both cannot be right, and neither can be relied on until it is clear which is meant.",
        "say which of the figures on {subject} is right, and correct the documents",
    ),
    "words_differ": DisagreementWords(
        "statements that contradict each other",
        "Both cannot be right, and neither can be relied on until it is clear which is meant.",
        "say which of the statements on {subject} is right, and correct the documents",
    ),
    "revisions_differ": DisagreementWords(
        "conflicting drawings",
        "It must be clear which drawing is to be approved.",
        "say which drawing counts, and correct the documents",
    ),
    "promise_without_condition": DisagreementWords(
        "a promise that nothing secures",
        "Without a condition or an obligation it need not be kept.",
        "secure what is promised on {subject} by a condition or an obligation",
    ),
    "claim_against_shortfall": DisagreementWords(
        "a claim that the figures do not support",
        "The claim should carry no weight.",
        "meet the standard on {subject}, or withdraw the claim that it is met",
    ),
}
