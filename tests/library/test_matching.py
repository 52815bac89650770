"""Which reference a file is: a match is right or marked as doubtful, never silently wrong."""

from __future__ import annotations

from typing import Any

import pytest

from trigpoint.library.citations import Work, work_of
from trigpoint.library.matching import FileEvidence, match_work, plain_isbn


def work(key: str, title: str, year: int | None = None, author: str | None = None, **csl: Any) -> Work:
    people = [{"family": one} if " " not in one else {"literal": one} for one in (author or "").split("; ") if one]
    entry = {"id": key, "type": "report", "title": title, "author": people, **csl}
    if year:
        entry["issued"] = {"date-parts": [[year]]}
    return work_of(entry, citekey=key, tags=())


PLAN_DRAFT = work("plan-draft", "Local Plan 2031: Draft for Consultation", 2018, "Cherwell District Council")
PLAN = work("plan", "Local Plan 2031 (Adopted)", 2021, "Cherwell District Council")
MONITORING = [
    work(f"amr{year}", f"Annual Monitoring Report {year}", year, "Cherwell District Council")
    for year in (2019, 2020, 2021)
]
VOLUMES = [
    work(f"manual{n}", f"Manual for Streets {n}" if n > 1 else "Manual for Streets", 2004 + 3 * n, "CIHT")
    for n in (1, 2)
]
EDITIONS = [work(f"handbook{n}", "Transport Planning Handbook", 2000 + 5 * n, "Miller", edition=str(n)) for n in (1, 2)]
AUTHORS = [work("smith", "Cycling and the City", 2014, "Smith"), work("jones", "Cycling and the City", 2014, "Jones")]
ALL = [PLAN_DRAFT, PLAN, *MONITORING, *VOLUMES, *EDITIONS, *AUTHORS]


@pytest.mark.parametrize(
    ("evidence", "key"),
    [
        (FileEvidence("amr.pdf", None, "Cherwell District Council\nAnnual Monitoring Report 2020\nDecember 2020"), "amr2020"),
        (FileEvidence("AMR_2021.pdf", "Annual Monitoring Report 2021", "Cherwell District Council, 2021"), "amr2021"),
        (FileEvidence("x.pdf", None, "Local Plan 2031 (Adopted)\nCherwell District Council\nJuly 2021"), "plan"),
        (FileEvidence("x.pdf", None, "Local Plan 2031\nDraft for consultation\nCherwell District Council 2018"), "plan-draft"),
        (FileEvidence("mfs2.pdf", "Manual for Streets 2", "CIHT\nManual for Streets 2: wider application\n2010"), "manual2"),
        (FileEvidence("x.pdf", None, "Cycling and the City\nA. Jones\n2014"), "jones"),
        (FileEvidence("book.pdf", None, "ISBN 0-306-40615-2\nAnything"), "isbn"),
        (FileEvidence("paper.pdf", None, "doi:10.1234/abc.5\nA title that differs"), "doi"),
        (FileEvidence("p.pdf", None, "arXiv:2101.01234v2 [cs.CL]\nWords"), "arxiv"),
    ],
)  # fmt: skip
def test_a_file_that_says_what_it_is_is_matched_surely(evidence: FileEvidence, key: str) -> None:
    works = [
        *ALL,
        work("isbn", "A Book", 1980, ISBN="978-0-306-40615-7"),
        work("doi", "A Paper", 2001, DOI="10.1234/ABC.5"),
        work("arxiv", "A Preprint", 2021, DOI="10.48550/arXiv.2101.01234"),
    ]
    match = match_work(evidence, works)
    assert match is not None
    assert (match.work.citekey, match.is_sure) == (key, True), match


@pytest.mark.parametrize(
    "evidence",
    [
        FileEvidence("amr.pdf", None, "Cherwell District Council\nAnnual Monitoring Report 2022\nDecember 2022"),
        FileEvidence("plan.pdf", None, "Local Plan 2031\nProposed Submission\nCherwell District Council 2019"),
        FileEvidence("plan.pdf", None, "Local Plan 2031 Appendices\nCherwell District Council"),
        FileEvidence("handbook.pdf", "Transport Planning Handbook", "Miller\nTransport Planning Handbook"),
        FileEvidence("city.pdf", None, "Cycling and the City\n2014"),
        FileEvidence("mfs3.pdf", "Manual for Streets 3", "CIHT"),
        FileEvidence("city.pdf", "Cycling and the City", "Notes for a lecture, 1998", author="Brown"),
    ],
)
def test_a_near_twin_is_doubtful_or_unmatched(evidence: FileEvidence) -> None:
    match = match_work(evidence, ALL)
    assert match is None or not match.is_sure, match
    assert match is None or match.reasons


@pytest.mark.parametrize(
    "evidence",
    [
        FileEvidence("notes.pdf", None, "Minutes of a meeting"),
        FileEvidence("x.pdf"),
        FileEvidence("Plan.pdf", "Plan", ""),
    ],
)
def test_a_file_that_is_none_of_them_matches_nothing_surely(evidence: FileEvidence) -> None:
    match = match_work(evidence, ALL)
    assert match is None or not match.is_sure


def test_a_paper_that_cites_many_dois_is_not_taken_for_one_of_them() -> None:
    cited = work("cited", "Something Else Entirely", 1999, "Brown", DOI="10.1/cited")
    evidence = FileEvidence("p.pdf", None, "A study of bridges\nSee doi:10.1/cited and doi:10.1/other")
    assert match_work(evidence, [cited]) is None


def test_both_forms_of_an_isbn_agree() -> None:
    assert plain_isbn("0-306-40615-2") == plain_isbn("978-0-306-40615-7") == "9780306406157"
    assert plain_isbn("12345") is None
