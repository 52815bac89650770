"""Sums of money for one purpose, in sentences and tables: identified by the words of the purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import Measured, MeasureKind
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.tokens import tokenise

_MONEY = MeasureKind("offsite.contribution", most_apart=3)
_ALIKE = 0.6  # of the words of two purposes that are shared, from which on they are one purpose
_LEAST_SHARED = 2

_CUES = Lexicon(
    {
        "paid": "contribut* pay paid payment towards toward fund funding obligation* section_106 s_106 offered offer commuted_sum",
        "not_ours": "require* requests requested asked seek seeks sought should would ought cost costs estimated budget per policy if "
        "previous lapsed appeal starting_point previously instead index*",
    }
)
_EMPTY = frozenset(
    "the a an of to for and in on at by with towards toward from its their will be is are contribution contributions financial sum "
    "payment scheme scheme's county's council's county council works improvement improvements provision new proposed towards applicant "
    "trust paid pay offered offer made which that as , . ; : ( ) - ' £ section agreement total up".split()
)


def money_measures(said: Iterable[Said]) -> Iterator[Measured]:
    """Yield the contributions with their purposes; those whose purposes are alike share one key."""
    known: list[frozenset[str]] = []
    for one in said:
        for quantity, purpose in _purposes(one):
            words = _purpose_words(purpose)
            if len(words) < _LEAST_SHARED:
                continue
            same = next((bag for bag in known if _alike(bag, words)), None)
            if same is None:
                known.append(words)
            key = ("money", *sorted(same or words))
            yield Measured(_MONEY, key, f"the contribution for {_plain_purpose(purpose)}", quantity, one, whole=True)


def _purposes(said: Said) -> Iterator[tuple[Quantity, str]]:
    """Yield each sum of a statement with the words that say what it is for."""
    if said.document.source_kind not in ("applicant", "council"):
        return
    pounds = [one for one in said.counts if one.unit == "pound" and one.per is None and one.high is None]
    plain = [one for one in pounds if one.limit in ("exactly", "about")]
    if said.statement.kind == "row":
        if len(pounds) == len(plain) == 1 and _is_obligation(said):
            yield plain[0], said.statement.cells[0]
        return
    cues = _CUES.tag_text(said.text)
    others = any(fact.status in ("other_scheme", "policy", "requested", "historic") for fact in said.facts)
    if not plain or "paid" not in cues or "not_ours" in cues or others:
        return
    for one, after in zip(plain, [*plain[1:], None], strict=True):
        yield one, _phrase(said.text, one, after)


def _is_obligation(said: Said) -> bool:
    words = " ".join((*said.statement.headings[-1:], *said.statement.columns)).lower()
    return any(one in words for one in ("heads of terms", "obligation", "contribution", "section 106", "s106"))


def _phrase(text: str, one: Quantity, after: Quantity | None) -> str:
    rest = text[one.end : after.start if after is not None else len(text)]
    ends = [
        at
        for mark in (",", ";", ". ", " and ", " which ", " on ", " before ", " prior ")
        if (at := rest.find(mark)) >= 0
    ]
    return rest[: min(ends, default=len(rest))].strip(" .")


def _plain_purpose(purpose: str) -> str:
    words = purpose.split()
    while words and words[0].lower() in ("to", "towards", "for", "the"):
        words.pop(0)
    return " ".join(words)


def _purpose_words(purpose: str) -> frozenset[str]:
    words = [token.text.removesuffix("'s") for token in tokenise(purpose) if token.kind == "word"]
    return frozenset(word.removesuffix("s") if len(word) > 4 else word for word in words if word not in _EMPTY)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared: Sequence[str] = tuple(one & other)
    return len(shared) >= _LEAST_SHARED and len(shared) >= _ALIKE * len(one | other)
