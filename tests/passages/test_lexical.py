"""BM25 over groups: stemmed words, hostile queries, replacement as a whole, and what a reopened index holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from trigpoint.passages.lexical import LexicalIndex, question_words
from trigpoint.passages.surroundings import surroundings


@pytest.fixture
def index() -> LexicalIndex:
    made = LexicalIndex(None)
    made.replace("ta", [("ta1", "Cycle parking for each dwelling"), ("ta2", "Trees, drainage and ponds")])
    made.replace("das", [("das1", "Parking of cycles: two spaces"), ("das2", "A café by the square")])
    return made


def test_words_match_by_their_stem_and_without_accents(index: LexicalIndex) -> None:
    assert {hit for hit, _ in index.search("cycling parked", 10)} == {"ta1", "das1"}
    assert [hit for hit, _ in index.search("cafe", 10)] == ["das2"]


def test_a_search_stays_within_its_groups(index: LexicalIndex) -> None:
    assert [hit for hit, _ in index.search("parking", 10, ["das"])] == ["das1"]
    assert index.search("parking", 10, []) == []
    assert index.search("parking", 10, ["nobody"]) == []


def test_the_group_does_not_change_the_score(index: LexicalIndex) -> None:
    assert dict(index.search("parking", 10, ["das"])).items() <= dict(index.search("parking", 10)).items()


def test_words_that_only_ask_find_nothing_unless_there_are_no_others(index: LexicalIndex) -> None:
    assert question_words("What should be provided for the parking of cycles?") == ["provid", "park", "cycl"]
    assert index.search("How many are there?", 10) == []
    assert [hit for hit, _ in index.search("by the", 10)] == ["das2"]


def test_a_score_is_the_share_of_the_question_that_a_passage_covers(index: LexicalIndex) -> None:
    half, whole = (dict(index.search(question, 10))["ta2"] for question in ("drainage chocolate", "drainage ponds"))
    assert 0 < half < whole <= 1
    assert half < 0.5  # a word that no passage has is the rarest of all


SECTION = [
    ("a", "The access is taken from the eastern boundary."),
    ("a", "Visitors use a barrierless car park, which is surfaced with grasscrete paving throughout its whole length."),
    ("a", "Trees line the road on both sides, with benches between them for those who want to rest in the shade."),
    ("b", "Ponds are planted."),
]


def in_section(passages: list[tuple[str, str]]) -> LexicalIndex:
    around = surroundings(passages)
    index = LexicalIndex(None)
    index.replace("g", [(str(n), text, near) for n, ((_, text), near) in enumerate(zip(passages, around, strict=True))])
    return index


def test_a_passage_comes_before_the_neighbours_that_are_found_by_its_words() -> None:
    hits = in_section(SECTION).search("grasscrete", 10)
    assert {hit for hit, _ in hits} == {"0", "1", "2"}
    assert hits[0][0] == "1"
    assert hits[0][1] > 1.3 * hits[1][1]


def test_the_words_of_a_section_together_find_the_passage_that_has_most_of_them() -> None:
    hits = in_section([*SECTION, ("c", "An access for visitors.")]).search("grasscrete visitors access trees", 10)
    assert hits[0][0] == "1"
    assert dict(hits)["0"] > dict(hits)["4"]  # helped by its surroundings


def test_replacing_a_group_leaves_no_old_row(index: LexicalIndex) -> None:
    index.replace("ta", [("ta9", "New parking text")])
    assert {hit for hit, _ in index.search("parking trees", 10)} == {"ta9", "das1"}
    index.remove("ta")
    assert index.groups() == {"das": 2}


def test_a_reopened_index_has_what_was_written(tmp_path: Path) -> None:
    first = LexicalIndex(tmp_path / "lexical")
    first.replace("g", [("a", "cycle route")])
    first.close()
    again = LexicalIndex(tmp_path / "lexical")
    assert [hit for hit, _ in again.search("routes", 5)] == ["a"]
    again.close()


def test_a_damaged_index_starts_empty_so_that_it_is_rebuilt(tmp_path: Path) -> None:
    folder = tmp_path / "lexical"
    LexicalIndex(folder).close()
    (folder / "meta.json").write_text("{ damaged")
    index = LexicalIndex(folder)
    assert index.groups() == {}
    index.replace("g", [("a", "cycle route")])
    assert index.groups() == {"g": 1}


SHARED = LexicalIndex(None)
SHARED.replace("g", [("a", "and or not cycle: parking")])


@hypothesis_settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_query_is_an_error(query: str) -> None:
    assert all(hit == "a" and score >= 0 for hit, score in SHARED.search(query, 5))


def test_the_stamp_goes_with_the_change_and_is_no_group(tmp_path: Path) -> None:
    index = LexicalIndex(tmp_path / "lexical", shared=True)
    assert index.stamp() is None
    index.replace_many([("g", [("a", "cycle route")])], stamp=7)
    assert (index.stamp(), index.groups()) == (7, {"g": 1})


def test_processes_that_share_an_index_take_turns_and_see_each_other(tmp_path: Path) -> None:
    one, two = (LexicalIndex(tmp_path / "lexical", shared=True) for _ in range(2))
    one.replace_many([("g", [("a", "cycle route")])], stamp=1)
    two.replace_many([("h", [("b", "cycle track")])], stamp=2)
    one.refresh()
    assert one.groups() == {"g": 1, "h": 1}
    assert one.stamp() == 2
    assert {hit for hit, _ in one.search("cycles", 5)} == {"a", "b"}


def test_a_change_that_fails_leaves_the_index_as_it_was() -> None:
    index = LexicalIndex(None)
    index.replace("g", [("a", "cycle route")])
    with pytest.raises(TypeError):
        index.replace("g", [("b", "new"), None])  # type: ignore[list-item]
    assert [hit for hit, _ in index.search("cycle new", 5)] == ["a"]
