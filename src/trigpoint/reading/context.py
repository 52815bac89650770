"""The surroundings of a statement, which show who speaks and about what: section, document, list, tense, subject."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from trigpoint.reading.cues import CUES, SECTIONS
from trigpoint.reading.sources import SPEAKER_OF, Genre
from trigpoint.reading.statements import Statement
from trigpoint.reading.tokens import Token, tokenise
from trigpoint.reading.vocabulary import Speaker

SectionKind = Literal[
    "policy", "existing", "proposal", "consultees", "objectors", "engagement", "history", "others", "conditions",
    "obligations", "forecast", "assessment", "travel_plan",
]  # fmt: skip

REFERENCE = re.compile(r"\b(?:[A-Z]{1,4}/)?\d{2,4}/\d{3,6}(?:/[A-Z0-9]{1,6})+\b")
"""The reference of a planning application: 25/01187/FUL, UTT/25/3011/OP."""
_NOT_NAMES = frozenset(
    "proposed application the this residential proposals planning appeal emerging overall our".split()
)
_DEFINITE = frozenset("the this these our its we applicant appeal".split())
_GENERIC = frozenset("all any each every such new major other residential housing future most".split())
_SAME_PROPOSAL = 0.85
_SUBJECT = 12  # tokens in which a sentence names its subject
_STRONG: tuple[SectionKind, ...] = ("conditions", "objectors", "consultees", "history", "others")
"""Sections whose whole content belongs to somebody else, whatever their subsections are called."""


@dataclass(frozen=True)
class Context:
    """A statement with its cues.

    `before` holds the sentences before it in its paragraph, `previous` the statement before it in its document.
    """

    statement: Statement
    genre: Genre
    before: str = ""
    proposal: frozenset[str] = frozenset()
    own_reference: str = ""
    previous: str = ""
    title: str = ""

    @cached_property
    def is_proposal(self) -> bool:
        """Whether the statement repeats the description of the development that was applied for."""
        if self.has("proposal_label"):
            return True
        words = {token.text for token in self.tokens if token.kind != "mark"}
        return len(self.proposal) >= _SUBJECT and len(words & self.proposal) >= _SAME_PROPOSAL * len(words) > 0

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tokenise(self.statement.text)

    @cached_property
    def cues(self) -> Mapping[str, list[int]]:
        return CUES.tag_text(self.statement.text)

    @cached_property
    def lead(self) -> Mapping[str, list[int]]:
        """The cues of the sentence that introduces this bullet's list."""
        return CUES.tag_text(self.statement.lead) if self.statement.lead else {}

    @cached_property
    def said(self) -> Mapping[str, list[int]]:
        """The cues of the sentences before this one in its paragraph."""
        return CUES.tag_text(self.before) if self.before else {}

    def was_said(self, *cues: str) -> bool:
        """Return whether the sentences before this one have one of these cues."""
        return any(cue in self.said for cue in cues)

    @cached_property
    def section(self) -> SectionKind | None:
        """The kind of section that the statement is in."""
        return section_under(self.statement.headings)

    def has(self, *cues: str) -> bool:
        """Return whether the statement has one of these cues."""
        return any(cue in self.cues for cue in cues)

    def led(self, *cues: str) -> bool:
        """Return whether the sentence that introduces the list has one of these cues."""
        return any(cue in self.lead for cue in cues)

    def subject_is(self, *cues: str) -> bool:
        """Return whether one of these is named at the beginning of the sentence, before its verb."""
        return any(position < _SUBJECT for cue in cues for position in self.cues.get(cue, ()))

    def first(self, cue: str) -> int:
        """Return the position of the first such cue, or a large number."""
        return self.cues.get(cue, [10_000])[0]

    def follows(self, one: str, other: str, distance: int) -> bool:
        """Return whether a cue comes after another within a number of tokens."""
        return any(0 < j - i <= distance for i in self.cues.get(one, ()) for j in self.cues.get(other, ()))

    @cached_property
    def scheme_is_subject(self) -> bool:
        """Whether this very scheme is the subject: "the development", "our proposals"; not "all proposals"."""
        return any(at < _SUBJECT and self._is_definite(at) for at in self.cues.get("scheme", ()))

    def _is_definite(self, at: int) -> bool:
        before = {token.text for token in self.tokens[max(0, at - 3) : at + 1]}
        return bool(before & _DEFINITE) and not before & _GENERIC

    @cached_property
    def names_another_scheme(self) -> bool:
        """Whether a scheme or site other than this one is named: "the adjacent development", another reference."""
        if any(
            0 < j - i <= 4 and not self._to_between(i, j)
            for i in self.cues.get("elsewhere", ())
            for j in self.cues.get("head", ())
        ):
            return True
        references = [match for match in REFERENCE.findall(self.statement.text) if match not in self.own_reference]
        return bool(references)

    def _to_between(self, start: int, end: int) -> bool:
        """Return whether "adjacent to the site" is said, and not "the adjacent site"."""
        return any(token.text in ("to", "and", ",") for token in self.tokens[start:end])

    @cached_property
    def done_by_another(self) -> bool:
        """Whether somebody other than the applicant is to act: "delivered by others", "by the Mill Farm scheme"."""
        return self.follows("by", "others", 4) or self.follows("by", "head", 6) or self._named_scheme()

    def _named_scheme(self) -> bool:
        """Return whether a proper name precedes "development" or "scheme": "the Taylor Farm development"."""
        heads = [position for position in self.cues.get("head", ()) if position >= 2]
        return any(self._is_name(position - 1) for position in heads)

    def _is_name(self, position: int) -> bool:
        token = self.tokens[position]
        written = self.statement.text[token.start : token.end]
        return token.kind == "word" and written[:1].isupper() and token.text not in _NOT_NAMES

    @cached_property
    def speaker(self) -> Speaker:
        """Whoever speaks, before a policy is recognised as the one that does."""
        if self.section == "conditions":
            return "condition"
        if self.is_proposal:
            return "applicant"
        if self.section == "objectors" and self.genre == "committee report":
            return "objector"
        reported = self._reported()
        if reported is not None:
            return reported
        if self.genre in ("committee report", "appeal decision") or self.section != "consultees":
            by_section = _SPEAKERS.get(self.section or "")
            if by_section is not None and self.genre != "consultee letter":
                return by_section
        return SPEAKER_OF[self.genre]

    def _reported(self) -> Speaker | None:
        """Return whose view a sentence reports: "The Highway Authority considers …", "residents raised …"."""
        verbs = self.cues.get("reports", ())
        for speaker in ("inspector", "objector", "applicant", "authority"):
            named = self.cues.get(speaker, ())
            if any(i < _SUBJECT and 0 < j - i <= _SUBJECT for i in named for j in verbs):
                return _REPORTED[speaker] if self.genre != "application" or speaker != "applicant" else None
        if self.led("objector") and self.led("reports", "asks"):
            return "objector"
        return None


_SPEAKERS: dict[str, Speaker] = {"objectors": "objector", "consultees": "consultee"}
_REPORTED: dict[str, Speaker] = {
    "inspector": "inspector",
    "objector": "objector",
    "applicant": "applicant",
    "authority": "consultee",
}


def section_under(headings: Sequence[str]) -> SectionKind | None:
    """Return the kind of section under some headings: one that belongs to somebody else, or else the innermost that tells."""
    sections = [_section_of(heading) for heading in headings]
    for kinds in sections:
        for kind in _STRONG:
            if kind in kinds:
                return kind
    return next((kinds[0] for kinds in reversed(sections) if kinds), None)


@lru_cache(maxsize=1024)
def _section_of(heading: str) -> tuple[SectionKind, ...]:
    """Return the kinds of section that a heading may announce, the most specific first."""
    classes = set(SECTIONS.tag_text(heading))
    if "not_conditions" in classes:
        classes -= {"conditions", "not_conditions"}
    if "assessment" in classes:  # "Planning Policy Assessment" assesses the scheme; it does not quote policy
        classes.discard("policy")
    return tuple(kind for kind in _ORDER if kind in classes)


_ORDER: tuple[SectionKind, ...] = (
    "conditions", "objectors", "consultees", "history", "others", "engagement", "obligations", "policy", "proposal",
    "existing", "forecast", "travel_plan", "assessment",
)  # fmt: skip
