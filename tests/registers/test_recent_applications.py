"""Lists of new applications: the advanced search of DEF Atrium and the weekly lists of Idox, against local registers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from portal_samples import INTERVAL, REF

from trigpoint.config import load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import Fault
from trigpoint.demo.idox_portal import IdoxDemoPortal
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import SampleEntry
from trigpoint.errors import BotChallenge, InvalidInput, PageNotUnderstood, PortalError, RequestFailed, RobotsRefuse
from trigpoint.registers import atrium_results, idox_pages
from trigpoint.registers.directory import open_register
from trigpoint.registers.forms import form_to
from trigpoint.registers.labels import parse_html
from trigpoint.registers.register import WebRegister

FIRST, LAST = date(2024, 1, 1), date(2025, 12, 31)
SAMPLES = {one.reference: SampleEntry(one, ()) for one in sample_applications().values()}
KINDS = {"atrium": DemoPortal, "idox": IdoxDemoPortal}

Portal = Callable[..., DemoPortal]
Open = Callable[[DemoPortal], WebRegister]


@pytest.fixture(params=["atrium", "idox"])
def software(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def portal(software: str) -> Iterator[Portal]:
    with ExitStack() as running:

        def start(entries: dict[str, SampleEntry] = SAMPLES, **options: Any) -> DemoPortal:
            return running.enter_context(KINDS[software](entries, **options))

        yield start


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    async with AsyncExitStack() as stack:

        def make(portal: DemoPortal) -> WebRegister:
            kind = "idox" if isinstance(portal, IdoxDemoPortal) else "atrium"
            file = tmp_path / "registers.toml"
            file.write_text(
                f'[[register]]\nauthority = "westcote"\nname = "Westcote (fictional)"\nsoftware = "{kind}"\n'
                f'address = "{portal.address}"\n'
            )
            settings = load_settings(
                trigpoint_data_dir=tmp_path / "data",
                registers_file=file,
                scraper_rate_limit=INTERVAL,
                scraper_timeout=5,
            )
            register = open_register(settings, "westcote")
            stack.push_async_exit(register)
            return register

        yield make


def many(count: int) -> dict[str, SampleEntry]:
    return called(*(f"25/{number:05}/F" for number in range(count)))


def called(*references: str) -> dict[str, SampleEntry]:
    return {one: SampleEntry(replace(sample_applications()[REF], reference=one), ()) for one in references}


async def test_new_applications_come_with_what_the_list_tells(portal: Portal, opened: Open, software: str) -> None:
    running = portal()
    listing = await opened(running).recent(FIRST, LAST)
    rows = {row.application.reference: row for row in listing.rows}
    assert set(rows) == set(SAMPLES)
    assert listing.left_out == 0
    for reference, row in rows.items():
        sample = SAMPLES[reference].application
        assert row.application.proposal == sample.proposal
        assert row.application.address == sample.address
        assert row.application.status == sample.status
        assert row.page_url.startswith(running.address + "/")
        if software == "idox":
            assert row.application.date_validated == sample.date_validated


async def test_only_what_is_new_since_a_day_is_asked_for(portal: Portal, opened: Open) -> None:
    listing = await opened(portal()).recent(date(2025, 6, 20), LAST)
    assert [row.application.reference for row in listing.rows] == ["25/02034/F"]
    assert (await opened(portal()).recent(date(2025, 11, 1), LAST)).rows == ()


async def test_all_pages_of_a_long_list_are_read_and_each_application_comes_once(portal: Portal, opened: Open) -> None:
    listing = await opened(portal(many(23), results_a_page=10)).recent(FIRST, LAST)
    assert [row.application.reference for row in listing.rows] == list(many(23))


@pytest.mark.parametrize("software", ["atrium"], indirect=True)
async def test_pages_that_only_a_browser_gets_are_avoided_by_shorter_times(portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, results_a_page=2, script_pages=False)
    listing = await opened(running).recent(FIRST, LAST)
    assert {row.application.reference for row in listing.rows} == set(SAMPLES)
    crowded = portal(many(23), results_a_page=10, script_pages=False)
    with pytest.raises(PageNotUnderstood, match="neither a list"):
        await opened(crowded).recent(FIRST, LAST)


@pytest.mark.parametrize("software", ["idox"], indirect=True)
async def test_wards_are_asked_for_by_their_names_and_an_unknown_one_is_said(portal: Portal, opened: Open) -> None:
    running = portal()
    listing = await opened(running).recent(FIRST, LAST, ["bicester west", "Launton and Otmoor"])
    assert listing.by_ward
    assert {row.application.reference for row in listing.rows} == {"25/02034/F", "25/01502/F", "24/00633/F"}
    with pytest.raises(InvalidInput, match=r"no ward Nowhere\. Its wards are: Bicester South And Ambrosden, Bicester"):
        await opened(running).recent(FIRST, LAST, ["Nowhere"])


@pytest.mark.parametrize("software", ["atrium"], indirect=True)
async def test_a_form_without_wards_says_that_the_list_is_not_by_ward(portal: Portal, opened: Open) -> None:
    assert not (await opened(portal()).recent(FIRST, LAST, ["Bicester West"])).by_ward


async def test_a_register_whose_robots_txt_asks_programs_to_stay_away_is_left_alone(
    portal: Portal, opened: Open
) -> None:
    running = portal(SAMPLES, robots="User-agent: *\nDisallow: /\n")
    with pytest.raises(RobotsRefuse, match=r"robots\.txt.*in a browser"):
        await opened(running).recent(FIRST, LAST)
    assert [one.target for one in running.seen] == ["/robots.txt"]
    allowed = portal(SAMPLES, robots="User-agent: *\nDisallow: /private\n")
    assert len((await opened(allowed).recent(FIRST, LAST)).rows) == 4


@pytest.mark.parametrize("where", ["dvanced|weeklyList", "Results"])
async def test_a_challenge_stops_everything_at_once(where: str, portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, faults=[Fault(kind="challenge", match=where, times=None)])
    with pytest.raises(BotChallenge, match="review them from a folder"):
        await opened(running).recent(FIRST, LAST)
    assert sum(one.fault == "challenge" for one in running.seen) == 1


@pytest.mark.parametrize("where", ["dvanced|weeklyList", "Results"])
async def test_a_strange_page_says_what_was_expected_and_found(where: str, portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, faults=[Fault(kind="strange", match=where, times=None)])
    with pytest.raises(PageNotUnderstood, match=r"expected .*Found: title 'New planning service'"):
        await opened(running).recent(FIRST, LAST)


async def test_a_register_that_is_down_is_asked_three_times_and_no_more(portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, faults=[Fault(kind="error", match="Results", times=None)])
    with pytest.raises(RequestFailed, match="3 times"):
        await opened(running).recent(FIRST, LAST)
    assert sum(one.fault == "error" for one in running.seen) == 3


async def test_the_disclaimer_before_the_search_is_accepted(portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, faults=[Fault(kind="disclaimer", match="dvanced|weeklyList", times=None)])
    assert len((await opened(running).recent(FIRST, LAST)).rows) == 4


async def test_a_redirect_away_is_refused(portal: Portal, opened: Open) -> None:
    running = portal(SAMPLES, faults=[Fault(kind="away", match="Results", value="http://169.254.169.254/x")])
    with pytest.raises(RequestFailed, match="away from"):
        await opened(running).recent(FIRST, LAST)


async def test_references_that_are_none_are_left_out_and_counted(portal: Portal, opened: Open) -> None:
    odd = called("../../etc/passwd", "25/1?x=http://evil.test", "25/00001/F")
    listing = await opened(portal(odd)).recent(FIRST, LAST)
    assert ([row.application.reference for row in listing.rows], listing.left_out) == (["25/00001/F"], 2)


# --- pages that nobody has seen

ATRIUM = (
    "<form action='/Search/Results'><select name='x.Ward'><option value=''>All</option><option>Ea'st</select></form>"
    "<table><tr><th>Application Number</th><th>Location</th><th>Proposal</th><th>Status</th></tr>"
    "<tr><td><span class='mobile-heading'>Application No.</span> 25/1/F</td><td>Here</td><td>12 flats</td><td>-</td></tr>"
    "</table><a href='' data-ajax-target='/Search/ResultsPage/2?module=PLA'>Next</a>"
)
IDOX = (
    "<form action='weeklyListResults.do'><select name='week'><option>12 May 2025</option></select></form>"
    "<ul><li class='searchresult'><a href='applicationDetails.do?keyVal=ABC123'>12 flats</a><p class='address'>Here</p>"
    "<p class='metaInfo'>Ref. No: 25/1/F | Received: Mon 12 May 2025 | Validated: x | Status: -</p></li></ul>"
    "<p class='pager'><a class='next' href='?page=2'>Next</a></p>"
)


@st.composite
def damaged(draw: st.DrawFn, page: str) -> str:
    """Return a page with parts cut out, doubled or replaced."""
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(page)))
        end = min(len(page), start + draw(st.integers(0, 60)))
        page = (
            page[:start]
            + draw(st.sampled_from(["", page[start:end] * 2, "<td>", "'>", "\x00", "<table>", "🚲"]))
            + page[end:]
        )
    return page


@examples(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(ATRIUM), st.text(max_size=50))
def test_damaged_atrium_lists_raise_nothing_but_the_parsers_error(page: str, more: str) -> None:
    html = parse_html(page + more)
    form = form_to(html, "/Search/Results")
    assert form is None or isinstance(form.list_called("ward"), str | None)
    try:
        rows = atrium_results.parse_results(html)
    except PortalError:
        return
    assert all(row.reference for row in rows)
    assert atrium_results.next_page(html) is None or isinstance(atrium_results.next_page(html), str)


@examples(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged(IDOX), st.text(max_size=50))
def test_damaged_weekly_lists_raise_nothing_but_the_parsers_error(page: str, more: str) -> None:
    html = parse_html(page + more)
    form = form_to(html, "weeklyListResults.do")
    for choices in form.choices.values() if form else ():
        idox_pages.weeks_between(choices, FIRST, LAST)
    try:
        rows = idox_pages.parse_results(html)
    except PortalError:
        return
    for row in rows:
        assert row.application().reference == row.reference
        assert row.application().date_received in (None, date(2025, 5, 12))


def test_a_week_is_chosen_if_any_of_its_days_is_wanted() -> None:
    weeks = {"12 May 2025": "a", "19/05/2025": "b", "26 May 2025": "c", "All": "d"}
    assert idox_pages.weeks_between({"12 May 2025": "12 May 2025"}, date(2025, 5, 18), LAST) == ["12 May 2025"]
    assert idox_pages.weeks_between(weeks, date(2025, 5, 19), date(2025, 5, 19) + timedelta(days=6)) == ["b"]
