"""Fifty questions over real plans, a tax form, a handbook and a book of 619 pages: page, section and citation are checked
against the files by PyMuPDF's own reading of them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from library_samples import library_settings

from trigpoint.library.assignments import set_reference
from trigpoint.library.citations import load_references
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.text.extract import DocumentProcessor

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

TOP = 5
LEAST_ANSWERED = 40  # of fifty, among the best five passages: two plans often say the same, and phrases cross passages

FILES = {
    "nppf2024": "policy/NPPF_December_2024.pdf",
    "nppf2025draft": "policy/Draft_NPPF_December_2025.pdf",
    "tewkesbury": "policy/Tewkesbury_Borough_Plan_2011-2031_Adopted_2022.pdf",
    "blackcountry": "policy/Black_Country_Core_Strategy_2011.pdf",
    "irs": "pdfs/layout/i1040nr.pdf",
    "thedas": "pdfs/large/DA-619p.pdf",
    "layoutparser": "pdfs/layout/layout-parser-paper-with-empty-pages.pdf",
    "amt": "pdfs/layout/amt_handbook_sample.pdf",
}

QUESTIONS = [
    ("nppf2024", "May unmet needs of neighbouring areas be provided for?", "unmet development needs from neighbouring areas are provided for"),
    ("nppf2024", "What weight can be given to policies of emerging plans?", "may give weight to relevant policies in emerging plans"),
    ("nppf2024", "Can the delivery of First Homes go on?", "Delivery of First Homes can, however, continue"),
    ("nppf2024", "Where should housing in rural areas be located?", "housing should be located where it will enhance or maintain the vitality of rural communities"),
    ("nppf2024", "What if there are not enough edge of centre sites?", "If sufficient edge of centre sites cannot be identified"),
    ("nppf2024", "When may playing fields be lost to alternative sports provision?", "alternative sports and recreational provision, the benefits of which clearly outweigh the loss"),
    ("nppf2024", "Should full fibre connections be prioritised?", "prioritise full fibre connections to existing and new developments"),
    ("nppf2024", "Are minimum density standards to be considered elsewhere in the plan area?", "minimum density standards should also be considered for other parts of the plan area"),
    ("nppf2024", "What must be shown for new Green Belt about major changes in circumstances?", "major changes in circumstances have made the adoption of this exceptional measure necessary"),
    ("nppf2024", "How is site-specific viability assessment treated for Green Belt land?", "site-specific viability assessment for land within or released from the Green Belt"),
    ("nppf2024", "What is the aim of the sequential test for flood risk?", "the aim of the sequential test is to steer new development to areas with the lowest risk of flooding"),
    ("nppf2024", "Which land should be allocated with regard to environmental value?", "allocate land with the least environmental or amenity value"),
    ("nppf2024", "Can restrictions be placed on existing businesses because of later development nearby?", "Existing businesses and facilities should not have unreasonable restrictions placed on them"),
    ("nppf2024", "How are proposals treated that preserve elements of the setting of a heritage asset?", "preserve those elements of the setting that make a positive contribution to the asset"),
    ("nppf2024", "Should methane from coal mines be captured?", "encourage the capture and use of methane from coal mines"),
    ("nppf2024", "Must discounted housing remain at a discount for later households?", "ensure housing remains at a discount for future eligible households"),
    ("nppf2024", "When may development be refused on highways grounds?", "only be prevented or refused on highways grounds"),
    ("nppf2024", "Who has first priority in the layout of movement within a scheme?", "give priority first to pedestrian and cycle movements"),
    ("nppf2024", "What is the purpose of the planning system?", "The purpose of the planning system is to contribute to the achievement of sustainable development"),
    ("nppf2025draft", "What should the preparation of plans be shaped and underpinned by?", "shaped and underpinned by information and data"),
    ("nppf2025draft", "Do settlements include allocations that will become part of them?", "Settlements should include any allocations that would ultimately form part of the settlement"),
    ("nppf2025draft", "Can affordable housing be asked of small schemes in Designated Rural Areas?", "In Designated Rural Areas, development plans may set affordable housing requirements"),
    ("nppf2025draft", "What must an impact assessment demonstrate?", "In circumstances where an impact assessment is required"),
    ("nppf2025draft", "How can empty homes and vacant buildings be used better?", "Making better use of vacant and under-utilised land and buildings"),
    ("nppf2025draft", "May innovation and change be precluded where density is increased?", "This should not preclude innovation and change where appropriate"),
    ("nppf2025draft", "Is the remediation of derelict and contaminated land an opportunity?", "remediating despoiled, degraded, derelict, contaminated and unstable land"),
    ("nppf2025draft", "What should green infrastructure and nature-based solutions secure?", "nature-based solutions to secure multiple benefits"),
    ("nppf2025draft", "Which Written Ministerial Statements are superseded?", "Written Ministerial Statements and other planning policy documents superseded by this Framework"),
    ("tewkesbury", "Which policies can the plan include for decision makers?", "a clear indication of how a decision maker should react to a development proposal"),
    ("tewkesbury", "Are dwellings for rural workers in the countryside allowed?", "Dwellings essential for rural workers to live permanently at or near their place of work"),
    ("tewkesbury", "What does growth in the older population require?", "dramatic growth in the older population"),
    ("tewkesbury", "What must be demonstrated for new buildings near a group of farm buildings?", "essential to the new use and must be closely related to an existing group of farm buildings"),
    ("tewkesbury", "Which strategy commits to an immediate review of retail policies?", "commits to an immediate review of retail policies across the area"),
    ("tewkesbury", "How is street furniture considered for accessibility?", "street furniture would have a negative impact on accessibility and ease of movement"),
    ("tewkesbury", "Which standards apply to Green Infrastructure under NAT4?", "Green Infrastructure being designed in accordance with"),
    ("tewkesbury", "What about allotments and locally produced food?", "Promoting allotments and gardens for exercise, recreation and for healthy locally produced food"),
    ("tewkesbury", "Which plan identifies high frequency bus routes through the borough?", "identifies a number of high frequency routes through the borough"),
    ("tewkesbury", "What grows on the steep slopes of Nottingham Hill?", "on the steep slopes of Nottingham Hill"),
    ("blackcountry", "Is access to Lickey Hills and Uffmoor Wood encouraged?", "Access to Lickey Hills, Hagley Wood, Uffmoor Wood"),
    ("blackcountry", "What entertainment and leisure facilities suit town centres?", "suitable for the town centres to provide entertainment, leisure and cultural facilities"),
    ("blackcountry", "Are the authorities committed to traffic management under the 2004 Act?", "committed to considering all aspects of traffic management"),
    ("blackcountry", "How much of energy consumption in the West Midlands is renewable?", "Renewable energy sources currently account for only 1% of total energy consumption"),
    ("blackcountry", "Is it certain that sand and gravel extraction will come forward?", "no certainty that proposals for sand and gravel extraction will come forward"),
    ("blackcountry", "Which waste operations suit employment land?", "Operations Likely to be Suitable on all Employment Land"),
    ("irs", "Instructions for which form of nonresident alien income tax return?", "Nonresident Alien Income Tax Return"),
    ("thedas", "What has the Waking Sea Bannorn been famous for?", "has been famous since time immemorial for its archers"),
    ("thedas", "What can veilfire transfer to the reader?", "Veilfire can transfer a tangible impression of sights, sounds, and even emotions"),
    ("thedas", "What did the Ashkaari see when he looked upon the destruction by locusts?", "When the Ashkaari looked upon the destruction wrought by locusts"),
    ("layoutparser", "Which open-source library streamlines deep learning in document image analysis?", "This paper introduces LayoutParser, an open-source library"),
    ("amt", "What are wing-type nuts made of?", "Wing-type nuts are made of anodized aluminum alloy"),
]  # fmt: skip

# Written from pages drawn at random, with their bar, before any of them was asked.
UNSEEN = [
    ("nppf2024", "Why does enforcement matter to the public?", "Effective enforcement is important to maintain public confidence in the planning system"),
    ("nppf2024", "Who must be consulted about development near a pipeline or a major hazard site?", "consult the appropriate bodies when considering applications for the siting of, or changes to, major hazard sites"),
    ("nppf2024", "Which wetlands are of international importance?", "Wetlands of international importance, designated under the 1971 Ramsar Convention"),
    ("nppf2024", "When does a housing site count as deliverable?", "sites for housing should be available now, offer a suitable location for development now"),
    ("nppf2025draft", "What is large-scale shared living?", "Non-self-contained accommodation which provides private rooms alongside shared communal spaces"),
    ("nppf2025draft", "May a neighbourhood plan that was submitted be withdrawn and updated?", "the qualifying body may choose to withdraw the plan and update it"),
    ("nppf2025draft", "Which policy applies to development that affects World Heritage Sites?", "Any development affecting World Heritage Sites should be assessed against this policy"),
    ("tewkesbury", "Which flood risk study sets requirements for individual sites?", "site specific FRA requirements set out within the Level 2 Strategic Flood Risk Assessment"),
    ("tewkesbury", "Which town is the focus for larger-scale uses?", "Tewkesbury town will be expected to be main focus for larger-scale uses"),
    ("tewkesbury", "Are premises in settlements preferred to the open countryside for shops?", "priority will always be given to premises/sites within settlements"),
    ("blackcountry", "How were waste facilities identified?", "detailed analysis of all known licensed and exempt facilities in each authority area"),
    ("blackcountry", "Where is the green borderland most prominent?", "The green borderland, most prominent in parts of Dudley, Walsall and the Sandwell Valley"),
    ("blackcountry", "What is assumed about housing grant for affordable dwellings?", "assume that housing grant levels continue to provide the same number of affordable dwellings annually"),
    ("blackcountry", "Can the schools cope with the growth in housing?", "Housing growth proposals can be accommodated by existing and proposed education provision"),
    ("irs", "Is there a penalty for contributions above the limits?", "You may owe a penalty if your contributions exceed these limits"),
    ("thedas", "Whose templars are strange and red and work with mages?", "the ones that came are strange, and red, and are working with the mages"),
    ("thedas", "Who was the supreme lord of Nevarra for sixty years?", "King Caspar the Magnificent, sixty years the supreme lord of Nevarra"),
    ("thedas", "What did the herbalist suggest?", "The herbalist suggested powdered bronto horn"),
    ("layoutparser", "Can the functions for document images be integrated with existing pipelines?", "can be seamlessly integrated with existing DIA pipelines"),
    ("amt", "How does the case turn the threaded insert?", "the key of the case fits into the slotted keyway of the insert"),
]  # fmt: skip
LEAST_UNSEEN = 16  # of twenty: the share that was asked of the fifty
ASKED = [*QUESTIONS, *UNSEEN]


def folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isascii() and c.isalnum())


def words(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return set(re.findall(r"[a-z]{4,}", plain))


@pytest.fixture(scope="module")
def answers(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[list[dict[str, Any]]]]:
    """The best passages for each question, out of one project with all the files."""
    folder = tmp_path_factory.mktemp("fifty")
    entries = [{"id": key, "type": "report", "title": f"Work {key}"} for key in FILES]
    (folder / "refs.json").write_text(json.dumps(entries))
    settings = library_settings(folder, '[library.projects."real"]\nreferences = "refs.json"\n')
    with closing(Library.open(settings)) as library, closing(DocumentProcessor(settings)) as processor:
        project = library.projects.get("real")
        paths = [shared_data / name for name in FILES.values()]
        audit = Ingestion(library, project, processor, folder / "audit").run(paths)
        assert audit.count("failed") == 0
        for key, path in zip(FILES, paths, strict=True):
            set_reference(
                library.passages(project), project.embed_model, str(path), key, load_references(project.references)
            )
        yield [library.query_hybrid("real", question, TOP)["items"] for _, question, _ in ASKED]


@pytest.fixture(scope="module")
def pages(shared_data: Path) -> Any:
    """The text of a page as PyMuPDF reads it, and the titles of the bookmarks."""

    @cache
    def opened(key: str) -> tuple[list[str], frozenset[str]]:
        with pymupdf.open(shared_data / FILES[key]) as document:
            return [page.get_text() for page in document], frozenset(
                folded(title) for _, title, _ in document.get_toc()
            )

    return opened


def test_nearly_all_questions_are_answered_by_the_work_that_says_it(answers: list[list[dict[str, Any]]]) -> None:
    answered = [
        any(item["citekey"] == key and says(item, phrase) for item in items)
        for (key, _, phrase), items in zip(ASKED, answers, strict=True)
    ]
    missed = [question for (_, question, _), found in zip(ASKED, answered, strict=True) if not found]
    fifty, unseen = sum(answered[: len(QUESTIONS)]), sum(answered[len(QUESTIONS) :])
    print(f"{fifty} of {len(QUESTIONS)} and {unseen} of the {len(UNSEEN)} unseen are answered; not: {missed}")
    assert (len(QUESTIONS), len(UNSEEN)) == (50, 20)
    assert fifty >= LEAST_ANSWERED, missed
    assert unseen >= LEAST_UNSEEN, missed


def says(item: dict[str, Any], phrase: str) -> bool:
    return folded(phrase) in folded(item["render_text"]) or words(phrase) <= words(item["render_text"])


def test_every_passage_is_on_the_pages_that_it_names(answers: list[list[dict[str, Any]]], pages: Any) -> None:
    wrong = []
    for item in (item for items in answers for item in items):
        text, _ = pages(item["citekey"])
        first, last = item["page_span"]
        there = words(" ".join(text[first - 1 : last]))
        said = words(item["render_text"].replace("-\n", ""))
        if len(said & there) < 0.85 * len(said):
            wrong.append((item["citekey"], item["page_span"], sorted(said - there)[:8]))
    assert wrong == []


def test_every_section_is_a_heading_at_or_before_its_page(answers: list[list[dict[str, Any]]], pages: Any) -> None:
    wrong = []
    for item in (item for items in answers for item in items if item["section"]):
        text, bookmarks = pages(item["citekey"])
        before = folded(" ".join(text[: item["page_span"][1]]))
        title = folded(item["section"])
        bare = folded(re.sub(r"^(Chapter|Section|Policy|Annex|Appendix|Part) ", "", item["section"]))
        if title not in bookmarks and title not in before and bare not in before:
            wrong.append((item["citekey"], item["page_span"], item["section"]))
    assert wrong == []


def test_the_answer_is_on_a_page_that_says_it(answers: list[list[dict[str, Any]]], pages: Any) -> None:
    """Of the passages that have the phrase, the named pages have it too."""
    wrong = []
    for (key, question, phrase), items in zip(ASKED, answers, strict=True):
        text, _ = pages(key)
        for item in items:
            if item["citekey"] == key and folded(phrase) in folded(item["render_text"]):
                first, last = item["page_span"]
                if folded(phrase) not in folded(" ".join(text[first - 1 : last])):
                    wrong.append((question, item["page_span"]))
    assert wrong == []
