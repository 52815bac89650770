"""Policy in force on the day, for the judge: searched and read over the policy server, with date and place fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trigpoint.errors import ToolFailed
from trigpoint.ids import UNKNOWN_AUTHORITY
from trigpoint.review.evidence import PolicyPassage
from trigpoint.review.models import Tools

PASSAGES = 6


@dataclass(frozen=True)
class PolicyDesk:
    """Answers questions about the policy that applies to one application. Nobody can ask for another day or place."""

    tools: Tools
    effective_date: str
    authority: str = ""

    async def search(self, query: str) -> list[PolicyPassage]:
        """Return the passages nearest to a query among the revisions in force."""
        given: dict[str, Any] = {"query": query, "effective_date": self.effective_date, "n_results": PASSAGES}
        given |= {"mode": "hybrid", "authority": self.authority or UNKNOWN_AUTHORITY}
        answer = await self.tools.call("policy-kb", "search_policy", given)
        return [policy_passage(result) for result in answer["results"]]

    async def section(self, passage: PolicyPassage) -> PolicyPassage:
        """Return the whole section of a passage, or the passage itself if the server does not have the section."""
        given = {"source": passage.source, "section_ref": passage.section_ref, "revision_id": passage.revision_id}
        try:
            stored = await self.tools.call("policy-kb", "get_policy_section", given)
        except ToolFailed as error:
            if error.code == "section_not_found":
                return passage
            raise
        return PolicyPassage(
            id=f"{passage.revision_id}:{passage.section_ref}:whole",
            text=stored["text"],
            source=passage.source,
            revision_id=passage.revision_id,
            version_label=passage.version_label,
            section_ref=passage.section_ref,
            page=passage.page,
        )


def policy_passage(result: Mapping[str, Any]) -> PolicyPassage:
    """Return a result of the policy server's search as a passage."""
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
