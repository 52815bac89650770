"""One fused score: in [0, 1], for all that either side knows, and each method does what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.passages.fusion import FusionMethod, fuse

_IDS = st.text(alphabet="abcdef0123", min_size=1, max_size=3)
_DENSE = st.dictionaries(_IDS, st.floats(-0.2, 1.0), max_size=30)
_LEXICAL = st.dictionaries(_IDS, st.floats(0, 1), max_size=30)
_METHODS: list[FusionMethod] = ["convex", "rrf"]


@given(_DENSE, _LEXICAL, st.sampled_from(_METHODS), st.floats(0, 1))
def test_scores_are_in_the_unit_interval_and_complete(
    dense: dict[str, float], lexical: dict[str, float], method: FusionMethod, alpha: float
) -> None:
    fused = fuse(dense, lexical, method, alpha)
    assert fused.keys() == dense.keys() | lexical.keys()
    assert all(0 <= score <= 1 for score in fused.values())


@given(_DENSE, _LEXICAL, st.sampled_from(_METHODS))
def test_the_order_of_the_input_does_not_matter(
    dense: dict[str, float], lexical: dict[str, float], method: FusionMethod
) -> None:
    assert fuse(dense, lexical, method) == fuse(dict(reversed(dense.items())), dict(reversed(lexical.items())), method)


@given(_DENSE, _LEXICAL, st.sampled_from(_METHODS))
def test_better_on_both_sides_is_never_ranked_lower(
    dense: dict[str, float], lexical: dict[str, float], method: FusionMethod
) -> None:
    scores = fuse(dense, lexical, method)
    for a in scores:
        for b in scores:
            if dense.get(a, 0) >= dense.get(b, 0) and lexical.get(a, 0) >= lexical.get(b, 0):
                assert scores[a] >= scores[b] - 1e-12


def test_convex_is_the_weighted_sum_of_cosine_and_words() -> None:
    fused = fuse({"a": 0.8, "b": 0.6, "c": 0.4}, {"b": 1.0, "c": 0.5}, "convex", 0.7)
    assert fused == pytest.approx({"a": 0.56, "b": 0.42 + 0.3, "c": 0.28 + 0.15})


def test_a_score_does_not_depend_on_the_other_passages() -> None:
    alone = fuse({"a": 0.5}, {"a": 0.3})
    among_others = fuse({"a": 0.5, "b": 0.9}, {"a": 0.3, "c": 0.8})
    assert among_others["a"] == alone["a"]


def test_rrf_gives_one_to_what_is_first_on_both_sides() -> None:
    fused = fuse({"a": 0.9, "b": 0.5}, {"a": 0.6, "c": 0.4}, "rrf", 0.5)
    assert fused["a"] == pytest.approx(1.0)
    assert fused["b"] == fused["c"] == pytest.approx(0.5 * 61 / 62)


@pytest.mark.parametrize("method", _METHODS)
def test_one_side_alone_keeps_its_order(method: FusionMethod) -> None:
    only = {"a": 0.2, "b": 0.9, "c": 0.5}
    for fused in (fuse(only, {}, method), fuse({}, only, method)):
        assert sorted(fused, key=lambda key: -fused[key]) == ["b", "c", "a"]
    assert fuse({}, {}, method) == {}


def test_a_wrong_weight_or_method_is_refused() -> None:
    with pytest.raises(ValueError, match=r"alpha=1\.5"):
        fuse({}, {}, "convex", 1.5)
    with pytest.raises(ValueError, match="method='max'"):
        fuse({}, {}, "max")  # type: ignore[arg-type]
