"""Idox Public Access: search, tabs, paging, session, disclaimer, downloads and faults, against a local register of its structure."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from portal_samples import INTERVAL, PDF, REF, register, served

from trigpoint.config import Settings, load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import Fault
from trigpoint.demo.idox_portal import IdoxDemoPortal
from trigpoint.errors import (
    ApplicationNotFound,
    BotChallenge,
    DownloadFailed,
    InvalidReference,
    PageNotUnderstood,
    PortalError,
    RequestFailed,
)
from trigpoint.registers import idox_pages
from trigpoint.registers.directory import open_register
from trigpoint.registers.downloads import download_all
from trigpoint.registers.forms import disclaimer_form, form_to
from trigpoint.registers.labels import application_of, parse_html
from trigpoint.registers.register import WebRegister

Portal = Callable[..., IdoxDemoPortal]
Open = Callable[..., WebRegister]
ROW = """
[[register]]
authority = "westcote"
name = "Westcote Council (fictional)"
software = "idox"
address = "{address}"
example = "25/01178/REM"
"""


@pytest.fixture
def portal() -> Iterator[Portal]:
    with ExitStack() as running:

        def start(*documents: Any, **options: Any) -> IdoxDemoPortal:
            return running.enter_context(IdoxDemoPortal(register(*documents), **options))

        yield start


def settings_for(portal: IdoxDemoPortal, tmp_path: Path, **overrides: Any) -> Settings:
    file = tmp_path / "registers.toml"
    file.write_text(ROW.format(address=portal.address))
    values: dict[str, Any] = {
        "trigpoint_data_dir": tmp_path / "data",
        "registers_file": file,
        "scraper_rate_limit": INTERVAL,
        "scraper_timeout": 5,
    }
    return load_settings(**values | overrides)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:
        made: list[WebRegister] = []

        def make(portal: IdoxDemoPortal, **overrides: Any) -> WebRegister:
            made.append(open_register(settings_for(portal, tmp_path, **overrides), "westcote"))
            stack.push_async_exit(made[-1])
            return made[-1]

        yield make


@pytest.mark.parametrize("straight", [False, True])
async def test_details_come_from_three_tabs(straight: bool, portal: Portal, opened: Open) -> None:
    application = await opened(portal(served("A.pdf"), straight_to_details=straight)).application(REF)
    sample = sample_applications()[REF]
    for field in ("reference", "address", "proposal", "applicant", "agent", "status", "ward", "parish", "case_officer",
                  "application_type", "date_received", "date_validated", "consultation_end", "target_date"):  # fmt: skip
        assert getattr(application, field) == getattr(sample, field), field
    assert (application.decision, application.decision_date) == (None, None)  # "Not Available"


async def test_documents_of_all_pages_in_order_with_their_types(portal: Portal, opened: Open) -> None:
    names = [f"Plan {number}.pdf" for number in range(7)]
    running = portal(*(served(name, section="Proposed Plans") for name in names), documents_a_page=3)
    listed = await opened(running).documents(REF)
    assert [one.file_name for one in listed] == names
    assert {one.document_type for one in listed} == {"Proposed Plans"}
    assert len({one.document_id for one in listed}) == 7
    assert all(one.url.startswith(running.address + "/files/") for one in listed)


async def test_a_result_on_a_later_page_is_found(portal: Portal, opened: Open) -> None:
    running = portal(served("A.pdf"), results_a_page=2)
    entry = running.register[REF]
    running.register = {f"{REF}{suffix}": entry for suffix in ("A", "B", "C", "D")} | {REF: entry}
    assert (await opened(running).application(REF)).reference == REF


async def test_an_unknown_reference_is_not_found_and_a_malformed_one_is_not_asked_for(
    portal: Portal, opened: Open
) -> None:
    running = portal(served("A.pdf"))
    west = opened(running)
    with pytest.raises(ApplicationNotFound, match="Westcote Council"):
        await west.application("25/99999/XXX")
    asked = len(running.seen)
    for malformed in ("", "../../etc", "a b", "25//1", "x" * 50):
        with pytest.raises(InvalidReference):
            await west.application(malformed)
    assert len(running.seen) == asked


async def test_no_documents_is_an_empty_list(portal: Portal, opened: Open) -> None:
    assert await opened(portal()).documents(REF) == []


async def test_files_come_with_session_and_referer_and_a_second_run_fetches_nothing(
    portal: Portal, opened: Open, tmp_path: Path
) -> None:
    running = portal(served("Plan A.pdf"), served("Plan B.pdf", PDF + b"b"), needs_referer=True)
    west = opened(running)
    run = await download_all(west, REF, tmp_path / "out")
    assert sorted(path.name for path in run.folder.glob("*.pdf")) == ["Plan A.pdf", "Plan B.pdf"]
    before = len(running.seen)
    again = await download_all(west, REF, tmp_path / "out")
    assert (again.count("already_present"), len(running.seen) - before) == (2, 1)  # only the list


async def test_one_document_can_be_had_without_a_visit_before(portal: Portal, opened: Open, tmp_path: Path) -> None:
    running = portal(served("Plan A.pdf"))
    url = (await opened(running).documents(REF))[0].url
    fetched = await opened(running).fetch(url, tmp_path / "x")  # another object, with no session yet
    assert fetched.path.read_bytes() == PDF


async def test_the_disclaimer_is_accepted_once(portal: Portal, opened: Open) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="disclaimer", times=None)])
    west = opened(running)
    assert len(await west.documents(REF)) == 1
    await west.application(REF)
    assert sum("acceptDisclaimer" in one.target for one in running.seen) == 1


async def test_a_passing_fault_is_tried_again_and_a_lasting_one_is_an_error(portal: Portal, opened: Open) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="passing", match="activeTab=documents", times=2)])
    assert len(await opened(running).documents(REF)) == 1
    running.faults.replace([Fault(kind="passing", match="activeTab=documents", times=None)])
    with pytest.raises(RequestFailed, match="3 times"):
        await opened(running).documents(REF)


@pytest.mark.parametrize("where", ["search.do", "SearchResults", "activeTab=summary", "activeTab=documents"])
async def test_a_strange_page_says_what_was_expected_and_found(where: str, portal: Portal, opened: Open) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="strange", match=where, times=None)])
    west = opened(running)
    with pytest.raises(PageNotUnderstood, match=r"expected .*Found: title 'New planning service'"):
        await (west.documents(REF) if "documents" in where else west.application(REF))


@pytest.mark.parametrize("where", ["search.do", "activeTab=summary", "/files/"])
async def test_a_challenge_stops_everything_at_once_and_shows_the_way_out(
    where: str, portal: Portal, opened: Open, tmp_path: Path
) -> None:
    running = portal(served("A.pdf"), faults=[Fault(kind="challenge", match=where, times=None)])
    west = opened(running)
    url = (await west.documents(REF))[0].url if where == "/files/" else ""
    with pytest.raises(BotChallenge) as caught:
        await (west.fetch(url, tmp_path / "x") if url else west.application(REF))
    assert "Cloudflare" in caught.value.message
    assert running.url in str(caught.value.details["link"])
    assert "trigpoint review --documents" in caught.value.message
    assert sum(one.fault == "challenge" for one in running.seen) == 1  # never asked twice
    assert not (tmp_path / "x").exists()


async def test_a_redirect_away_is_never_followed(portal: Portal, opened: Open, tmp_path: Path) -> None:
    other = portal(served("A.pdf"))
    running = portal(served("A.pdf"), faults=[Fault(kind="away", match="/files/", times=None, value=other.address)])
    west = opened(running)
    url = (await west.documents(REF))[0].url
    with pytest.raises(DownloadFailed, match="away from"):
        await west.fetch(url, tmp_path / "x")
    with pytest.raises(DownloadFailed, match="away from"):
        await west.fetch(other.address + "/files/1/x.pdf", tmp_path / "x")
    assert other.seen == []


@pytest.mark.parametrize(
    "name",
    [
        "../../escape.pdf",
        "..\\..\\escape.pdf",
        "/etc/passwd",
        "CON.pdf",
        ".hidden",
        "a" * 300 + ".pdf",
        "\u202egpj.pdf",
    ],
)
async def test_hostile_names_stay_in_their_folder(name: str, portal: Portal, opened: Open, tmp_path: Path) -> None:
    run = await download_all(opened(portal(served(name))), REF, tmp_path / "out", skip_filter=True)
    assert [one.status for one in run.downloads] == ["downloaded"]
    assert [path.parent for path in whole_files(tmp_path)] == [run.folder]


def whole_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.read_bytes() == PDF]


async def test_requests_keep_their_distance(portal: Portal, opened: Open) -> None:
    running = portal(served("A.pdf"))
    await opened(running, scraper_rate_limit=0.1).application(REF)
    times = [one.at for one in running.seen]
    assert len(times) >= 5  # search form, search, three tabs
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 0.09


def test_documents_in_another_system_are_said_to_be_there() -> None:
    page = parse_html("<a href='https://docs.example/list?ref=1'>View associated documents</a>")
    with pytest.raises(RequestFailed, match=r"another system.*docs\.example"):
        idox_pages.parse_documents(page, "https://west.example/online-applications/x")


def test_rows_without_a_link_are_an_error_only_if_there_is_no_other() -> None:
    head = "<table><tr><td></td><td>Date Published</td><td>Document Type</td><td>Description</td><td>View</td></tr>"
    plain = "<tr><td></td><td>15/09/2026</td><td>Plan</td><td>Layout</td><td>Not available</td></tr>"
    linked = plain.replace("Not available", "<a href='files/0123456789abcdef0123456789ABCDEF/a.jpg'>View</a>")
    base = "https://west.example/online-applications/applicationDetails.do"
    with pytest.raises(PageNotUnderstood, match="None of the 1 documents"):
        idox_pages.parse_documents(parse_html(head + plain + "</table>"), base)
    only = idox_pages.parse_documents(parse_html(head + plain + linked + "</table>"), base)
    assert [(one.file_name, one.document_type, one.description) for one in only] == [("a.jpg", "Plan", "Layout")]
    assert only[0].date_published is not None


pieces = st.sampled_from(
    ["<table id='simpleDetailsTable'>", "<table id='Documents'>", "</table>", "<tr>", "<th>Reference</th>", "<td>25/01178/REM</td>",
     "<th>Application Validated</th><td>Wed 99 Foo 2025</td>", "<td>Date Published</td><td>Document Type</td><td>Description</td>",
     "<a href='/files/xx/a.pdf'>", "<a href='http://[bad/files/'>", "<a class='next' href='?page=2'>", "<li class='searchresult'>",
     "<a href='applicationDetails.do?keyVal=AB%00'>", "<p class='metaInfo'>Ref. No:</p>", "<div class='messagebox'>No results found</div>",
     "<form method=post action='simpleSearchResults.do'>", "<input name='_csrf'>", "<select name=x><option>", "</form>", "Disclaimer",
     "<input type=submit value='I accept'>", "\0", "&#xD800;", "<td colspan='99999'>", "<!--", "<title>"]
)  # fmt: skip


@given(html=st.one_of(st.lists(pieces, max_size=30).map("".join), st.text(max_size=200)))
@examples(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_fuzzed_pages_raise_only_the_parsers_own_errors(html: str) -> None:
    page = parse_html(html)
    for parse in (
        idox_pages.parse_results,
        idox_pages.is_fault,
        lambda one: idox_pages.key_of_details(one, REF),
        lambda one: application_of(idox_pages.details(one), REF, page="x"),
        lambda one: idox_pages.parse_documents(one, "https://west.example/online-applications/x.do"),
        lambda one: idox_pages.next_page(one, "https://west.example/x"),
        lambda one: form_to(one, "simpleSearchResults.do"),
        disclaimer_form,
    ):
        try:
            parse(page)
        except PortalError as error:
            assert error.message
