"""A client that behaves as a browser does, and a review with everything in it that a page shows."""

from __future__ import annotations

from typing import Any

import httpx

from trigpoint.review.result import ReviewResult

NOWHERE = "http://127.0.0.1:9"
"""A register that cannot be reached: tests ask nobody outside this machine."""


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


LONG = (
    "The shared footway and cycleway along the primary street is 2.5 m wide between the site access and the school, below the "
    "3.0 m that guidance asks for where people walking and cycling share a path, and narrows to 2.0 m at the bridge"
)


def model_led(document_id: str = "25_01178_REM_0a495d") -> ReviewResult:
    """A long review as a model would judge it: ten aspects, every outcome, charts, and texts of some length."""
    quotes = (
        "Each house is provided with 2 cycle parking spaces per dwelling",
        "The two blocks of flats provide 144 spaces including 127 spaces in two-tier racks",
        "Visitor cycle parking is provided at 1 Sheffield stand per 10 dwellings",
    )
    outcomes = ("failed", "partly", "failed", "met", "contradicted", "failed", "partly", "met", "contradicted", "met")

    def cited(number: int) -> dict[str, Any]:
        citation = finding()["evidence"][0] | {"document_id": document_id, "pages": [11]}
        return citation | {"quote": quotes[number % 3], "passage_id": f"passage_{number}"}

    def judged(number: int, part: int) -> dict[str, Any]:
        outcome = outcomes[(number + part) % 10]
        more: dict[str, Any] = {}
        if outcome == "failed":
            measures = [{"label": "Transport Assessment, page 9", "value": 2.5, "shown": "2.5 m"}]
            more["comparison"] = {"measures": measures, "wanted": "at least", "bound": 3.0, "bound_shown": "3.0 m"}
        if outcome == "contradicted":
            more["policy"] = []
        return finding(
            f"{LONG} ({number}.{part})",
            check=f"aspect_{number}.check_{part}",
            requirement=f"Requirement {number}.{part}: shared routes and two-way cycle tracks at least 3.0 m wide",
            outcome=outcome,
            essential=part == 0,
            evidence=[cited(number + part), cited(number + part + 1)],
            **more,
        )

    names = ("Cycle Parking", "Cycle Routes", "Junctions", "Permeability", "Trip Generation", "Active Travel Route Audit",
             "Access to Public Transport", "Off-site Infrastructure", "Travel Planning", "Placemaking")  # fmt: skip
    aspects = [
        {
            "id": f"aspect_{number}",
            "name": name,
            "rating": ("red", "amber", "green")[number % 3],
            "key_issue": LONG,
            "assessed": "no" if number == 9 else "partly",
            "findings": [] if number == 9 else [judged(number, part) for part in range(3)],
            "not_assessed": [
                {"check": "a", "requirement": "A bus every half hour", "essential": True, "reason": "Pages mention it.",
                 "places": [{"document": "Travel Plan.pdf", "document_id": document_id, "pages": [3]}]},
                {"check": "b", "requirement": "A station", "reason": "We found no statement of it in the 62 pages we could read.",
                 "request": "Show the way to the station"},
            ],
        }
        for number, name in enumerate(names)
    ]  # fmt: skip
    base = result("red").model_dump(mode="json")
    rows = [
        {"requirement": f["requirement"], "policy_source": "LTN_1_20", "compliant": False, "notes": f["text"],
         "policy_ref": "LTN 1/20:Table 11-1", "outcome": f["outcome"]}
        for aspect in aspects for f in aspect["findings"] if f["policy"]
    ]  # fmt: skip
    base["review"] |= {"aspects": aspects, "policy_compliance": rows, "assessed": "partly"}
    base["metadata"] |= {"model": "claude-sonnet-5-5", "analyser": "llm"}
    return ReviewResult.model_validate(base)
