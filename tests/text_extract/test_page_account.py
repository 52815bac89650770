"""The account of a document's pages: what it says, and that it survives being stored."""

from __future__ import annotations

import json

from trigpoint.text.account import Attachment, DocumentAccount, LeftOut, PageAccount

ACCOUNT = DocumentAccount(
    (
        PageAccount(1, "text", 2_310),
        PageAccount(2, "ocr", 1_204, 0.97, 91.26, skew=-4.53, turned=90),
        PageAccount(
            3, "both", 900, 0.88, 63.0, left_out=(LeftOut("white_text", "it is white", 40, (72, 70, 300, 84)),)
        ),
        PageAccount(4, "none", blank=True),
        PageAccount(5, "none", left_out=(LeftOut("page", "took longer than 60 s"),)),
    ),
    ("The file was damaged and was repaired; parts of it may be missing.",),
    (Attachment("travel plan.pdf", 20_480, "application/pdf"),),
)


def test_the_summary_counts_every_page_once_and_says_why_one_was_not_read() -> None:
    assert ACCOUNT.summary == (
        "5 pages: 1 text, 1 OCR, 1 text and OCR, 1 blank, 1 not read (page 5: took longer than 60 s)."
    )
    assert DocumentAccount((PageAccount(1, "text", 10),)).summary == "1 page: 1 text."


def test_everything_a_reader_must_know_is_said_once() -> None:
    assert ACCOUNT.warnings == (
        "The file was damaged and was repaired; parts of it may be missing.",
        "The file has 1 attachment, not part of its text: travel plan.pdf.",
        "Page 2: read turned by 90°.",
        "Page 3: text in the colour of the paper was kept apart from the page's text (it is white).",
        "Page 5: not read: took longer than 60 s.",
        "Page 3: read by OCR with a confidence of 63 %; it may contain errors.",
        "Page 2: scanned askew (4.5°) and straightened before it was read.",
    )


def test_a_warning_that_concerns_many_pages_is_one_sentence() -> None:
    pages = tuple(PageAccount(n, "ocr", 5, confidence=40.0 + n, notes=("is faint",)) for n in (1, 2, 3, 7))
    assert DocumentAccount(pages).warnings == (
        "Pages 1 to 3, 7: is faint.",
        "Pages 1 to 3, 7: read by OCR with a confidence below 70 %; the lowest is 41 %.",
    )


def test_plain_pages_need_no_warning() -> None:
    assert DocumentAccount((PageAccount(1, "text", 10), PageAccount(2, "none", blank=True))).warnings == ()


def test_an_account_survives_json_and_a_plain_page_is_small_in_it() -> None:
    stored = json.dumps(ACCOUNT.to_json())
    again = DocumentAccount.of(json.loads(stored))
    assert again.to_json() == ACCOUNT.to_json()
    assert again.warnings == ACCOUNT.warnings
    assert again.pages[2].left_out[0].region == (72, 70, 300, 84)
    assert PageAccount(1, "text", 2_310).to_json() == {"page": 1, "read_by": "text", "characters": 2_310}
