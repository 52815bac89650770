"""What an analyser may use and cite: the application's documents as they were read, the provisions of policy in force
on the day, and those that were looked up while judging.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from trigpoint.policies.placements import TO_BE_CONFIRMED
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact
from trigpoint.reading.profile import Profile
from trigpoint.reading.statements import split_sentences
from trigpoint.review.findings import PolicyCitation
from trigpoint.review.standards import Standard

SHORT_NAMES = {
    "LTN_1_20": "LTN 1/20",
    "NPPF": "NPPF",
    "MANUAL_FOR_STREETS": "Manual for Streets",
    "CHERWELL_LOCAL_PLAN": "Cherwell Local Plan",
    "OCC_LTCP": "LTCP",
    "BICESTER_LCWIP": "LCWIP",
}
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
_QUOTES = {ord(mark): "'" for mark in "\u2018\u2019\u201a\u201b`"} | {ord(mark): '"' for mark in "\u201c\u201d\u201e"}


@dataclass(frozen=True)
class PolicyPassage:
    """A passage of a policy's revision."""

    id: str
    text: str
    source: str
    revision_id: str
    version_label: str
    section_ref: str
    page: int | None
    score: float = 0.0


@dataclass(frozen=True)
class PlacedProvision:
    """Something that policy asks, and the section of the revision in force that says so."""

    provision_id: str
    title: str
    requires: str
    passage: PolicyPassage
    certain: bool = True
    confirmed: bool = False  # by a person

    @property
    def citation(self) -> PolicyCitation:
        return policy_citation(self.passage, self.requires)


@dataclass(frozen=True)
class RatesAsked:
    """The rates of a standard for what is being built, in words, and the policy that states them."""

    source: str
    words: str


@dataclass(frozen=True)
class Evidence:
    """Everything that an analyser may use and cite."""

    application_ref: str
    effective_date: str
    documents: tuple[Document, ...] = ()
    profile: Profile = field(default_factory=Profile)
    facts: tuple[Fact, ...] = ()
    discrepancies: tuple[Discrepancy, ...] = ()
    provisions: Mapping[str, tuple[PlacedProvision, ...]] = field(default_factory=dict)  # by provision id
    standards: tuple[Standard, ...] = ()  # of local policies, stated as data
    unresolved: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()  # what the summary must say of the policies
    searched_policies: Mapping[str, PolicyPassage] = field(default_factory=dict)  # looked up while judging
    in_force: Mapping[str, str] = field(default_factory=dict)  # source: revision id

    @cached_property
    def document_by_id(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}

    @cached_property
    def policies(self) -> dict[str, PolicyPassage]:
        """Every passage of policy that may be cited, by its id."""
        placed = {one.passage.id: one.passage for placed in self.provisions.values() for one in placed}
        return {**self.searched_policies, **placed}

    @cached_property
    def pages_read(self) -> int:
        """Return how many pages had text. A document without page breaks counts as one page."""
        return sum(
            sum(bool(document.text[page.start : page.end].strip()) for page in document.pages) or 1
            for document in self.documents
        )

    @cached_property
    def words_by_page(self) -> tuple[tuple[Document, int | None, str], ...]:
        """The folded text of every page, to look words up in."""
        return tuple(
            (document, number, f" {fold(text)} ") for document in self.documents for number, text in _pages_of(document)
        )

    def cite(self, provision_ids: tuple[str, ...], rates: RatesAsked | None = None) -> tuple[PolicyCitation, ...]:
        """Return the citations of those provisions that a revision in force certainly states.

        A provision whose section nobody could tell for certain is cited as its policy, "section to be confirmed".
        `rates` are those of a standard that the first is cited for: only the policy that states them is cited for it.
        """
        placed = [
            one
            for name in provision_ids
            for one in _most_certain(self.provisions.get(name, ()))
            if rates is None or name != provision_ids[0] or one.passage.source == rates.source
        ]
        wanted = {
            one.passage.id: rates.words if rates and one.provision_id == provision_ids[0] else one.requires
            for one in placed
        }
        return tuple({one.passage.id: policy_citation(one.passage, wanted[one.passage.id]) for one in placed}.values())


def _most_certain(placed: Sequence[PlacedProvision]) -> list[PlacedProvision]:
    """Return those whose section is certain; if there is none, all."""
    return [one for one in placed if one.certain] or list(placed)


def _pages_of(document: Document) -> list[tuple[int | None, str]]:
    if not document.pages:
        return [(None, document.text)]
    return [(page.number, document.text[page.start : page.end]) for page in document.pages]


def policy_citation(passage: PolicyPassage, says: str) -> PolicyCitation:
    """Return a citation that quotes the sentence nearest in words to what the passage is cited for.

    A policy whose section is to be confirmed is cited without words.
    """
    if not passage.section_ref:
        return _citation(passage, "")
    wanted = set(re.findall(r"\w{3,}|\d+", fold(says)))
    text = collapse(passage.text)
    sentences = [text[start:end].strip() for start, end in split_sentences(text)] or [text]
    sentences = [one for one in sentences if one[-1:] in ".;:"] or sentences  # a heading says nothing
    return _citation(passage, max(sentences, key=lambda one: len(wanted & set(re.findall(r"\w{3,}|\d+", fold(one))))))


def _citation(passage: PolicyPassage, quote: str) -> PolicyCitation:
    return PolicyCitation(
        passage_id=passage.id,
        source=passage.source,
        revision_id=passage.revision_id,
        version_label=passage.version_label,
        section_ref=passage.section_ref,
        ref=readable_ref(passage.source, passage.section_ref),
        page=passage.page,
        quote=quote,
    )


def readable_ref(source: str, section: str) -> str:
    """Return `LTN 1/20:11.1`, `NPPF:para.116`, `Cherwell Local Plan:Policy SLE4`, `NPPF (section to be confirmed)`."""
    name = short_name(source)
    if not section:
        return f"{name} ({TO_BE_CONFIRMED})"
    if match := re.fullmatch(r"Para(?:graph)? (.+)", section):
        return f"{name}:para.{match[1]}"
    return f"{name}:{section.removeprefix('Section ')}"


def short_name(source: str) -> str:
    return SHORT_NAMES.get(source, source.replace("_", " "))


def same_section(one: str, other: str) -> bool:
    """Compare as the policy server looks up: ignoring case and spacing, with "Paragraph 116" as `Para 116`."""
    left, right = (fold(ref).replace("paragraph", "para").replace(" ", "") for ref in (one, other))
    return left == right


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space."""
    return " ".join(text.split())


def fold(text: str) -> str:
    """Return the text for comparison: one case, one kind of dash and quotation mark, single spaces."""
    return collapse(unicodedata.normalize("NFKC", text).translate(_DASHES | _QUOTES)).casefold()
