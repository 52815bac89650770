"""How a person submits an application and signs a letter: by mouse, and by keyboard only."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def write_by_mouse(page: Page) -> None:
    page.get_by_label("Application reference").fill("24/00633/F")
    page.get_by_role("button", name="Start the review").click()
    page.get_by_role("link", name="Write the letter").click(timeout=120_000)
    page.get_by_text("Object", exact=True).click()
    page.get_by_label("Your name").fill("A. Writer")
    page.get_by_label("Your address").fill("1 Mill Lane\nBicester")
    page.get_by_role("button", name="Save").last.click()


def write_by_keyboard(page: Page) -> None:
    tab_to(page, "Application reference")
    page.keyboard.type("24/00633/F")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Write the letter")).to_be_visible(timeout=120_000)
    tab_to(page, "Write the letter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Write the letter")).to_be_visible()
    tab_to(page, "Comment")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="Object")).to_be_checked()
    tab_to(page, "Your name")
    page.keyboard.type("A. Writer")
    tab_to(page, "Your address")
    page.keyboard.type("1 Mill Lane\nBicester")
    tab_to(page, "Save")
    page.keyboard.press("Enter")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on what has this label or text."""
    script = """() => { const e = document.activeElement; const l = e.labels && e.labels[0];
        return (e.getAttribute('aria-label') || (l && l.textContent) || e.textContent || '').trim() }"""
    for _ in range(120):
        page.keyboard.press("Tab")
        if str(page.evaluate(script)).startswith(name):
            return
    raise AssertionError(f"Tab never reaches {name}")
