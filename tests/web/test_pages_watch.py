"""The page Watch: add, look, review with one click; in a browser too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import httpx
import pytest
from page_samples import browser as client_of
from playwright.sync_api import Browser, expect

from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import SampleEntry

LOOKED_FOR = {"authority": "cherwell", "min_dwellings": "100", "since": "2024-01-01"}


@pytest.fixture
def portal() -> Iterator[DemoPortal]:
    with DemoPortal({one.reference: SampleEntry(one, ()) for one in sample_applications().values()}) as running:
        yield running


@pytest.fixture
def address(portal: DemoPortal, site_settings: Callable[..., Settings]) -> Iterator[str]:
    settings = site_settings(cherwell_portal_url=portal.url, scraper_rate_limit=0.01)
    with serving(create_app(settings)) as running:
        yield running


@pytest.fixture
def site(address: str) -> Iterator[httpx.Client]:
    with client_of(address) as client:
        yield client


def added(site: httpx.Client, **fields: str) -> str:
    answer = site.post("/watch", data=LOOKED_FOR | fields)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).removeprefix("/watch#")


def test_nothing_is_fetched_until_look_now_is_pressed(site: httpx.Client, portal: DemoPortal) -> None:
    assert "There are no watches yet" in site.get("/watch").text
    assert 'href="/watch"' in site.get("/").text
    watch_id = added(site)
    assert "Not checked yet" in site.get("/watch").text
    assert portal.seen == []
    assert site.post(f"/watch/{watch_id}/run").status_code == 303
    page = site.get("/watch").text
    assert "4 listed since 1 January 2024, 2 match" in page
    assert "200 homes" in page
    assert "84 dwellings" not in page


def test_one_click_reviews_an_application_and_marks_it_as_seen(site: httpx.Client) -> None:
    watch_id = added(site)
    site.post(f"/watch/{watch_id}/run")
    assert site.get("/watch").text.count(">New<") == 2
    started = site.post(f"/watch/{watch_id}/review", data={"application_ref": "24/00633/F"})
    assert started.status_code == 303
    assert "24/00633/F" in site.get(started.headers["location"]).text
    assert site.get("/watch").text.count(">New<") == 1
    again = site.post(f"/watch/{watch_id}/review", data={"application_ref": "24/00633/F"})
    assert again.status_code == 409
    assert site.post(f"/watch/{watch_id}/review", data={"application_ref": "25/02034/F"}).status_code == 422
    site.post(f"/watch/{watch_id}/seen")
    assert ">New<" not in site.get("/watch").text
    assert site.post(f"/watch/{watch_id}/remove").status_code == 303
    assert "There are no watches yet" in site.get("/watch").text


def test_a_challenge_shows_the_link_and_the_way_to_review_files(site: httpx.Client, portal: DemoPortal) -> None:
    watch_id = added(site)
    portal.faults.replace([Fault(kind="challenge", times=None)])
    assert site.post(f"/watch/{watch_id}/run").status_code == 502
    page = site.get("/watch").text
    assert "Cloudflare" in page
    assert f'href="{portal.url}' in page
    assert 'href="/reviews/files">review what you have' in page


def test_words_of_the_register_cannot_become_markup(site: httpx.Client, portal: DemoPortal) -> None:
    from dataclasses import replace

    sample = sample_applications()["25/01178/REM"]
    portal.register = {sample.reference: SampleEntry(replace(sample, proposal="<script>x</script> 300 homes"), ())}
    watch_id = added(site)
    site.post(f"/watch/{watch_id}/run")
    page = site.get("/watch").text
    assert "&lt;script&gt;x&lt;/script&gt; 300 homes" in page
    assert "<script>x" not in page


@pytest.mark.parametrize(
    "wrong", [{"min_dwellings": "many"}, {"since": "1/2/2024"}, {"authority": "birmingham"}, {"words": "x"}]
)
def test_wrong_values_are_said_and_what_was_written_stays(wrong: dict[str, str], site: httpx.Client) -> None:
    answer = site.post("/watch", data=LOOKED_FOR | {"wards": "Bicester <West>"} | wrong)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "Bicester &lt;West&gt;" in answer.text
    assert "There are no watches yet" in answer.text


def test_an_unknown_watch_is_not_found(site: httpx.Client) -> None:
    assert site.post("/watch/0123abcd/run").status_code == 404
    assert site.post("/watch/..%2fx/run").status_code in (404, 422)


@pytest.mark.slow
def test_in_a_browser_a_watch_leads_to_a_review(browser: Browser, address: str, axe: str) -> None:
    context = browser.new_context(base_url=address, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto("/watch")
    page.get_by_label("Minimum number of homes").fill("50")
    page.get_by_label("Since").fill("2024-01-01")
    page.get_by_role("button", name="Add the watch").click()
    page.get_by_role("button", name="Look now").click()
    expect(page.get_by_text("4 listed since 1 January 2024, 3 match")).to_be_visible()
    page.evaluate(axe)
    problems = page.evaluate("async () => (await axe.run()).violations.map(one => one.id + ': ' + one.help)")
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Review 25/02034/F").click()
    expect(page).to_have_url(re.compile("/reviews/rev_"))
    expect(page.get_by_role("heading", name="The review is under way")).to_be_visible()
    context.close()
