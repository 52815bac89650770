"""Headers, footers and page numbers leave the pages; everything else stays."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from trigpoint.text.pages import Page
from trigpoint.text.running_lines import strip_running_lines


def report(count: int, top: str = "", bottom: str = "") -> list[Page]:
    def body(n: int) -> str:
        lines = [f"Page text {'abcdefghijklmnopqrst'[n]}{m} goes here." for m in "klmnopqr"]
        return "\n".join([top.replace("#", str(n)), *lines, bottom.replace("#", str(n))]).strip("\n")

    return [Page(n, body(n), "text_layer") for n in range(1, count + 1)]


def test_a_header_and_a_footer_with_the_page_number_go() -> None:
    pages = strip_running_lines(report(6, top="Transport Assessment – Land at Langford Lane", bottom="Page # of 6"))
    assert not any("Langford" in page.text or "Page # of" in page.text for page in pages)
    assert all("of 6" not in page.text for page in pages)
    assert [page.label for page in pages] == ["1", "2", "3", "4", "5", "6"]


def test_a_footer_with_text_and_a_running_number_goes() -> None:
    pages = strip_running_lines(report(8, bottom="AB12/R01 Rev C | #"))
    assert not any("R01" in page.text for page in pages)


def test_pages_keep_their_number_method_and_own_label() -> None:
    given_pages = [Page(p.number, p.text, "ocr", f"x{p.number}") for p in report(5, bottom="#")]
    stripped = strip_running_lines(given_pages)
    assert [(p.number, p.method, p.label) for p in stripped] == [(p.number, p.method, p.label) for p in given_pages]


def test_numbers_that_are_not_the_pages_stay() -> None:
    pages = [
        Page(n, f"Text {'abcdefgh'[n]} here.\nMore of {value * 7}x.\nAgain {value * 3}y.\n{value}", "text_layer")
        for n, value in enumerate((40, 7, 300, 12, 9), 1)
    ]
    assert strip_running_lines(pages) == tuple(pages)


def test_figure_captions_and_numbered_paragraphs_at_the_same_place_stay() -> None:
    pages = [
        Page(
            n,
            f"{n}.\nText {'abcdefgh'[n]} here.\nMore {'pqrstuvw'[n]}.\nAgain {'ijklmnop'[n]}.\nFigure {n}",
            "text_layer",
        )
        for n in range(1, 7)
    ]
    assert strip_running_lines(pages) == tuple(pages)


def test_two_pages_are_left_alone() -> None:
    pages = report(2, top="Dear Sir or Madam", bottom="#")
    assert strip_running_lines(pages) == tuple(pages)


def test_a_header_of_one_chapter_stays_once() -> None:
    pages = [
        Page(
            n,
            ("Chapter heading runs\n" if 5 <= n < 11 else "")
            + f"Text {n:03d}{'abcdefghijklmnopqrstuvwxyz'[n]} of the page.",
            "text_layer",
        )
        for n in range(25)
    ]
    stripped = strip_running_lines(pages)
    assert [page.number for page in stripped if "heading" in page.text] == [5]


def test_nppf_loses_its_page_numbers_only(policy_pages: Callable[[str], tuple[Page, ...]]) -> None:
    before = policy_pages("NPPF")
    after = strip_running_lines(before)
    for old, new in zip(before, after, strict=True):
        lost = "".join(old.text.split())
        kept = "".join(new.text.split())
        assert lost in (kept, f"{old.number}{kept}")
    assert sum(old.text != new.text for old, new in zip(before, after, strict=True)) == 80
    assert after[32].label == "33"


@given(st.lists(st.text(alphabet="ab1 \n.", max_size=40), max_size=8))
@settings(max_examples=150, deadline=None)
def test_only_whole_lines_are_taken_and_no_page_goes(texts: list[str]) -> None:
    pages = [Page(n, text, "text_layer") for n, text in enumerate(texts, start=1)]
    stripped = strip_running_lines(pages)
    assert [page.number for page in stripped] == [page.number for page in pages]
    for old, new in zip(pages, stripped, strict=True):
        lines = iter(old.text.splitlines())
        assert all(line in lines for line in new.text.splitlines())


def test_where_most_of_the_text_repeats_all_of_it_stays() -> None:
    pages = [Page(n, f"Page {n} content about cycle parking", "text_layer") for n in range(1, 7)]
    assert strip_running_lines(pages) == tuple(pages)
