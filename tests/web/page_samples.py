"""A client that behaves as a browser does, and a review with everything in it that a page shows."""

from __future__ import annotations

from typing import Any

import httpx

from trigpoint.review.result import ReviewResult


def browser(address: str) -> httpx.Client:
    """Says what a browser says about where a form comes from; does not follow redirects."""
    headers = {"Origin": address, "Accept": "text/html,application/xhtml+xml"}
    return httpx.Client(base_url=address, headers=headers, timeout=20, trust_env=False)


def finding(text: str = "Two spaces per dwelling are below the standard", **more: Any) -> dict[str, Any]:
    return {
        "check": "long_stay",
        "requirement": "One secure space per bedroom",
        "outcome": "partly",
        "text": text,
        "essential": True,
        "evidence": [
            {
                "document": "Transport Assessment.pdf",
                "document_id": "25_01178_REM_0a495d",
                "pages": [1],
                "passage_id": "25_01178_REM_0a495d_001_000",
                "quote": "Each house is provided with 2 cycle parking spaces per dwelling.",
                "speaks": "partly",
            }
        ],
        "policy": [
            {
                "passage_id": "LTN_1_20__rev_LTN_1_20_2020_07__Table_11-1__034",
                "source": "LTN_1_20",
                "revision_id": "rev_LTN_1_20_2020_07",
                "version_label": "July 2020",
                "section_ref": "Table 11-1",
                "ref": "LTN 1/20:Table 11-1",
                "page": 9,
                "quote": "Suggested minimum cycle parking capacity",
            }
        ],
        "flags": [],
        **more,
    }


def result(rating: str = "amber", *, text: str = "Parking is below the standard") -> ReviewResult:
    """A result with everything in it that a page shows; `text` goes wherever words of others go."""
    found = finding(text)
    return ReviewResult(
        application={
            "reference": "25/01178/REM",
            "address": text,
            "proposal": "Reserved matters for 200 dwellings",
            "applicant": "Gavray Homes",
            "status": "Under consideration",
            "consultation_end": "2025-07-04",
            "documents_fetched": 13,
            "documents_ingested": 12,
        },
        review={
            "overall_rating": rating,
            "summary": text,
            "aspects": [
                {
                    "id": "cycle_parking",
                    "name": "Cycle Parking",
                    "rating": rating,
                    "key_issue": text,
                    "detail": text,
                    "policy_refs": ["LTN 1/20:Table 11-1"],
                    "findings": [found],
                }
            ],
            "policy_compliance": [
                {
                    "requirement": "One secure space per bedroom",
                    "policy_source": "LTN_1_20",
                    "compliant": False,
                    "notes": text,
                    "policy_ref": "LTN 1/20:Table 11-1",
                    "revision_id": "rev_LTN_1_20_2020_07",
                    "outcome": "partly",
                }
            ],
            "recommendations": [text],
            "suggested_conditions": ["No dwelling shall be occupied until the stores are built."],
            "contradictions": [],
            "full_markdown": "# Cycle Advocacy Review: 25/01178/REM\n",
        },
        metadata={
            "model": "rules",
            "analyser": "rules",
            "total_tokens_used": 0,
            "processing_time_seconds": 38,
            "documents_analysed": 12,
            "policy_sources_referenced": 1,
            "policy_effective_date": "2025-05-21",
            "policy_revisions_used": [
                {"source": "LTN_1_20", "revision_id": "rev_LTN_1_20_2020_07", "version_label": "July 2020"}
            ],
            "citations": {"checked": 2, "verified": 2, "dropped": 0},
            "documents": {"listed": 20, "filtered": 7, "download_failed": 0, "ingested": 12, "skipped": 1, "failed": 0},
            "notes": [],
            "fallback_from": None,
        },
    )
