"""Evidence, gathered once for a review: passages of the application's documents and of the policy in force on the
day, found by several queries an aspect, without duplicates, each with document, page and passage id.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trigpoint.errors import ToolFailed
from trigpoint.review.aspects import Aspect, PolicyBasis
from trigpoint.review.findings import PolicyCitation
from trigpoint.review.headings import Headings
from trigpoint.review.models import Tools
from trigpoint.review.sentences import Sentence, collapse, fold, split_sentences

PASSAGES_PER_QUERY = 30
SWEEP = "walking, wheeling and cycling: parking, routes, widths, crossings, connections, trips, travel plan"
SWEEP_PASSAGES = 1000
POLICY_PASSAGES_PER_QUERY = 6
SECTION_CANDIDATES = 25

SHORT_NAMES = {
    "LTN_1_20": "LTN 1/20",
    "NPPF": "NPPF",
    "MANUAL_FOR_STREETS": "Manual for Streets",
    "CHERWELL_LOCAL_PLAN": "Cherwell Local Plan",
    "OCC_LTCP": "LTCP",
    "BICESTER_LCWIP": "LCWIP",
}


@dataclass(frozen=True)
class Passage:
    """A passage of one of the application's documents."""

    id: str
    text: str
    application_ref: str
    document_id: str
    document: str
    document_type: str
    pages: tuple[int, ...]
    index: int
    score: float = 0.0


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
class Statement:
    """A sentence or table row of the application, and where it stands."""

    text: str
    passage: Passage
    pages: tuple[int, ...]
    heading: str = ""


@dataclass(frozen=True)
class Evidence:
    """Everything that an analyser may use and cite."""

    application_ref: str
    effective_date: str
    passages: Mapping[str, Passage]
    ranked: Mapping[str, tuple[str, ...]]  # aspect: ids of passages, best first
    policies: Mapping[str, PolicyPassage]
    policy_ranked: Mapping[str, tuple[str, ...]]
    sections: Mapping[PolicyBasis, PolicyPassage]  # what the checks rest on, in the revision in force
    in_force: Mapping[str, str]  # source: revision id
    unresolved: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Every sentence of the passages once, in the order of documents and pages."""
        return tuple(_statements(self.passages.values()))

    def cite(self, basis: PolicyBasis) -> PolicyCitation | None:
        """The section in the revision in force, or None where there is none that is stored."""
        passage = self.sections.get(basis)
        return None if passage is None else policy_citation(passage, basis.says)


def policy_citation(passage: PolicyPassage, says: str) -> PolicyCitation:
    """A citation that quotes the sentence nearest in words to what the passage is cited for."""
    wanted = set(re.findall(r"\w{3,}|\d+", fold(says)))
    sentences = [s.text for s in split_sentences(passage.text)] or [collapse(passage.text)]
    sentences = [text for text in sentences if text[-1] in ".;:"] or sentences  # a heading says nothing
    nearest = max(sentences, key=lambda text: len(wanted & set(re.findall(r"\w{3,}|\d+", fold(text)))))
    return PolicyCitation(
        passage_id=passage.id,
        source=passage.source,
        revision_id=passage.revision_id,
        version_label=passage.version_label,
        section_ref=passage.section_ref,
        ref=readable_ref(passage.source, passage.section_ref),
        page=passage.page,
        quote=nearest,
    )


def readable_ref(source: str, section: str) -> str:
    """`LTN 1/20:11.1`, `NPPF:para.116`, `Cherwell Local Plan:Policy SLE4`."""
    name = SHORT_NAMES.get(source, source.replace("_", " "))
    if match := re.fullmatch(r"Para(?:graph)? (.+)", section):
        return f"{name}:para.{match[1]}"
    return f"{name}:{section.removeprefix('Section ')}"


async def gather_evidence(
    tools: Tools,
    aspects: Iterable[Aspect],
    *,
    application_ref: str,
    effective_date: str,
    step: Callable[[float, str], Awaitable[None]] | None = None,
) -> Evidence:
    """Search documents and policy for every aspect. Raises the tools' errors as they are."""
    chosen = tuple(aspects)
    documents, policies = _Documents(tools, application_ref), _Policies(tools, effective_date)
    await documents.search("", SWEEP, SWEEP_PASSAGES)
    for number, aspect in enumerate(chosen):
        if step is not None:
            await step(number / len(chosen), f"Gathering evidence: {aspect.name}")
        async with asyncio.TaskGroup() as group:
            for query in aspect.queries:
                group.create_task(documents.search(aspect.id, query, PASSAGES_PER_QUERY))
            for query in aspect.policy_queries:
                group.create_task(policies.search(aspect.id, query))
            group.create_task(policies.resolve_all(aspect.policies.values()))
    return Evidence(
        application_ref=application_ref,
        effective_date=effective_date,
        passages=dict(sorted(documents.found.items(), key=lambda item: (item[1].document, item[1].index, item[0]))),
        ranked={aspect.id: documents.best(aspect.id) for aspect in chosen},
        policies=dict(sorted(policies.found.items())),
        policy_ranked={aspect.id: policies.best(aspect.id) for aspect in chosen},
        sections=policies.sections,
        in_force=policies.in_force,
        unresolved=tuple(policies.unresolved),
        documents=tuple(sorted({passage.document for passage in documents.found.values()})),
    )


class _Documents:
    """Searches over one application, merged."""

    def __init__(self, tools: Tools, application_ref: str) -> None:
        self.tools, self.application_ref = tools, application_ref
        self.found: dict[str, Passage] = {}
        self.scores: dict[str, dict[str, float]] = {}

    async def search(self, aspect: str, query: str, count: int) -> None:
        answer = await self.tools.call(
            "document-store",
            "search_application_docs",
            {"query": query, "application_ref": self.application_ref, "max_results": count, "mode": "hybrid"},
        )
        for result in answer["results"]:
            passage = _passage(result)
            self.found.setdefault(passage.id, passage)
            _keep_best(self.scores.setdefault(aspect, {}), passage.id, passage.score)

    def best(self, aspect: str) -> tuple[str, ...]:
        return _by_score(self.scores.get(aspect, {}))


class _Policies:
    """Searches over the policy in force, merged; and sections looked up by their reference."""

    def __init__(self, tools: Tools, effective_date: str) -> None:
        self.tools, self.effective_date = tools, effective_date
        self.found: dict[str, PolicyPassage] = {}
        self.scores: dict[str, dict[str, float]] = {}
        self.sections: dict[PolicyBasis, PolicyPassage] = {}
        self.in_force: dict[str, str] = {}
        self.unresolved: list[str] = []
        self._asked: set[PolicyBasis] = set()

    async def search(self, aspect: str, query: str) -> None:
        for passage in await self._ask(query, POLICY_PASSAGES_PER_QUERY):
            _keep_best(self.scores.setdefault(aspect, {}), passage.id, passage.score)

    async def resolve_all(self, bases: Iterable[PolicyBasis]) -> None:
        for basis in bases:
            await self.resolve(basis)

    async def resolve(self, basis: PolicyBasis) -> None:
        """Find the stored passage of a section. What has none is noted once."""
        if basis in self._asked:
            return
        self._asked.add(basis)
        revision = await self._revision(basis.source)
        section = basis.in_revision(revision) if revision else None
        if revision is None or section is None:
            known = (section or basis.section, *sorted(basis.sections.values()))
            refs = " or ".join(readable_ref(basis.source, one) for one in known if one)
            self._note(f"{refs}: {f'not known in {revision}' if revision else 'nothing in force'}")
            return
        passage = await self._find(basis.source, section, basis.says)
        if passage is None:
            self._note(f"{readable_ref(basis.source, section)} ({revision})")
        else:
            self.sections[basis] = passage

    def best(self, aspect: str) -> tuple[str, ...]:
        return _by_score(self.scores.get(aspect, {}))

    async def _revision(self, source: str) -> str | None:
        if source not in self.in_force:
            first = await self._ask("cycling", 1, source)
            if not first:
                return None
            self.in_force[source] = first[0].revision_id
        return self.in_force[source]

    async def _find(self, source: str, section: str, says: str) -> PolicyPassage | None:
        for passage in await self._ask(f"{section} {says}", SECTION_CANDIDATES, source):
            if same_section(passage.section_ref, section):
                return passage
        try:
            stored = await self.tools.call(
                "policy-kb",
                "get_policy_section",
                {"source": source, "section_ref": section, "revision_id": self.in_force[source]},
            )
        except ToolFailed as error:
            if error.code == "section_not_found":
                return None
            raise
        if stored.get("status") == "error":
            return None
        for passage in await self._ask(collapse(stored["text"])[:400], SECTION_CANDIDATES, source):
            if same_section(passage.section_ref, section):
                return passage
        return None

    async def _ask(self, query: str, count: int, source: str | None = None) -> list[PolicyPassage]:
        arguments = {"query": query, "effective_date": self.effective_date, "n_results": count, "mode": "hybrid"}
        if source is not None:
            arguments["sources"] = [source]
        answer = await self.tools.call("policy-kb", "search_policy", arguments)
        passages = [_policy_passage(result) for result in answer["results"]]
        for passage in passages:
            self.found.setdefault(passage.id, passage)
        return passages

    def _note(self, what: str) -> None:
        if what not in self.unresolved:
            self.unresolved.append(what)


def same_section(one: str, other: str) -> bool:
    """As the policy server looks up: case and spacing do not count, "Paragraph 116" is `Para 116`."""
    left, right = (fold(ref).replace("paragraph", "para").replace(" ", "") for ref in (one, other))
    return left == right


def _passage(result: Mapping[str, Any]) -> Passage:
    meta = result["metadata"]
    pages = tuple(sorted({int(page) for page in re.findall(r"\d+", str(meta.get("page_numbers", "")))}))
    return Passage(
        id=result["chunk_id"],
        text=result["text"],
        application_ref=meta["application_ref"],
        document_id=meta["document_id"],
        document=meta["source_file"],
        document_type=meta.get("document_type", "other"),
        pages=pages,
        index=int(meta.get("chunk_index", 0)),
        score=float(result.get("score") or result["relevance_score"]),
    )


def _policy_passage(result: Mapping[str, Any]) -> PolicyPassage:
    return PolicyPassage(
        id=result["chunk_id"],
        text=result["text"],
        source=result["source"],
        revision_id=result["revision_id"],
        version_label=result["version_label"],
        section_ref=result.get("section_ref") or "",
        page=result.get("page_number"),
        score=float(result.get("score") or result["relevance_score"]),
    )


def _keep_best(scores: dict[str, float], key: str, score: float) -> None:
    scores[key] = max(score, scores.get(key, 0.0))


def _by_score(scores: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(scores, key=lambda key: (-round(scores[key], 6), key)))


def _statements(passages: Iterable[Passage]) -> list[Statement]:
    """Sentences of overlapping passages once each; the page is the one that all passages with the sentence share."""
    by_document: dict[str, dict[str, Statement]] = {}
    fragments: dict[str, list[tuple[str, Statement]]] = {}
    read: dict[str, tuple[int, Headings]] = {}
    for passage in passages:
        known = by_document.setdefault(passage.document_id, {})
        last, headings = read.get(passage.document_id, (passage.index, Headings()))
        if passage.index > last + 1:  # what stands between was not found, nor its headings
            headings = Headings()
        read[passage.document_id] = (passage.index, headings)
        for sentence, pages in _sentences_by_page(passage):
            key = fold(sentence.text)
            statement = Statement(sentence.text, passage, pages, headings.at(sentence.text))
            if not sentence.whole:
                fragments.setdefault(passage.document_id, []).append((key, statement))
            elif key in known:
                known[key] = _narrowed(known[key], statement)
            else:
                known[key] = statement
    for document, cut in fragments.items():
        known = by_document[document]
        for key, statement in cut:
            if key not in known and not any(key in whole for whole in known):
                known[key] = statement
    ordered = [statement for known in by_document.values() for statement in known.values()]
    return sorted(ordered, key=lambda s: (s.passage.document, s.passage.index, s.pages))


def _sentences_by_page(passage: Passage) -> list[tuple[Sentence, tuple[int, ...]]]:
    """Sentences with their page: in a passage of two pages the blank line between them is where the page turns."""
    parts = passage.text.split("\n\n")
    if len(passage.pages) < 2 or len(parts) != len(passage.pages):
        return [(sentence, passage.pages) for sentence in split_sentences(passage.text)]
    return [
        (sentence, (page,))
        for part, page in zip(parts, passage.pages, strict=True)
        for sentence in split_sentences(part)
    ]


def _narrowed(one: Statement, other: Statement) -> Statement:
    shared = tuple(page for page in one.pages if page in other.pages)
    if not shared or len(shared) == len(one.pages):
        return one
    best = one if len(one.passage.pages) <= len(other.passage.pages) else other
    return Statement(one.text, best.passage, shared, one.heading)
