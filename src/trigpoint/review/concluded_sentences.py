"""Sentences of a conclusion: each is checked against the findings that it rests on, and left out if it does not hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from trigpoint.review.conclusion import Sentence
from trigpoint.review.deciding import deciding_first
from trigpoint.review.evidence import Evidence
from trigpoint.review.findings import Finding, NotAssessed
from trigpoint.review.proportion import demanding, disproportionate
from trigpoint.review.submitted import (
    Cited,
    DraftConclusion,
    DraftFinding,
    DraftGround,
    SummarySentence,
    Verdict,
)
from trigpoint.review.verify_figures import figure_reasons, proposed_reasons
from trigpoint.review.wording import any_of

_VAGUE = any_of(
    "where(?:ver)? possible",
    "as far as (?:is )?(?:reasonably )?practicable",
    "if possible",
    "should consider",
    "consider",
    "encourage[sd]?",
    r"endeavour\w*",
    "adequate",
    "appropriate level",
)
_TRIGGER = any_of(
    "before",
    "until",
    "prior to",
    "within",
    "upon",
    "thereafter",
    "at all times",
    "for the (?:life|lifetime) of",
    "no later than",
    "first (?:occupation|use|occupied|used|approved)",
    r"commence\w*",
    "during",
    "not exceed",
    "at any time",
    "in accordance with",
    "as approved",
    "retained",
    "maintained",
)
_MONEY = re.compile(r"£\s?[\d,]+|\b(?:financial )?contributions?\b|\bpay(?:s|ment)?\b", re.IGNORECASE)
_ABOUT_DOCUMENTS = any_of(
    r"(?:documents?|application|submission) (?:do|does|did|has|have) not",
    r"applicant (?:do|does|did|has|have) not (?:say|said|state|show|explain|mention|give|given|tell|told|address)\w*",
)  # what an applicant does not agree to is told by the applicant
_AGREEMENTS = re.compile(
    r"\b(?:[Ss]ection|[Ss]\.?) ?(?:106|278|38)\b"
)  # of the planning and highways acts: no section of policy
_NAME_OR_FIGURE = re.compile(r"\d|(?<=[a-z,:;] )[A-Z]")
_STEM = 5  # letters by which "junction" is known again in "junctions"
_COMMON_STEMS = frozenset(
    word[:_STEM]
    for word in "that this these those with from into their there which than more most less least must shall should would could "
    "before after provide proposed proposal scheme development improve better make sure".split()
)


class Holding(Protocol):
    """A finding that was handed in, as the conclusion needs it."""

    @property
    def given(self) -> DraftFinding: ...
    @property
    def finding(self) -> Finding | None: ...
    @property
    def open_point(self) -> NotAssessed | None: ...
    @property
    def counts(self) -> bool: ...
    @property
    def merged_into(self) -> str | None: ...
    @property
    def limited_by(self) -> tuple[str, ...]: ...


def open_id(name: str) -> str:
    return f"open-{name.lower()}"


def conclusion_verdicts(
    given: DraftConclusion, findings: Mapping[str, Finding], evidence: Evidence, held: Mapping[str, Holding]
) -> list[Verdict]:
    """Return a verdict on every sentence of a conclusion that would be left out, with the reason."""
    known = known_of(findings, held)
    verdicts = []
    for part in ("summary", "recommendations", "conditions", "letter"):
        for number, one in enumerate(getattr(given, part), 1):
            reasons = sentence_reasons(part, one, known, evidence)
            if isinstance(one, DraftGround) and not reasons:
                reasons = ask_reasons(one, known, evidence)
            if reasons:
                verdicts.append(Verdict(id=f"{part} {number}", verdict="dropped", reasons=tuple(reasons)))
    for number, first in repeated_grounds(given.letter).items():
        again = f"It rests on the same findings as letter {first}: make each point once, and put both into one ground"
        verdicts.append(Verdict(id=f"letter {number}", verdict="dropped", reasons=(again,)))
    verdicts += [Verdict(id="main", verdict="dropped", reasons=(reason,)) for reason in _main_reasons(given, findings)]
    return verdicts


def _main_reasons(given: DraftConclusion, findings: Mapping[str, Finding]) -> Iterator[str]:
    """Yield what should be mended in the main part: two findings of one outcome that rest on the same words."""
    chosen = [name for name in dict.fromkeys(given.main) if name in findings]
    for at, name in enumerate(chosen):
        for other in chosen[at + 1 :]:
            one, two = findings[name], findings[other]
            if one.outcome == two.outcome and _deciding(one) & _deciding(two):
                yield (
                    f"{name} and {other} rest on the same words: if they make one point, list one of them in `repeats` and "
                    "leave it out of `main`; otherwise hand both in again"
                )


def _deciding(finding: Finding) -> set[str]:
    """Return the places of the words that prove most of a finding."""
    return {one.passage_id for one in deciding_first(finding.text, finding.evidence)[:1]}


def repeated_grounds(grounds: Sequence[DraftGround]) -> dict[int, int]:
    """Return the numbers of grounds that rest on the same findings as one before them, with the number of that one."""
    first: dict[tuple[frozenset[str], bool], int] = {}
    repeated = {}
    for number, one in enumerate(grounds, 1):
        point = frozenset(one.rests_on), one.welcomes
        if one.rests_on and point in first:
            repeated[number] = first[point]
        first.setdefault(point, number)
    return repeated


Known = Mapping[str, Finding | Holding]
"""What sentences may rest on: findings, and open points as they are held."""


def known_of(findings: Mapping[str, Finding], held: Mapping[str, Holding]) -> Known:
    return {name: findings.get(name) or one for name, one in held.items() if one.counts}


def findings_of(names: Iterable[str], known: Known) -> list[Finding]:
    return [one for name in names if isinstance(one := known[name], Finding)]


def sentence_reasons(part: str, one: Cited, known: Known, evidence: Evidence) -> list[str]:
    unknown = [name for name in one.rests_on if name not in known]
    if unknown:
        return [f"{', '.join(unknown)} is not a finding that counts"]
    resting = findings_of(one.rests_on, known)
    sources = [*_sources(resting, evidence), *_open_sources(known[name] for name in one.rests_on), *_whole(resting)]
    check = proposed_reasons if part in ("recommendations", "conditions") else figure_reasons
    reasons = check(_AGREEMENTS.sub(" ", one.text), sources, [c for f in resting for c in f.calculations], evidence)
    if _ABOUT_DOCUMENTS.search(one.text):
        reasons.append("Never say what the documents do not say: write “I found no …”, or ask for it to be shown")
    if part in ("recommendations", "conditions", "letter") and not one.rests_on:
        reasons.append("It must rest on a finding")
    if isinstance(one, SummarySentence) and one.part in ("good", "decides") and not one.rests_on:
        reasons.append(f"What is told as `{one.part}` must rest on a finding")
    all_met = len(resting) == len(one.rests_on) and all(finding.outcome == "met" for finding in resting)
    if part in ("recommendations", "conditions") and resting and all_met:
        reasons.append("It rests only on points that are met")
    if part == "recommendations" and resting and not _names_something(one.text, resting):
        reasons.append("It names nothing that its findings speak of: name the place, and what to do there")
    demand = f"{demanding(one.text)} {one.asks}" if isinstance(one, DraftGround) else one.text
    if part != "summary" and (reason := disproportionate(demand, evidence.profile)):
        reasons.append(reason)
    if part == "conditions":
        reasons += _condition_reasons(one.text)
    return reasons


def ask_reasons(one: DraftGround, known: Known, evidence: Evidence) -> list[str]:
    """Return what is wrong with the figures that a ground asks for: they are its findings' own, or a standard's."""
    resting = findings_of(one.rests_on, known)
    sources = [*_sources(resting, evidence), *_open_sources(known[name] for name in one.rests_on)]
    calculations = [calculation for finding in resting for calculation in finding.calculations]
    return [
        f"What it asks: {why}"
        for why in proposed_reasons(_AGREEMENTS.sub(" ", one.asks), sources, calculations, evidence)
    ]


def _names_something(text: str, resting: Iterable[Finding]) -> bool:
    """Return whether a recommendation has a name or a figure, or shares a word with the findings that it rests on.

    One that does neither can be no place's. Whether it names an action is left to the reader: words alone do not tell.
    """
    said = (
        part
        for finding in resting
        for part in (finding.text, finding.requirement, *(citation.quote for citation in finding.evidence))
    )
    return _NAME_OR_FIGURE.search(text) is not None or bool(_stems(text) & _stems(" ".join(said)))


def _stems(text: str) -> set[str]:
    return {word[:_STEM].casefold() for word in re.findall(r"[^\W\d_]{4,}", text)} - _COMMON_STEMS


def _condition_reasons(text: str) -> list[str]:
    """Return which of the tests of a planning condition a text plainly fails: precise and enforceable."""
    reasons = (
        []
        if re.search(r"\bshall\b|\bmust\b", text)
        else ["A condition says what shall be done: it must be enforceable"]
    )
    if vague := _VAGUE.search(text):
        reasons.append(f"“{vague.group()}” is not precise enough for a condition")
    if not _TRIGGER.search(text):
        reasons.append("A condition says by when, or until when, it must be met: otherwise it cannot be enforced")
    if money := _MONEY.search(text):
        reasons.append(f"“{money.group()}”: a payment is secured by an obligation, not by a condition")
    return reasons


def _sources(findings: Iterable[Finding], evidence: Evidence) -> list[str]:
    texts = [evidence.profile.proposal, evidence.profile.site]
    for finding in findings:
        texts += [finding.text, finding.requirement, finding.recommendation or "", finding.condition or ""]
        texts += [citation.quote for citation in finding.evidence]
        texts += [f"{citation.document} {' '.join(map(str, citation.pages))}" for citation in finding.evidence]
        texts += [
            evidence.policies[one.passage_id].text for one in finding.policy if one.passage_id in evidence.policies
        ]
        texts += [one.expression for one in finding.calculations]
    return texts


def _whole(findings: Iterable[Finding]) -> list[str]:
    """Return the numbers that were worked out, rounded up: 4.9 spaces that are lacking are five."""
    worked_out = [one for finding in findings for one in finding.calculations if "%" not in one.expression]
    return [str(math.ceil(one.result)) for one in worked_out if one.result > 1]


def _open_sources(given: Iterable[Finding | Holding]) -> list[str]:
    """Return what open points say and quote, with the pages, and what they propose: a sentence may tell what was found."""
    points = [one for one in given if not isinstance(one, Finding)]
    quoted = [f"{quote.words} {quote.page or ''}" for one in points for quote in one.given.evidence]
    said = [one.open_point.reason for one in points if one.open_point is not None]
    asked = [text for one in points for text in (one.given.recommendation, one.given.condition) if text]
    return [*quoted, *said, *asked, *(equation for one in points for equation in one.given.calculations)]


def kept_sentences(part: str, sentences: Iterable[Cited], known: Known, evidence: Evidence) -> tuple[Sentence, ...]:
    return tuple(
        Sentence(
            text=as_sentence(one.text),
            rests_on=ids_of(one.rests_on, known),
            part=one.part if isinstance(one, SummarySentence) else None,
        )
        for one in sentences
        if not sentence_reasons(part, one, known, evidence)
    )


def as_sentence(text: str) -> str:
    """Return a text on one line, with a capital in front and a full stop at its end."""
    plain = " ".join(text.split())
    stop = "" if plain[-1:] in ".!?" else "."
    return f"{plain[:1].upper()}{plain[1:]}{stop}"


def ids_of(names: Iterable[str], known: Known) -> tuple[str, ...]:
    """Return findings and open points by the ids that they have in the review."""
    pairs = [(name, known[name]) for name in names]
    return tuple(one.check if isinstance(one, Finding) else open_id(name) for name, one in pairs)
