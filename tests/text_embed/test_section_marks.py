"""P11: what is a heading and what is not, on the real policies and on small texts; P12: passages of one section each."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigpoint.text.chunk import PageMap, document_text
from trigpoint.text.lines import contents_spans, is_page_number, read_lines
from trigpoint.text.pages import Page
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import SectionMark, chunk_sections, find_sections, normalise_ref

Reader = Callable[[str], tuple[Page, ...]]

NPPF_CHAPTERS = {
    1: ("Introduction", 4),
    2: ("Achieving sustainable development", 5),
    3: ("Plan-making", 8),
    4: ("Decision-making", 13),
    5: ("Delivering a sufficient supply of homes", 17),
    6: ("Building a strong, competitive economy", 24),
    7: ("Ensuring the vitality of town centres", 26),
    8: ("Promoting healthy and safe communities", 28),
    9: ("Promoting sustainable transport", 31),
    10: ("Supporting high quality communications", 34),
    11: ("Making effective use of land", 36),
    12: ("Achieving well-designed places", 39),
    13: ("Protecting Green Belt land", 42),
    14: ("Meeting the challenge of climate change, flooding and coastal change", 48),
    15: ("Conserving and enhancing the natural environment", 54),
    16: ("Conserving and enhancing the historic environment", 59),
    17: ("Facilitating the sustainable use of minerals", 63),
}


def pages_of(*texts: str) -> list[Page]:
    return [Page(number, text, "text_layer") for number, text in enumerate(texts, start=1)]


def refs(*texts: str) -> list[str]:
    return [mark.ref for mark in find_sections(pages_of(*texts)) if not mark.continues]


def of_kind(marks: list[SectionMark], kind: str) -> list[str]:
    return [
        mark.ref.removeprefix(f"{kind} ") for mark in marks if mark.ref.startswith(f"{kind} ") and not mark.continues
    ]


def prose(number: int) -> str:
    return (
        f"{number}. Sentence {number} says what should be done about streets, and then it goes on to say it again.\n\n"
    )


def test_nppf_has_every_paragraph_in_order_with_its_page(policy_pages: Reader) -> None:
    pages = Body.of(policy_pages("NPPF")).pages
    marks = find_sections(pages)
    assert of_kind(marks, "Para") == [str(number) for number in range(1, 244)]
    at = PageMap(pages)
    page_of = {mark.ref: at.page_at(mark.start) for mark in marks if not mark.continues}
    assert (page_of["Para 1"], page_of["Para 11"], page_of["Para 116"], page_of["Para 243"]) == (4, 6, 33, 69)


def test_nppf_has_its_chapters_and_annexes_and_no_other(policy_pages: Reader) -> None:
    pages = Body.of(policy_pages("NPPF")).pages
    marks = find_sections(pages)
    at = PageMap(pages)
    chapters = {
        int(mark.ref[8:]): (mark.title, at.page_at(mark.start)) for mark in marks if mark.ref.startswith("Chapter")
    }
    assert chapters == NPPF_CHAPTERS
    annexes = [(mark.ref, mark.title) for mark in marks if mark.ref.startswith("Annex") and not mark.continues]
    assert annexes == [
        ("Annex 1", "Implementation"),
        ("Annex 2", "Glossary"),
        ("Annex 3", "Flood risk vulnerability classification"),
    ]
    assert {mark.ref.split()[0] for mark in marks} == {"Chapter", "Para", "Annex", "Footnote"}


def test_nppf_sections_are_the_same_with_and_without_running_lines(policy_pages: Reader) -> None:
    pages = policy_pages("NPPF")
    whole = [mark.ref for mark in find_sections(pages) if not mark.continues]
    assert whole == [mark.ref for mark in find_sections(Body.of(pages).pages) if not mark.continues]


def test_nppf_paragraph_116_is_one_passage_whole_and_alone(policy_pages: Reader) -> None:
    pages = Body.of(policy_pages("NPPF")).pages
    chunks = [chunk for chunk in chunk_sections(pages, find_sections(pages)) if chunk.section_ref == "Para 116"]
    assert len(chunks) == 1
    assert " ".join(chunks[0].text.split()) == (
        "116. Development should only be prevented or refused on highways grounds if there would be an unacceptable impact "
        "on highway safety, or the residual cumulative impacts on the road network, following mitigation, would be severe, "
        "taking into account all reasonable future scenarios."
    )
    assert chunks[0].pages == (33,)
    assert chunks[0].parent_ref == "Chapter 9"


def test_nppf_paragraph_that_runs_over_a_page_is_whole_without_the_notes_between(policy_pages: Reader) -> None:
    pages = Body.of(policy_pages("NPPF")).pages
    chunks = [chunk for chunk in chunk_sections(pages, find_sections(pages)) if chunk.section_ref == "Para 240"]
    text = " ".join(" ".join(chunk.text for chunk in chunks).split())
    assert text.startswith("240. For the purposes of the policy on larger-scale development")
    assert "of the Town and Country Planning (Local Planning)" in text
    assert text.endswith("Greater London Authority Act 1999).")
    assert [chunk.pages for chunk in chunks] == [(68,), (69,)]


def test_draft_nppf_is_numbered_by_policies(policy_pages: Reader) -> None:
    pages = Body.of(policy_pages("Draft_NPPF")).pages
    marks = find_sections(pages)
    policies = of_kind(marks, "Policy")
    assert [policy for policy in policies if policy.startswith("TR")] == [f"TR{number}" for number in range(1, 9)]
    for family, count in (("PM", 17), ("DM", 10), ("S", 6), ("HO", 13), ("GB", 8), ("F", 9), ("HE", 11)):
        assert [p for p in policies if p.rstrip("0123456789") == family] == [
            f"{family}{n}" for n in range(1, count + 1)
        ]
    assert of_kind(marks, "Chapter") == [str(number) for number in range(1, 21)]
    assert of_kind(marks, "Annex") == list("ABCDEF")
    assert of_kind(marks, "Para") == [str(number) for number in range(1, 18)]
    assert next(mark.parent for mark in marks if mark.ref == "Policy TR3") == "Chapter 15"


def test_local_plans_have_their_policies_and_no_mention_or_table_row(policy_pages: Reader) -> None:
    marks = find_sections(Body.of(policy_pages("Tewkesbury")).pages)
    policies = of_kind(marks, "Policy")
    for family, count in (
        ("RES", 14),
        ("EMP", 6),
        ("TOR", 5),
        ("RET", 9),
        ("DES", 4),
        ("HER", 6),
        ("NAT", 5),
        ("TRAC", 9),
    ):
        assert [p for p in policies if p.rstrip("0123456789") == family] == [
            f"{family}{n}" for n in range(1, count + 1)
        ]
    assert not {"SP1", "SD5", "SD10", "INF1"} & set(policies), "policies of another plan, named in a table"
    assert of_kind(marks, "Chapter") == [str(number) for number in range(1, 11)]
    marks = find_sections(Body.of(policy_pages("Black_Country")).pages)
    policies = of_kind(marks, "Policy")
    for family, count in (
        ("CSP", 5),
        ("DEL", 2),
        ("HOU", 5),
        ("EMP", 6),
        ("CEN", 8),
        ("TRAN", 5),
        ("ENV", 8),
        ("MIN", 5),
    ):
        assert [p for p in policies if p.rstrip("0123456789") == family] == [
            f"{family}{n}" for n in range(1, count + 1)
        ]
    assert of_kind(marks, "Chapter") == [str(number) for number in range(1, 10)]
    assert of_kind(marks, "Table") == [str(number) for number in range(1, 22)]


@pytest.mark.parametrize("name", ["NPPF", "Draft_NPPF", "Tewkesbury", "Black_Country"])
def test_every_passage_of_a_real_policy_has_one_section_and_nothing_is_lost_but_its_contents(
    policy_pages: Reader, name: str
) -> None:
    pages = Body.of(policy_pages(name)).pages
    text, marks = document_text(pages), find_sections(pages)
    starts = [mark.start for mark in marks]
    assert starts == sorted(set(starts))
    covered = [False] * len(text)
    for chunk in chunk_sections(pages, marks):
        assert text[chunk.start : chunk.end] == chunk.text
        assert len(chunk.text) <= 800
        in_force = [mark for mark in marks if mark.start <= chunk.start]
        assert chunk.section_ref == (in_force[-1].ref if in_force else "")
        assert not any(chunk.start < start < chunk.end for start in starts)
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    for start, end in contents_spans(read_lines(pages), len(text)):
        covered[start:end] = [True] * (end - start)
    lost = "".join(character for seen, character in zip(covered, text, strict=True) if not seen)
    assert all(is_page_number(word) for word in lost.split())
    assert len("".join(lost.split())) < 40


@pytest.mark.parametrize(
    ("line", "ref"),
    [
        ("Chapter 5: Geometric requirements", "Chapter 5"),
        ("Chapter 5", "Chapter 5"),
        ("Table 5-2: Minimum widths", "Table 5-2"),
        ("Table 5–2 – Minimum widths", "Table 5-2"),
        ("Figure 3.1 Cross-section of a track", "Figure 3.1"),
        ("Annex 2: Glossary", "Annex 2"),
        ("Appendix A – Parking standards", "Appendix A"),
        ("Policy SLE4: Improved Transport and Connections", "Policy SLE4"),
        ("Policy SLE 4: Improved Transport and Connections", "Policy SLE4"),
        ("Policy ESD 15 - The Character of the Built Environment", "Policy ESD15"),
        ("Policy Bicester 1: North West Bicester Eco-Town", "Policy Bicester 1"),
        ("Policy H/1: Allocations", "Policy H/1"),
        ("Policy T6.1 Residential parking", "Policy T6.1"),
        ("Policy DM 4.2: Cycle parking", "Policy DM4.2"),
        ("Policy CS-1 Housing", "Policy CS-1"),
        ("Policy 5.1: Streets for people", "Policy 5.1"),
        ("Policy SLE4. Improved Transport and Connections", "Policy SLE4"),
        ("Chapter 5. Geometric requirements", "Chapter 5"),
        ("Table 5-2. Minimum widths", "Table 5-2"),
        ("Annex A. Glossary", "Annex A"),
        ("Section 11.1 Introduction", "Section 11.1"),
        ("## Para 116", "Para 116"),
        ("### Para 117: What applications should do", "Para 117"),
        ("**Policy TR1: Vision-led approach**", "Policy TR1"),
    ],
)
def test_headings_in_words(line: str, ref: str) -> None:
    assert refs(f"Some text before it.\n\n{line}\n\nThe text that belongs to it should follow here.\n") == [ref]


@pytest.mark.parametrize(
    "text",
    [
        "as is explained at length in the guidance on the matter, see\nChapter 5 for the widths that are needed.",
        "Policy SD10 directs development according to the settlement hierarchy.",
        "Developers should follow what is written down in the plan as\nPolicy RES5 New Housing Development says.",
        "The criteria that every new proposal will be assessed against are set out in\nPolicy MIN5.\n\nMore text.",
        "It is set out in\nAppendix 2. Phase 2 of the work will develop these proposals in more detail.",
        "The work goes on for some time and the next one is\nChapter 10. Supporting communications comes after that.",
        "Chapter 10. Supporting communications is what should come after that.",
        "as it is said at some length further above in paragraph\n116. Development should be refused where this is so.",
        "12. Development should be refused where this is so.",
        "Policy RES5 New Housing Development is applicable to proposals on allocated sites",
        "Paragraph 2.35 – Strategic objectives 1 to 9",
        "Table 14 sets out the additional floorspace to be planned for in each centre.",
        "See Figure 3.1 and Annex 2.",
        "7 February 2025 to correct cross-references from footnotes 7 and 8.",
        "2.5 ha of land, 1.3 ha of which is brownfield.",
        "1. First item\n2. Second item\n",
    ],
)
def test_a_mere_mention_is_no_heading(text: str) -> None:
    assert refs(f"Some text before it.\n\n{text}\n\nAnd some text after it.\n") == []


def test_decimal_headings_are_sections_and_decimal_paragraphs_paras() -> None:
    text = (
        "11.1 Introduction\n\n11.1.1 This chapter sets out what should be provided for people who cycle to school.\n\n"
        "11.1.2 It applies to every new development that has more than ten homes or more than one shop.\n\n"
        "11.2 Quantity\n\n11.2.1 Cycle parking should be provided as the table in the annex requires it to be.\n"
    )
    marks = find_sections(pages_of(text))
    assert [(m.ref, m.parent) for m in marks] == [
        ("Section 11.1", ""),
        ("Para 11.1.1", "Section 11.1"),
        ("Para 11.1.2", "Section 11.1"),
        ("Section 11.2", ""),
        ("Para 11.2.1", "Section 11.2"),
    ]


def test_contents_pages_give_no_headings() -> None:
    contents = "Contents\n" + "".join(f"{n}. Chapter title {'abcdefgh'[n]} .......... {n * 3}\n" for n in range(1, 8))
    contents += "Annex 1: Glossary .......... 30\nPolicy TR1: Streets .......... 31\n"
    body = "1. Chapter title b\n\n" + "".join(prose(n) for n in range(1, 6))
    marks = find_sections(pages_of(contents, body))
    assert [mark.ref for mark in marks] == ["Chapter 1", *(f"Para {n}" for n in range(1, 6))]
    assert PageMap(pages_of(contents, body)).page_at(marks[0].start) == 2


def test_contents_pages_and_lone_page_numbers_are_no_passages() -> None:
    contents = "Foreword by the leader.\nContents\n" + "".join(
        f"{n}. Title {n} .......... {n * 3}\n" for n in range(1, 8)
    )
    pages = pages_of(
        "A plan", contents, "1. Title 1\n\n" + prose(1) + prose(2) + prose(3), "Annex 1: Maps\n" + "x" * 785, "185\n"
    )
    texts = [chunk.text for chunk in chunk_sections(pages, find_sections(pages))]
    assert any("Foreword by the leader." in text for text in texts), "what is above the contents stays"
    assert not any("....." in text or text.strip() == "185" for text in texts)


def test_the_heading_of_a_group_of_policies_belongs_to_its_first_policy() -> None:
    policies = "\n\n".join(
        f"TR{n}: Streets of kind {n}\n\n1. Development should make streets safe for all who use them, in every case "
        f"and at every time of the day, as set out in part {n} of the guide."
        for n in (1, 2)
    )
    more = "\n\nNational decision-making policies\n\nTR3: Parking\n\n1. Parking should be convenient and well designed."
    pages = pages_of("15. Promoting sustainable transport\n\n" + policies + more)
    chunks = chunk_sections(pages, find_sections(pages))
    with_heading = [chunk.section_ref for chunk in chunks if "National decision-making" in chunk.text]
    assert with_heading == ["Policy TR3"]


def test_paragraphs_go_on_after_a_gap_and_a_list_in_them_is_no_paragraph() -> None:
    text = (
        prose(1)
        + prose(2)
        + "1. A list item that says something should be.\n2. Another one that must be.\n"
        + prose(3)
        + prose(5)
        + prose(6)
    )
    assert refs(text) == ["Para 1", "Para 2", "Para 3", "Para 5", "Para 6"]


def test_paragraphs_need_not_begin_at_one() -> None:
    assert refs("".join(prose(number) for number in range(109, 119))) == [
        f"Para {number}" for number in range(109, 119)
    ]


@pytest.mark.parametrize("numbers", [(116,), (115, 116), (114, 115, 116, 117), (20, 22)])
def test_a_few_paragraphs_of_a_long_document_are_known_by_their_high_numbers(numbers: tuple[int, ...]) -> None:
    text = "Chapter 9: Transport\n\n" + "".join(prose(number) for number in numbers)
    assert refs(text) == ["Chapter 9", *(f"Para {number}" for number in numbers)]


def test_sections_need_not_begin_at_one() -> None:
    text = "".join(
        f"9.{n} Cycle parking should be provided as the table in the annex requires it.\n\n" for n in (4, 5, 6)
    )
    assert refs(text) == ["Para 9.4", "Para 9.5", "Para 9.6"]


def test_footnotes_are_no_paragraphs_and_the_paragraph_goes_on_after_them() -> None:
    first = (
        "".join(prose(n) for n in range(1, 4))
        + "4. This paragraph should go on over the page, as they often do, since it\n\n"
    )
    first += "1 The first note is here.\n2 The second note is here.\n3 The third note is here.\n"
    marks = find_sections(pages_of(first, "ends on the next one.\n\n" + prose(5)))
    assert [(mark.ref, mark.continues) for mark in marks] == [
        *((f"Para {n}", False) for n in range(1, 5)),
        *((f"Footnote {n}", False) for n in range(1, 4)),
        ("Para 4", True),
        ("Para 5", False),
    ]


def test_a_subheading_belongs_to_the_paragraph_below_it() -> None:
    pages = pages_of(prose(1) + prose(2) + "Considering development proposals\n" + prose(3) + prose(4))
    chunks = chunk_sections(pages, find_sections(pages))
    assert [chunk.text.splitlines()[0] for chunk in chunks if chunk.section_ref == "Para 3"] == [
        "Considering development proposals"
    ]
    assert "Considering" not in next(chunk.text for chunk in chunks if chunk.section_ref == "Para 2")


@pytest.mark.parametrize(
    "heading",
    [
        "What is the plan?\n\n",
        "(b) Sustainable Community Strategies\n",
        "ii  Alternative Approaches\n",
        "c.\nWhat Are Our Guiding Principles?\ni. Links with Strategies\n(a) Adjacent Authorities\n",
    ],
)
def test_questions_and_labelled_headings_belong_to_the_paragraph_below_them(heading: str) -> None:
    pages = pages_of(prose(1) + prose(2) + heading + prose(3) + prose(4))
    chunks = chunk_sections(pages, find_sections(pages))
    (third,) = [chunk.text for chunk in chunks if chunk.section_ref == "Para 3"]
    assert third.startswith(heading.rstrip())


@pytest.mark.parametrize(
    "last",
    [
        "and the council asked people: what matters most\nTo you and yours?\n\n",
        "a) Streets for all\n\nb) Parking for some\n\n",
        "a) streets for all; and\n\n(b) Parking for some\n\n",
        "•\nLand between the church and the green\n\n",
    ],
)
def test_the_end_of_a_paragraph_or_list_is_no_heading_of_the_next(last: str) -> None:
    pages = pages_of(prose(1) + prose(2).rstrip() + "\n" + last + prose(3) + prose(4))
    chunks = chunk_sections(pages, find_sections(pages))
    (third,) = [chunk.text for chunk in chunks if chunk.section_ref == "Para 3"]
    assert third.startswith("3. Sentence 3")


def test_a_heading_after_a_list_without_full_stops_belongs_to_the_paragraph_below_it() -> None:
    listed = "• It must follow the advice of the study (Jones\nAssociates, May 2019)\n\nReasoned Justification\n"
    pages = pages_of(prose(1) + prose(2) + listed + prose(3) + prose(4))
    chunks = chunk_sections(pages, find_sections(pages))
    (third,) = [chunk.text for chunk in chunks if chunk.section_ref == "Para 3"]
    assert third.startswith("Reasoned Justification\n3.")


def test_a_title_below_its_number_stays_with_its_chapter() -> None:
    text = "".join(
        f"{chapter}.\n{title}\na.\nWhat is this about?\n"
        + "".join(
            f"{chapter}.{n} Paragraph {n} says what should be done about it in general, and then it says so again, at some length.\n"
            for n in (1, 2, 3)
        )
        for chapter, title in ((1, "INTRODUCTION"), (2, "THE BOROUGH TOMORROW"))
    )
    pages = pages_of(
        "Contents\n1. INTRODUCTION .... 2\n2. THE BOROUGH TOMORROW .... 4\n3. A .... 5\n4. B .... 6\n5. C .... 7\n",
        text,
    )
    chunks = chunk_sections(pages, find_sections(pages))
    first = {chunk.section_ref: chunk.text for chunk in reversed(chunks)}
    assert first["Chapter 2"] == "2.\nTHE BOROUGH TOMORROW"
    assert first["Para 2.1"].startswith("a.\nWhat is this about?\n2.1")


def test_short_paragraphs_stay_apart_and_long_ones_are_split() -> None:
    pages = pages_of(prose(1) + prose(2) + prose(3) + "4. " + "This sentence should be long enough. " * 60)
    chunks = chunk_sections(pages, find_sections(pages))
    assert [chunk.section_ref for chunk in chunks][:3] == ["Para 1", "Para 2", "Para 3"]
    assert len([chunk for chunk in chunks if chunk.section_ref == "Para 4"]) > 2
    assert [chunk.index for chunk in chunks] == list(range(len(chunks)))


def test_text_before_the_first_heading_has_an_empty_reference() -> None:
    pages = pages_of("A cover page.\n\nAnnex 1: Glossary\n\nCycle: a thing with wheels.\n")
    assert [chunk.section_ref for chunk in chunk_sections(pages, find_sections(pages))] == ["", "Annex 1"]
    assert find_sections([]) == []
    assert chunk_sections([], []) == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Paragraph 116", "Para 116"),
        ("paragraph  116", "Para 116"),
        ("para. 116", "Para 116"),
        ("PARA 116", "Para 116"),
        ("chapter 5", "Chapter 5"),
        ("Fig. 3.1", "Figure 3.1"),
        ("table 5–2", "Table 5-2"),
        ("policy sle 4", "Policy SLE4"),
        ("Policy SLE4", "Policy SLE4"),
        ("policy bicester 1", "Policy Bicester 1"),
        ("policy h/1", "Policy H/1"),
        ("Policy dm 4.2", "Policy DM4.2"),
        ("policy cs–1", "Policy CS-1"),
        ("policy 5.1", "Policy 5.1"),
        ("annex a", "Annex A"),
        ("section 11.1", "Section 11.1"),
        ("something else", "something else"),
        ("", ""),
    ],
)
def test_a_reference_has_one_spelling(written: str, expected: str) -> None:
    assert normalise_ref(written) == expected
    assert normalise_ref(expected) == expected


_LINES = st.sampled_from(
    [
        "",
        " ",
        "1. ",
        "2. Title here",
        "3. A sentence that should be here.",
        "4.1 Introduction",
        "4.2\tText that is long enough to be a sentence.",
        "5 A note",
        "12",
        "Contents",
        "Chapter 2: Streets",
        "Policy AB1: Streets",
        "AB2  More streets",
        "Table 3 – Widths",
        "Figure 4",
        "Annex A",
        "## Para 9",
        "**",
        "#",
        "Plain text that goes on for a while and then stops at the end of the line",
        "• item",
        "\x0c",
        "\u2028",
        "A . . . . . 9",
    ]
)


@given(st.lists(st.lists(_LINES, max_size=12).map("\n".join), max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_text_has_sections_in_order_and_passages_that_cover_it(texts: list[str]) -> None:
    pages = Body.of(pages_of(*texts)).pages
    text, marks = document_text(pages), find_sections(pages)
    starts = [mark.start for mark in marks]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(text) and not text[start].isspace() for start in starts)
    assert all(normalise_ref(mark.ref) == mark.ref for mark in marks)
    chunks = chunk_sections(pages, marks)
    said, end = "", 0
    for chunk in chunks:  # each without its overlap with those before it
        said += chunk.text[max(0, end - chunk.start) :]
        end = max(end, chunk.end)
    if not contents_spans(read_lines(pages), len(text)):
        assert "".join(c for c in said if c.isalpha()) == "".join(c for c in text if c.isalpha())
