"""From a review to a signed letter in a real browser: by mouse, by keyboard only, on a phone, with two people writing."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lxml import etree
from page_samples import browser as http_client
from page_samples import finding, result
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect
from writing import tab_to

from review_states import complete
from serving_api import serving
from trigpoint.api.app import create_app
from trigpoint.config import Settings
from trigpoint.review.findings import Finding
from trigpoint.review.result import ReviewResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TEXTS = ("Parking is below the standard", "The path is 1.5 m wide", "The crossing has no refuge")


def reviewed() -> ReviewResult:
    """A review with three shortfalls, rated red."""
    made = result("red")
    findings = tuple(
        Finding.model_validate(finding(text, check=f"cycle_parking.p{n}", outcome="failed", recommendation=f"Mend {n}"))
        for n, text in enumerate(TEXTS)
    )
    aspects = (made.review.aspects[0].model_copy(update={"findings": findings, "rating": "red"}),)
    review = made.review.model_copy(update={"aspects": aspects})
    application = made.application.model_copy(update={"address": "Land at Mill Lane"})
    return made.model_copy(update={"review": review, "application": application})


@pytest.fixture
def address(site_settings: Callable[..., Settings]) -> Iterator[str]:
    with serving(create_app(site_settings())) as running:
        yield running


@pytest.fixture
def finish(address: str, clean_redis_url: str) -> Callable[..., str]:
    """Submit a review and finish it as a worker does; returns its path."""

    def make(reference: str, council: str | None = None) -> str:
        with http_client(address) as client:
            location = client.post("/reviews", data={"application_ref": reference}).headers["location"]
        made = reviewed()
        application = made.application.model_copy(update={"authority_name": council})
        with ThreadPoolExecutor(1) as pool:  # the browser's own loop runs in this thread
            pool.submit(complete, clean_redis_url, made.model_copy(update={"application": application})).result()
        return str(location)

    return make


@pytest.fixture
def place(finish: Callable[..., str]) -> str:
    """The path of a finished review."""
    return finish("25/01178/REM")


@pytest.fixture
def context(browser: Browser, address: str) -> Iterator[BrowserContext]:
    made = browser.new_context(base_url=address, accept_downloads=True, viewport={"width": 1280, "height": 900})
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page on whose console nothing may be said."""
    opened = context.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text) if _counts(message) else None)
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    assert said == []


def _counts(message: ConsoleMessage) -> bool:
    """Whether a message is a fault. No document store runs here, so the review's page has no pictures of documents."""
    return message.type in ("error", "warning") and ".png" not in message.location["url"]


def word_text(path: Path) -> str:
    """The text of a Word file, read from its XML and not by the library that wrote it."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        root = etree.fromstring(archive.read("word/document.xml"))
    paragraphs = root.iter(f"{WORD}p")
    return "\n".join("".join(node.text or "" for node in paragraph.iter(f"{WORD}t")) for paragraph in paragraphs)


def take(page: Page, name: str) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    return Path(waiting.value.path())


@pytest.mark.parametrize("width", [1280, 390])
def test_from_the_review_to_a_signed_letter_by_mouse(page: Page, place: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(place)
    page.get_by_role("link", name="Write the letter").first.click(timeout=5000)
    expect(page.get_by_text("Suggested: object")).to_be_visible()
    expect(page.get_by_role("radio", name="Object")).to_be_checked()
    paper = page.locator("[data-paper]")
    expect(paper).to_contain_text("1. Cycle parking. Parking is below the standard.")
    points = page.locator("[data-point]")
    points.nth(2).get_by_role("button", name="Move up").click()
    points.nth(1).get_by_role("button", name="Move up").click()
    points.nth(2).get_by_role("checkbox").uncheck()
    expect(paper).to_contain_text("1. Cycle parking. The crossing has no refuge.")
    expect(paper).not_to_contain_text("The path is 1.5 m wide")
    points.nth(0).locator("summary").click()
    expect(points.nth(0).get_by_role("link", name="Transport Assessment, page 1")).to_have_attribute(
        "href", f"{place}/evidence/1"
    )
    points.nth(0).get_by_label("Text", exact=True).fill("My children cross here, and there is no refuge.")
    page.get_by_label("Your name").fill("A. Writer")
    page.get_by_label("Your address").fill("1 Mill Lane\nBicester")
    page.get_by_label("Name of the council").fill("Cherwell District Council")
    expect(paper).to_contain_text("Cherwell District Council")
    expect(paper).to_contain_text("My children cross here, and there is no refuge.")
    expect(page.locator("[data-length]")).to_contain_text(" of 2 pages")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    text = word_text(take(page, "Letter (Word)"))
    head = "A. Writer1 Mill LaneBicester\nDevelopment ManagementCherwell District Council[Address of the council]\n"
    assert text.startswith(head)
    assert "Objection to planning application 25/01178/REM" in text
    assert text.index("My children cross here") < text.index("Parking is below the standard")
    assert "The path is 1.5 m wide" not in text
    assert text.rstrip().endswith("Yours faithfully,A. Writer")
    page.get_by_role("button", name="Copy the text").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("OBJECTION TO PLANNING APPLICATION 25/01178/REM")


def test_from_the_review_to_a_signed_letter_by_keyboard_only(page: Page, place: str) -> None:
    page.goto(place)
    tab_to(page, "Write the letter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Write the letter")).to_be_visible()
    tab_to(page, "Object")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Comment")).to_be_checked()
    expect(page.get_by_label("First paragraph")).to_have_value(
        "I am writing to comment on this application. I neither support nor oppose it at this stage, and ask that the "
        "points below are settled before it is decided."
    )
    page.keyboard.press("ArrowLeft")
    tab_to(page, "Cycle parking")
    page.keyboard.press("Space")
    expect(page.locator("[data-point]").first.get_by_role("checkbox")).not_to_be_checked()
    tab_to(page, "Move down")
    page.keyboard.press("Enter")
    expect(page.locator("[data-point]").first).to_contain_text("The path is 1.5 m wide")
    assert str(page.evaluate("document.activeElement.dataset.move")) == "1"
    expect(page.locator("[data-saved]")).to_have_text("Moved to place 2 of 3. Not saved yet.")
    tab_to(page, "Cycle parking")
    tab_to(page, "Words and evidence")
    page.keyboard.press("Enter")
    tab_to(page, "Text")
    page.keyboard.press("Control+A")
    page.keyboard.type("Typed without a mouse.")
    tab_to(page, "Your name")
    page.keyboard.type("K. Board")
    tab_to(page, "Your address")
    page.keyboard.type("2 Mill Lane")
    tab_to(page, "Name of the council")
    page.keyboard.type("Exeter City Council")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    tab_to(page, "Letter (Word)")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    text = word_text(Path(waiting.value.path()))
    assert "K. Board" in text
    assert "Exeter City Council" in text
    assert "Typed without a mouse." in text
    assert TEXTS[0] not in text


def test_a_file_that_is_taken_before_saving_is_saved_first(page: Page, place: str) -> None:
    page.goto(f"{place}/letter")
    page.get_by_label("Your name").fill("A. Writer")
    text = take(page, "Letter (plain text)").read_text(encoding="utf-8")
    assert text.endswith("Yours faithfully,\nA. Writer\n")
    expect(page.locator("[data-saved]")).to_have_text("Saved as version 1. Downloads contain this version.")
    page.get_by_label("Your name").fill("B. Writer")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()


def test_the_sender_is_filled_in_for_the_next_letter(page: Page, place: str, finish: Callable[..., str]) -> None:
    page.goto(f"{place}/letter")
    page.get_by_label("Your name").fill("A. Writer")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    page.goto(f"{finish('24/00633/F')}/letter")
    expect(page.get_by_label("Your name")).to_have_value("A. Writer")
    expect(page.locator("[data-paper]")).to_contain_text("A. Writer")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_short_until_something_is_unfolded(
    browser: Browser, address: str, finish: Callable[..., str], width: int
) -> None:
    context = browser.new_context(base_url=address, viewport={"width": width, "height": 844})
    page = context.new_page()
    page.goto(f"{finish('25/01178/REM', 'Cherwell District Council')}/letter")
    assert page.evaluate("document.documentElement.scrollHeight") <= 4 * 844
    context.close()


def test_two_writers_see_that_the_other_has_saved_and_both_texts_stay(context: BrowserContext, place: str) -> None:
    page, other = context.new_page(), context.new_page()
    for one in (page, other):
        one.goto(f"{place}/letter")
    for one in (page, other):
        one.get_by_text("The beginning and the end").click()
    other.get_by_label("First paragraph").fill("Their words.")
    other.get_by_role("button", name="Save").last.click()
    expect(other.get_by_text("Saved as version 1.")).to_be_visible()
    page.get_by_label("First paragraph").fill("My words.")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else saved this letter while you were writing")
    expect(page.get_by_label("First paragraph")).to_have_value("My words.")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved as version 3.")).to_be_visible()
    page.get_by_role("link", name="Version 1", exact=True).click()
    expect(page.get_by_label("First paragraph")).to_have_value("Their words.")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Saved as version 4.")).to_be_visible()
    expect(page.get_by_label("First paragraph")).to_have_value("Their words.")


def test_the_basics_work_without_javascript(browser: Browser, address: str, place: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False, accept_downloads=True)
    page = context.new_page()
    page.goto(f"{place}/letter")
    page.locator("[data-point]").nth(1).get_by_role("button", name="Move up").click()
    expect(page.locator("[data-point]").first).to_contain_text(TEXTS[1])
    page.get_by_label("Your name").fill("No Script")
    page.get_by_role("button", name="Show the letter as it will be printed").click()
    expect(page.locator("[data-paper]")).to_contain_text("No Script")
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved as version 1.")).to_be_visible()
    text = word_text(take(page, "Letter (Word)"))
    assert text.index(TEXTS[1]) < text.index(TEXTS[0])
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (390, "dark"), (1280, "dark")])
def test_axe_finds_nothing_serious_and_nothing_is_wider_than_the_screen(
    browser: Browser, address: str, place: str, axe: str, width: int, scheme: str
) -> None:
    context = browser.new_context(
        base_url=address, viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(f"{place}/letter")
    page.locator("summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    context.close()
