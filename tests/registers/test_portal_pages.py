"""Pages become values: labels matched whole, columns by header, and errors where a page is not understood."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trigpoint.config import load_settings
from trigpoint.errors import ApplicationNotFound, PageNotUnderstood, PortalError
from trigpoint.registers.atrium_documents import document_id, parse_documents, parse_size
from trigpoint.registers.atrium_pages import disclaimer_action, parse_application, require_application
from trigpoint.registers.entries import load_registers
from trigpoint.registers.filters import judge
from trigpoint.registers.labels import parse_html
from trigpoint.registers.models import RegisterDocument

OURS = Path(__file__).parent / "pages"
FIXTURES = Path(os.environ.get("TRIGPOINT_TEST_PAGES", Path(__file__).parents[3] / "shared" / "fixtures" / "portal"))
BASE = "https://register.example"
CHERWELL = load_registers(load_settings()).get(None)
real = pytest.mark.skipif(not FIXTURES.is_dir(), reason="the real pages are not at hand")


def page(name: str, folder: Path = OURS):  # type: ignore[no-untyped-def]
    return parse_html((folder / name).read_text(encoding="utf-8"))


def listed(name: str, folder: Path = FIXTURES) -> list[RegisterDocument]:
    return parse_documents(page(name, folder), BASE)


# --- our own pages, everywhere


def test_cherwell_summary_is_read_by_whole_labels() -> None:
    application = parse_application(page("cherwell_summary.html"), "25/01178/REM")
    assert application.address == "Land North Of Gavray Drive, Bicester"  # not the agent's
    assert application.proposal == "Removal of a condition that does not exist & a new path"
    assert application.decision is None  # "Decision Level" is not the decision
    assert application.agent is None
    assert application.consultation_end is None
    assert (application.date_received, application.date_validated) == (date(2025, 2, 4), date(2025, 2, 7))
    assert (application.applicant, application.ward) == ("Example Homes", "Bicester South")


def test_a_proposal_that_says_does_not_exist_is_an_application() -> None:
    require_application(page("cherwell_summary.html"), "25/01178/REM", register=CHERWELL)


def test_the_empty_state_is_an_empty_list() -> None:
    assert parse_documents(page("cherwell_summary.html"), BASE) == []


def test_columns_are_found_by_their_header() -> None:
    plan, report = parse_documents(page("other_order.html"), BASE)
    assert plan == RegisterDocument(
        document_id=plan.document_id,
        description="Block plan of the site",
        document_type="Plans",
        date_published=date(2025, 7, 22),
        url=f"{BASE}/Document/Download?module=PLA&recordNumber=1&planId=11&imageId=1&isPlan=True&fileName=Block%20Plan.pdf",
        file_size=130 * 1024,
        file_name="Block Plan.pdf",
        drawing_ref="P04",
    )
    assert (report.document_type, report.description, report.file_name) == ("Reports", "Report", "note.msg")
    assert (report.file_size, report.date_published, report.drawing_ref) == (72106, date(2023, 11, 3), None)


@pytest.mark.parametrize(
    ("html", "says"),
    [
        ("", "no table"),
        ("<h1>Planning application search</h1>", "Planning application search"),
        ("<table class=document-list><tr><th>All</th><th>Date</th></tr></table>", "Document Type"),
        ("<table class=document-list><tr><th>All</th><th>Description</th></tr></table>", "No Attachments found"),
        ("<table class=document-list><tr><td>A</td><td>B</td></tr></table>", "header row"),
        (
            "<table class=document-list><tr><th>Document Type</th><th>Description</th></tr><tr><td>A</td><td>B</td></tr></table>",
            "1 rows without a link",
        ),
    ],
)
def test_a_list_that_is_not_understood_is_an_error_that_says_what_was_expected(html: str, says: str) -> None:
    with pytest.raises(PageNotUnderstood, match=says):
        parse_documents(parse_html(html), BASE)


def test_a_search_page_is_an_unknown_application_and_another_page_is_not() -> None:
    with pytest.raises(ApplicationNotFound):
        require_application(parse_html("<form action='/Search/Results'></form>"), "25/01178/REM", register=CHERWELL)
    with pytest.raises(ApplicationNotFound):
        require_application(parse_html("<p>Search</p>"), "25/01178/REM", redirected=True, register=CHERWELL)
    with pytest.raises(PageNotUnderstood, match=r"table\.summaryTbl"):
        require_application(parse_html("<p>Maintenance</p>"), "25/01178/REM", register=CHERWELL)


def test_a_page_of_another_application_is_refused() -> None:
    html = "<table id=summarytable><tr><td>Application Number</td><td>24/1/F</td></tr><tr><td>Status</td><td>Open</td></tr></table>"
    with pytest.raises(PageNotUnderstood, match="24/1/F"):
        parse_application(parse_html(html), "25/01178/REM")


@pytest.mark.parametrize("day", ["31/02/2025", "2025-02-07", "07.02.2025", "٠٧/٠٢/٢٠٢٥", "soon"])
def test_a_date_that_cannot_be_read_is_an_error_not_a_blank(day: str) -> None:
    html = f"<table class=summaryTbl><tr><td>Valid Date</td><td>{day}</td></tr></table>"
    with pytest.raises(PageNotUnderstood, match="dd/mm/yyyy"):
        parse_application(parse_html(html), "25/01178/REM")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("5.2 MB", 5452595),
        ("130kb", 133120),
        ("(70kb)", 71680),
        ("900 bytes", 900),
        ("", None),
        ("big", None),
        ("5 5 MB", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


def test_the_id_of_a_document_does_not_depend_on_its_name_or_host() -> None:
    one = document_id(
        "https://a.example/Document/Download?module=PLA&recordNumber=1&planId=2&imageId=3&isPlan=True&fileName=a.pdf"
    )
    same = document_id(
        "https://b.example/Document/Download?isPlan=true&imageId=3&module=PLA&planId=2&recordNumber=1&fileName=b.pdf"
    )
    other = document_id(
        "https://a.example/Document/Download?module=PLA&recordNumber=1&planId=2&imageId=4&isPlan=True&fileName=a.pdf"
    )
    assert one == same != other
    assert len(one) == 12
    assert int(one, 16) >= 0
    assert document_id("https://a.example/x?fileName=a.pdf") != document_id("https://a.example/x?fileName=b.pdf")


def test_links_that_are_no_addresses_are_not_followed() -> None:
    row = "<tr><td>T</td><td><a class=singledownloadlink href='{}'>x</a></td></tr>"
    rows = "".join(
        row.format(href) for href in ("javascript:alert(1)", "http://[bad", "#", "file:///etc/passwd", "/ok?planId=1")
    )
    head = "<table class=document-list><tr><th>Document Type</th><th>Description</th></tr>"
    (document,) = parse_documents(parse_html(head + rows + "</table>"), BASE)
    assert document.url == f"{BASE}/ok?planId=1"


def big_page(rows: int) -> str:
    row = (
        '<tr><td><input data-filename="Plan {0}.pdf"></td><td><a class="singledownloadlink" href="/Document/Download?module=PLA'
        '&amp;recordNumber=1&amp;planId={0}&amp;imageId={0}&amp;isPlan=True&amp;fileName=Plan%20{0}.pdf">Plan {0}.pdf</a></td>'
        "<td>04/02/2025</td><td>Plan {0}</td><td>1.5 MB</td><td>P{0}</td></tr>"
    )
    head = "<th>All</th><th>Document Type</th><th>Date</th><th>Description</th><th>File Size</th><th>Drawing/Rev Number</th>"
    sections = [
        f"<tr class='header active'><th>Section {n // 100}</th></tr>{row.format(n)}" if n % 100 == 0 else row.format(n)
        for n in range(rows)
    ]
    return f"<table class=document-list><thead><tr>{head}</tr></thead><tbody>{''.join(sections)}</tbody></table>"


def test_2200_documents_on_one_page() -> None:
    documents = parse_documents(parse_html(big_page(2200)), BASE)
    assert len({document.document_id for document in documents}) == 2200
    assert documents[-1].document_type == "Section 21"
    assert documents[1234].drawing_ref == "P1234"


# --- the real pages


@real
@pytest.mark.parametrize(
    ("name", "sections", "passing"),
    [("cherwell_documents_th_sections.html", 5, 5), ("cherwell_documents_colspan_sections.html", 4, 6)],
)
def test_real_cherwell_lists(name: str, sections: int, passing: int) -> None:
    documents = listed(name)
    assert len(documents) == 9
    assert len({document.document_type for document in documents}) == sections
    assert sum(judge(document).keep for document in documents) == passing
    assert all(document.file_size and document.date_published for document in documents)
    assert [document.drawing_ref for document in documents if document.description == "Masterplan"] == ["P04"]


@real
def test_real_leicester_page() -> None:
    application = parse_application(page("leicester_20251225.excerpt.html", FIXTURES), "20251225")
    assert application.address == "101 Regent Road"
    assert application.application_type == "Certificate of lawful existing use/development"
    assert (application.status, application.decision) == ("Determined", "Unconditional approval")
    assert (application.date_validated, application.consultation_end) == (date(2025, 7, 23), None)
    assert (application.target_date, application.decision_date) == (date(2025, 9, 16), date(2025, 10, 29))
    documents = listed("leicester_20251225.excerpt.html")
    assert [document.document_type for document in documents] == [
        "Decision Documents", "Decision Documents", "Application Documents", "Plans",
    ]  # fmt: skip
    assert documents[1].file_name == "W012578.pdf"
    assert documents[1].description == "Planning Officer report"
    assert documents[3].file_size == 2137 * 1024


@real
def test_real_disclaimer_and_links_behind_a_tick_box() -> None:
    disclaimer = page("fylde_disclaimer.excerpt.html", FIXTURES)
    assert disclaimer_action(disclaimer) == "/Disclaimer/Accept?returnUrl=%2FPlanning%2FDisplay%2F23%2F0695"
    with pytest.raises(PageNotUnderstood):
        parse_documents(disclaimer, BASE)
    documents = listed("fylde_23_0695_disabled_links.excerpt.html")
    assert [(one.file_name[-4:], one.file_size, one.document_type) for one in documents] == [
        (".pdf", 72106, "Planning Decision Document"),
        (".msg", 149504, "Planning Application Documents"),
    ]
    application = parse_application(page("fylde_23_0695_disabled_links.excerpt.html", FIXTURES), "23/0695")
    assert application.address == "LAND NORTH PLUMPTON CLOSE WESTBY WITH PLUMPTONS"
    assert application.consultation_end == date(2023, 11, 6)


@real
def test_real_empty_state() -> None:
    assert listed("vog_2025_00528_empty_documents.excerpt.html") == []
    application = parse_application(page("vog_2025_00528_empty_documents.excerpt.html", FIXTURES), "2025/00528/OBS")
    assert (application.decision, application.date_received) == ("No observations (OBS)", date(2025, 5, 30))


# --- mutated pages


def _sources() -> list[str]:
    folders = [OURS, FIXTURES] if FIXTURES.is_dir() else [OURS]
    return [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.html"))]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(_sources()))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 200)))
        piece = draw(
            st.one_of(
                st.just(""),
                st.text(max_size=20),
                st.sampled_from(
                    ["<table>", "</td>", "<tr><td colspan=99>", "<!--", "\x00", "<th>", "&#0;", "' \"", "<template>"]
                ),
                st.just(text[start:end] * 3),
            )
        )
        text = text[:start] + piece + text[end:]
    return text


@given(mutated())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_mutated_pages_give_values_or_the_parsers_own_error(html: str) -> None:
    for read in (
        lambda parsed: parse_documents(parsed, BASE),
        lambda parsed: parse_application(parsed, "23/0695"),
        lambda parsed: require_application(parsed, "23/0695", register=CHERWELL),
        disclaimer_action,
    ):
        try:
            read(parse_html(html))
        except PortalError as error:
            assert error.message
