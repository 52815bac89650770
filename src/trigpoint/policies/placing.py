"""Keeps the placements of provisions up to date with the texts: the part that needs the passages and the model.

Run by the owner of the passages after every change of the registry, at its start, and whenever somebody asks for
placements that are behind. Nothing has to be remembered across a crash: a stamp tells what is out of date.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, partial
from typing import Any

from trigpoint.passages.joining import joined
from trigpoint.passages.model import Passage
from trigpoint.policies.compare import SectionText
from trigpoint.policies.locate import Earlier, Embed, Located, locate
from trigpoint.policies.models import Policy, Revision
from trigpoint.policies.passages import PolicyChromaClient
from trigpoint.policies.placements import (
    Placement,
    Placements,
    Record,
    RevisionPlacements,
    predecessor,
    provisions_of,
    wanted_stamps,
)
from trigpoint.policies.provisions import Provision, load_provisions
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.text.embed import Vector

log = logging.getLogger(__name__)

Run = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs slow work in a thread."""


class Placer:
    """Finds provisions in the stored texts. One policy at a time; safe to call at any moment and again."""

    def __init__(
        self,
        registry: PolicyRegistry,
        passages: PolicyChromaClient,
        run: Run,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.placements = Placements(registry)
        self._registry = registry
        self._passages = passages
        self._run = run
        self._embed: Embed = partial(_embed_remembering_phrasings, passages, cancelled)
        self._busy: dict[str, asyncio.Lock] = {}

    async def current(self, policy: Policy) -> list[RevisionPlacements]:
        """Return the policy's placements, brought up to date first if they are behind."""
        placed = await self.placements.of_policy(policy)
        if all(one.current for one in placed):
            return placed
        await self.bring_up_to_date(policy.source)
        return await self.placements.of_policy(await self._registry.get_policy(policy.source))

    async def in_force(self, policies: Iterable[Policy], day: date) -> list[Placement]:
        """Return the sections in which the revisions in force on a day state their provisions."""
        placed: list[Placement] = []
        for policy in policies:
            revision = policy.in_force(day)
            if revision is not None and provisions_of(policy):
                of_revisions = {p.revision.revision_id: p for p in await self.current(policy)}
                found = of_revisions.get(revision.revision_id)
                placed += found.placements if found is not None else ()
        return placed

    async def bring_up_to_date(self, source: str) -> None:
        """Search the texts whose placements are behind, oldest first: each helps to read the next."""
        async with self._busy.setdefault(source, asyncio.Lock()):
            policy = await self._registry.get_policy(source)
            for revision in sorted(policy.revisions, key=lambda r: r.effective_from):
                if revision.queryable:
                    await self._place(policy, revision)

    async def _place(self, policy: Policy, revision: Revision) -> None:
        records = await self.placements.records(policy)
        stamp = wanted_stamps(policy, records)[revision.revision_id]
        record = records[revision.revision_id]
        provisions = provisions_of(policy)
        if record.stamp == stamp:
            return
        before = predecessor(policy, revision)
        placed = await self.placements.of_policy(policy) if before else []
        earlier = next((p for p in placed if before and p.revision.revision_id == before.revision_id), None)
        sections, found, chosen = await self._run(partial(self._search, revision, provisions, record, earlier))
        if await self.placements.put(revision, stamp, sections, found, chosen):
            sure = sum(located.sure for located in found)
            log.info("%s states %d of %d provisions for certain", revision.revision_id, sure, len(found))

    def _search(
        self, revision: Revision, provisions: list[Provision], record: Record, earlier: RevisionPlacements | None
    ) -> tuple[list[str], list[Located], list[Located]]:
        sections = section_texts(self._passages, revision.revision_id)
        found = locate(provisions, sections, self._embed, self._earlier(earlier) if earlier else None)
        by_ref = {section.ref: section for section in sections}
        chosen = [
            located
            for provision in provisions
            if (choice := record.choices.get(provision.id)) and choice.section_ref in by_ref
            for located in locate([provision], [by_ref[choice.section_ref]], self._embed)
        ]
        return [section.ref for section in sections], found, chosen

    def _earlier(self, placed: RevisionPlacements) -> Mapping[str, Earlier]:
        sections = {section.ref: section for section in section_texts(self._passages, placed.revision.revision_id)}
        return {
            p.provision.id: Earlier(sections[p.section_ref], p.excerpt)
            for p in placed.placements
            if p.citable and p.excerpt and p.section_ref in sections
        }


_PHRASINGS: dict[tuple[str, str], Vector] = {}  # vectors of the provisions' own words, by the model's fingerprint


def _embed_remembering_phrasings(
    passages: PolicyChromaClient, cancelled: Callable[[], bool], texts: Sequence[str]
) -> list[Vector]:
    """Embed texts. The phrasings of provisions are the same in every search, so each process embeds them once."""
    model = passages.embedding.fingerprint()
    missing = [text for text in texts if (model, text) not in _PHRASINGS]
    vectors: Iterable[Vector] = passages.embedding.embed_batch(missing, cancelled=cancelled) if missing else ()
    fresh = dict(zip(missing, vectors, strict=True))
    _PHRASINGS.update({(model, text): fresh[text] for text in fresh if text in _own_words()})
    return [fresh[text] if text in fresh else _PHRASINGS[model, text] for text in texts]


@cache
def _own_words() -> frozenset[str]:
    return frozenset(text for p in load_provisions() for text in (*p.phrasings, p.requires))


def section_texts(passages: PolicyChromaClient, revision_id: str) -> list[SectionText]:
    """Return the sections of a revision in their order, each once and whole, from the stored passages."""
    by_ref: dict[str, list[Passage]] = {}
    for record in passages.passages_of(revision_id):
        by_ref.setdefault(str(record.metadata["section_ref"]), []).append(record)
    return [
        SectionText(ref, int(records[0].metadata["page_number"]), joined(records))
        for ref, records in by_ref.items()
        if ref and not ref.startswith("Footnote")
    ]
