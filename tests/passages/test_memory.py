"""Passages in memory agree with a plain dictionary, whatever is written and removed, and a filter is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.local import LocalCandidates
from trigpoint.passages.memory import Entry, Memory
from trigpoint.passages.model import Condition, Question, Where
from trigpoint.passages.search import rank

WORDS = LexicalIndex(None)  # an index may be ahead of memory: it has passages that memory does not have yet
WORDS.replace_many((f"d{n}", [(f"p{key}", "gravel") for key in range(n, 10, 3)]) for n in range(4))


def unit_vectors(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["write", "replace", "delete"]), st.integers(0, 9), st.integers(0, 3)), max_size=30
    )
)
def test_memory_agrees_with_a_plain_dictionary(steps: list[tuple[str, int, int]]) -> None:
    vectors = unit_vectors(40)
    memory, model = Memory(), dict[str, tuple[np.ndarray, int, str]]()
    for number, (step, key, tag) in enumerate(steps):
        name, document = f"p{key}", f"d{key % 3}"
        if step != "write":
            model = {i: kept for i, kept in model.items() if kept[2] != document}
        if step == "delete":
            memory.replace([document], [], None)
            continue
        entry = Entry(name, document, {"tag": tag, "odd": "yes"} if tag else {"odd": "no"}, f"text {number}")
        memory.replace([document] if step == "replace" else (), [entry], vectors[number : number + 1])
        model[name] = (vectors[number], tag, document)
    now, query = memory.snapshot, vectors[39]
    assert sorted(now.ids) == sorted(model)
    assert {i: set(ids) for i, ids in now.members.items()} == {
        d: {i for i, kept in model.items() if kept[2] == d} for d in {kept[2] for kept in model.values()}
    }
    for tag in range(1, 4):
        for documents in (None, ["d0"], ["d1", "d2", "nobody"]):
            where = Where.of(documents, tag=tag)
            expected = {
                i: round(max(0.0, float(v @ query)), 4)
                for i, (v, t, d) in model.items()
                if t == tag and (documents is None or d in documents)
            }
            candidates = LocalCandidates(now, WORDS, where)
            assert dict(candidates.nearest(query, 100)) == pytest.approx(expected, abs=1e-4)
            assert candidates.matching("gravel", 100).keys() == expected.keys()
            assert candidates.cosines(query, list(expected)) == pytest.approx(expected, abs=1e-4)
            assert now.documents(where) == {model[i][2] for i in expected}


def test_filtered_search_equals_brute_force() -> None:
    vectors, query = unit_vectors(300), unit_vectors(1, seed=9)[0]
    memory = Memory()
    entries = [Entry(f"p{i:04d}", f"d{i % 50}", {"ref": f"r{i % 7}", "day": 20200000 + i}) for i in range(300)]
    memory.replace((), entries, vectors)
    for ref in range(7):
        rows = [i for i in range(300) if i % 7 == ref and i >= 100]
        expected = sorted(rows, key=lambda i: (-round(max(0.0, float(vectors[i] @ query)), 4), i))[:10]
        where = Where(None, (Condition("ref", "eq", f"r{ref}"), Condition("day", "gte", 20200100)))
        nearest = LocalCandidates(memory.snapshot, WORDS, where).nearest(query, 10)
        assert [i for i, _ in nearest] == [f"p{i:04d}" for i in expected]


def test_of_equal_fused_scores_the_smaller_id_comes_first_and_only_k_are_told() -> None:
    memory = Memory()
    memory.replace(
        (), [Entry(f"p{key}", f"d{key % 3}") for key in reversed(range(9))], np.tile(unit_vectors(1), (9, 1))
    )
    candidates = LocalCandidates(memory.snapshot, WORDS)
    first = rank(candidates, Question(unit_vectors(1)[0], 4, "gravel"))
    assert [one.id for one in first] == ["p0", "p1", "p2", "p3"]
    assert len({one.fused for one in first}) == 1
    assert [one.id for one in rank(candidates, Question(unit_vectors(1)[0], 4))] == ["p0", "p1", "p2", "p3"]


def test_an_exclusion_holds_and_one_that_excludes_nothing_changes_nothing() -> None:
    memory, query = Memory(), unit_vectors(1, seed=9)[0]
    kinds = ["reference" if key % 2 else "text" for key in range(10)]
    entries = [Entry(f"p{key}", f"d{key % 3}", {"kind": kinds[key]}) for key in range(10)]
    memory.replace((), entries, unit_vectors(10))
    without = Where(without=(Condition("kind", "eq", "reference"), Condition("colour", "eq", "red")))
    candidates = LocalCandidates(memory.snapshot, WORDS, without)
    expected = {f"p{key}" for key in range(0, 10, 2)}
    assert {i for i, _ in candidates.nearest(query, 10)} == candidates.matching("gravel", 10).keys() == expected
    everything = LocalCandidates(memory.snapshot, WORDS, Where(without=(Condition("kind", "eq", "map"),)))
    assert len(everything.nearest(query, 10)) == len(everything.matching("gravel", 10)) == 10


def test_a_reader_keeps_what_it_was_given_while_others_write() -> None:
    vectors, memory = unit_vectors(4), Memory()
    memory.replace((), [Entry("a", "d1", {"n": 1}, "old"), Entry("b", "d2", {"n": 2}, "b")], vectors[:2])
    before = memory.snapshot
    memory.replace(["d1"], [Entry("a", "d1", {"n": 3}, "new"), Entry("c", "d1", {}, "c")], vectors[2:])
    assert [before.texts[before.places[i]] for i in before.ids] == ["old", "b"]
    assert before.fields(before.places["a"]) == {"n": 1}
    now = memory.snapshot
    assert {i: now.texts[now.places[i]] for i in now.ids} == {"a": "new", "b": "b", "c": "c"}
    assert now.fields(now.places["a"]) == {"n": 3}


def test_values_that_python_takes_for_equal_stay_what_they_were() -> None:
    memory = Memory()
    values = [True, 1, 1.0, "1", ("1",)]
    memory.replace((), [Entry(str(n), "d", {"value": v}) for n, v in enumerate(values)], unit_vectors(5))
    now = memory.snapshot
    assert [type(now.fields(now.places[str(n)])["value"]) for n in range(5)] == [type(v) for v in values]


def test_a_score_does_not_depend_on_what_else_is_stored() -> None:
    vectors = unit_vectors(500)
    memory = Memory()
    memory.replace([], [Entry(f"p{n}", f"d{n % 100}", {}, "") for n in range(500)], vectors)
    for number in range(100):
        query = unit_vectors(1, seed=number)[0] + 2 * vectors[number]
        query *= np.float32(
            0.12345 / (vectors[number] @ query)
        )  # half-way between two places, but for what rounding adds
        exact = round(float(vectors[number].astype(np.float64) @ query.astype(np.float64)), 4)
        for where in (Where(), Where(documents=frozenset({f"d{number}"}))):
            candidates = LocalCandidates(memory.snapshot, WORDS, where)
            assert dict(candidates.nearest(query, 10))[f"p{number}"] == exact
            assert candidates.cosines(query, [f"p{number}"]) == {f"p{number}": exact}
