"""The pages in a real browser, on the whole product: what a person does, and what axe says of every page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pymupdf
import pytest
from marked_words import expect_marked_page, marked_pixels
from page_samples import model_led
from playwright.sync_api import Browser, BrowserContext, Page, expect
from redis import Redis
from whole_site import every_page, running_everything
from writing import write_by_keyboard, write_by_mouse

from trigpoint.config import load_settings
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.storage.redis import redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KEY = "sk-browser-key"
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def address(browser: Browser, folder: Path) -> Iterator[str]:
    with running_everything(folder) as running:
        yield running


@pytest.fixture
def context(browser: Browser, address: str) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=address, accept_downloads=True, viewport={"width": 1280, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on whose console nothing may be said."""
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    assert said == []


@pytest.fixture(scope="module")
def review(browser: Browser, address: str) -> str:
    """Submit a reference by keyboard, watch its phases to the end; the address of the finished review."""
    context = browser.new_context(base_url=address)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Application reference").fill("25/01178/rem")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The review is under way")).to_be_visible()
    seen, said, badges = set(), set(), set()
    for _ in range(600):
        if page.get_by_role("heading", name="The review is under way").count() == 0:
            break
        current = page.locator("[aria-current=step]")
        if current.count():
            seen.add(current.first.get_attribute("data-phase"))
            said.add(page.locator("[data-detail]").first.text_content() or "")
            badges.add(page.locator(".title-row .status").first.text_content())
        page.wait_for_timeout(250)
    expect(page.get_by_role("heading", name="Points that matter")).to_be_visible(timeout=120_000)
    assert len(seen) >= 2, f"the page should have moved through the phases by itself, but showed {seen}"
    within = re.compile(r"^Reading .+, (page|passage) \d+ of \d+ \(\d+ of 13 documents done\)$")
    assert any(within.match(line) for line in said), f"no place within a document was shown: {said}"
    assert "Processing" in badges
    context.close()
    return page.url.removeprefix(address)


@pytest.fixture(scope="module")
def long_review(folder: Path, address: str, review: str) -> str:
    """A second review of the same application, with a result as long as a model writes it."""
    with httpx.Client(base_url=address, trust_env=False) as client:
        place = client.post("/api/v1/reviews", json={"application_ref": "25/01178/REM"}).json()["links"]["self"]
        for _ in range(480):
            state = client.get(place).json()
            if state["status"] in ("completed", "failed"):
                break
            time.sleep(0.5)
        assert state["status"] == "completed"
        documents = {
            e["document"]: e["document_id"]
            for a in state["review"]["aspects"]
            for s in a["says"]
            for e in [s["citation"]]
        }
    found = model_led(documents["Transport Assessment.pdf"])
    with redis_server(load_settings(trigpoint_data_dir=folder / "data")) as url, Redis.from_url(url) as redis:
        stored = {name: getattr(found, name).model_dump_json() for name in ("application", "review", "metadata")}
        redis.hset(f"review:{place.rsplit('/', 1)[1]}", mapping=stored)
    return str(place).removeprefix("/api/v1")


def test_a_finding_opens_its_page_beside_it_and_leads_back(page: Page, review: str) -> None:
    page.goto(review)
    expect(page.get_by_role("heading", level=1)).to_have_text("25/01178/REM")
    page.locator("[data-finding] figcaption a").first.click()
    pane = page.get_by_role("complementary", name="The document")
    expect_marked_page(pane.locator("figure.sheet img").first)
    assert page.url.endswith(review) or "#finding-" in page.url
    pane.get_by_role("link", name=re.compile(", page")).first.click()
    expect_marked_page(page.locator("figure.sheet img").first)
    page.locator("[data-back]").first.click()
    expect(page.locator("[data-finding].current")).to_be_in_viewport()


@pytest.mark.parametrize(("hand", "width"), [("mouse", 1280), ("mouse", 390), ("keyboard", 1280)])
def test_from_a_reference_to_a_signed_letter(page: Page, tmp_path: Path, hand: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/")
    if hand == "mouse":
        write_by_mouse(page)
    else:
        write_by_keyboard(page)
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    link = page.get_by_role("link", name="Letter (Word)")
    with page.expect_download() as waiting:
        link.click() if hand == "mouse" else link.press("Enter")
    waiting.value.save_as(tmp_path / "letter.docx")
    with pymupdf.open(tmp_path / "letter.docx") as letter:  # another library than the one that wrote it
        words = " ".join(" ".join(sheet.get_text() for sheet in letter).split())
    assert words.startswith("A. Writer 1 Mill Lane Bicester")
    assert "Cherwell District Council 39 Castle Quay Banbury OX16 5FD" in words
    assert "Objection to planning application 24/00633/F" in words
    assert "Long-stay cycle parking is below the minimum" in words
    assert words.endswith("Yours faithfully, A. Writer")


def test_the_strip_of_a_finding_shows_its_words_marked(page: Page, review: str) -> None:
    page.goto(review)
    strip = page.locator(".strip-of img").first
    strip.scroll_into_view_if_needed()
    expect(strip).to_have_js_property("complete", True)
    assert marked_pixels(strip) > 500


def test_findings_are_walked_through_by_keyboard_with_their_page_beside(page: Page, long_review: str) -> None:
    page.goto(long_review)
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        expect(page.locator("[data-finding].current")).to_be_focused()
        seen.append(page.evaluate("document.activeElement.id"))
    assert len(set(seen)) == 3
    pane = page.get_by_role("complementary", name="The document")
    expect(pane.locator("figure.sheet img").first).to_be_visible(timeout=20_000)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(f"#{seen[1]}")).to_be_focused()
    page.keyboard.press("Escape")
    expect(pane).to_be_hidden()


def test_every_source_can_be_reached_by_tab_and_opened_by_enter(page: Page, review: str) -> None:
    page.goto(review)
    link = page.locator("[data-finding] figcaption a").first
    for _ in range(60):
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            break
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="The document").locator("img").first).to_be_visible(timeout=20_000)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_review_is_four_screens_until_something_is_unfolded(
    browser: Browser, address: str, review: str, long_review: str, width: int, height: int, scheme: str
) -> None:
    context = browser.new_context(base_url=address, color_scheme=scheme, viewport={"width": width, "height": height})
    page = context.new_page()
    for path in (review, long_review):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        tall, wide = page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
        assert tall <= 4 * height, f"{path} is {tall} pixels tall at {width}"
        assert wide <= width
    context.close()


def test_the_first_paint_of_a_review_comes_within_a_second(page: Page, long_review: str) -> None:
    times = []
    for _ in range(3):
        page.goto(long_review)
        page.wait_for_timeout(1500)
        times += page.evaluate("performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)")
    assert times
    assert min(times) < 1000


def test_the_page_of_a_review_is_answered_within_100_milliseconds(address: str, review: str, long_review: str) -> None:
    with httpx.Client(base_url=address, trust_env=False) as client:
        for path in (review, long_review):
            answers = [client.get(path) for _ in range(10)]
            assert {answer.status_code for answer in answers} == {200}
            assert min(answer.elapsed.total_seconds() for answer in answers) < 0.1


def test_a_link_to_a_folded_finding_or_aspect_unfolds_it(page: Page, long_review: str) -> None:
    page.goto(f"{long_review}#aspect_3")
    expect(page.locator("#aspect_3")).to_have_attribute("open", "")
    folded = page.locator("details.aspect [data-finding]").first.get_attribute("id")
    page.goto("about:blank")
    page.goto(f"{long_review}#{folded}")
    expect(page.locator(f"#{folded}")).to_be_in_viewport()


def test_a_review_prints_with_what_is_folded(page: Page, long_review: str, tmp_path: Path) -> None:
    page.goto(long_review)
    page.pdf(path=tmp_path / "printed.pdf")
    with pymupdf.open(tmp_path / "printed.pdf") as printed:
        text = " ".join(sheet.get_text() for sheet in printed)
        assert len(printed) < 40
    assert "Requirement 8.2" in text
    assert "Other formats" not in text
    assert page.locator("details.aspect[open]").count() == 0


def test_without_script_a_review_is_read_filtered_and_followed(browser: Browser, address: str, review: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto(review)
    page.get_by_role("link", name=re.compile("^Problems")).click()
    expect(page.locator("details.aspect[open]").first).to_be_visible()
    page.locator("[data-finding] figcaption a").first.click()
    expect(page.locator("figure.sheet img").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("The whole document"))).to_be_visible()
    page.locator("[data-back]").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("25/01178/REM")
    context.close()


def test_the_whole_document_is_served_as_a_pdf(page: Page, review: str) -> None:
    page.goto(f"{review}/evidence/1")
    place = page.get_by_role("link", name=re.compile("The whole document")).get_attribute("href")
    answer = page.request.get(str(place).partition("#")[0])
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.body().startswith(b"%PDF-")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_report_downloads(page: Page, review: str) -> None:
    page.goto(review)
    for name, begins in (("Report (PDF)", b"%PDF-"), ("Markdown", b"# Cycle"), ("JSON", b"{")):
        if name != "Report (PDF)":
            page.locator(".menu:not([open]) summary").click()
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name, exact=True).click()
        assert Path(waiting.value.path()).read_bytes().startswith(begins)
        page.locator(".menu").evaluate("menu => { menu.open = false; }")


def test_a_policy_reference_leads_to_its_section(page: Page, review: str) -> None:
    page.goto(f"{review}#cycle_parking")
    aspect = page.locator("#cycle_parking")
    aspect.get_by_text("What policy asks").click()
    aspect.get_by_role("link", name=re.compile("table 11-1", re.IGNORECASE)).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Table 11-1")
    expect(page.locator(".prose-text")).to_contain_text("cycle parking")


def test_a_review_can_be_cancelled(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Application reference").fill("25/01502/F")
    page.get_by_role("button", name="Start the review").click()
    page.get_by_role("button", name="Cancel the review").click()
    expect(page.get_by_text("This review was cancelled")).to_be_visible()


def test_an_unknown_application_fails_with_the_reason(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Application reference").fill("99/99999/F")
    page.get_by_role("button", name="Start the review").click()
    expect(page.get_by_role("heading", name="The review could not be finished")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("Application not found on Cherwell planning portal")).to_be_visible()


def test_policies_are_searched_as_of_a_day(page: Page) -> None:
    page.goto("/policies")
    page.get_by_label("In force on", exact=True).fill("2024-06-01")
    expect(page.get_by_role("heading", name="In force on 1 June 2024")).to_be_visible()
    page.get_by_label("Search as of 1 June 2024").fill("severe impact on the road network")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit").first).to_contain_text("September 2023")
    expect(page.locator(".hit", has_text="December 2024")).to_have_count(0)


def test_an_uploaded_revision_is_read_and_takes_over(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "manual.pdf"
    file.write_bytes(digest_pdf(read_digest("MANUAL_FOR_STREETS_2007_03.md")))
    page.goto("/policies/MANUAL_FOR_STREETS")
    page.get_by_label("PDF file").set_input_files(file)
    page.get_by_label("Name of this version").fill("Second edition")
    page.get_by_label("In force from").fill("2026-01-01")
    page.get_by_role("button", name="Upload").click()
    row = page.get_by_role("row", name=re.compile("Second edition"))
    expect(row).to_contain_text("Active", timeout=60_000)
    expect(page.get_by_role("row", name=re.compile("March 2007"))).to_contain_text("31 December 2025")
    page.get_by_role("button", name="Show the differences").click()
    expect(page.get_by_text("The two texts are the same.")).to_be_visible(timeout=30_000)


def test_the_site_is_used_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Application reference")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Planning authority")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("checkbox", name="Cycle Parking")).to_be_visible()
    outline = page.get_by_role("group").first.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_signing_in_and_out(browser: Browser, tmp_path: Path) -> None:
    with running_everything(tmp_path, seed=False, API_KEYS=KEY, HOST="127.0.0.1") as address:
        context = browser.new_context(base_url=address)
        page = context.new_page()
        page.goto("/reviews?status=failed")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.get_by_label("API key").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not known")
        page.get_by_label("API key").fill(KEY)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Reviews", exact=True)).to_be_visible()
        assert page.url == f"{address}/reviews?status=failed"
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        page.goto("/reviews?status=failed")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        context.close()


@pytest.fixture(scope="module")
def pages(address: str, review: str) -> list[str]:
    return every_page(address, review)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(
    browser: Browser, address: str, pages: list[str], axe: str, scheme: str, width: int
) -> None:
    context = browser.new_context(base_url=address, color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    found = []
    for path in pages:
        page.goto(path)
        page.evaluate(axe)
        report = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            f"{path}: {v['id']} ({v['impact']}): {v['nodes'][0]['html'][:150]}"
            for v in report["violations"]
            if v["impact"] in ("serious", "critical")
        ]
    context.close()
    assert found == []


def test_no_page_is_wider_than_a_phone(browser: Browser, address: str, pages: list[str]) -> None:
    context = browser.new_context(base_url=address, viewport=PHONE)
    page = context.new_page()
    wide = []
    for path in pages:
        page.goto(path)
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(path)
    context.close()
    assert wide == []


def test_without_script_a_page_refreshes_itself(browser: Browser, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Application reference").fill("99/88888/F")
    page.get_by_role("button", name="Start the review").click()
    expect(page.get_by_text("Application not found on Cherwell planning portal")).to_be_visible(timeout=60_000)
    context.close()
