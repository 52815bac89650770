"""What a review by a model is going to do, before it does it: pages to read, groups of aspects, calls and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.config import Settings
from trigpoint.reading.vocabulary import ASPECTS, Aspect, aspects_of
from trigpoint.review.agent import shown
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.orientation import Candidate
from trigpoint.review.sheets import Sheet, Sheets

_ON_THE_SAME_PAGES: tuple[tuple[Aspect, ...], ...] = (
    ("cycle_routes", "junctions"),
    ("permeability", "route_audit", "placemaking"),
    ("trip_generation", "travel_planning"),
    ("public_transport", "off_site"),
)
_BY_THEMSELVES = tuple((name,) for name in ASPECTS if not any(name in group for group in _ON_THE_SAME_PAGES))
GROUPS = (*_BY_THEMSELVES, *_ON_THE_SAME_PAGES)
"""Aspects that are judged together, because the same pages tell about them; the others are judged one by one."""

READ_WINDOW = 30_000  # characters of one reading call
LONGEST_PAGE = 45_000  # characters of a page that is read in one call
_RUNS_ON = 4_000  # characters of a sentence that begins on a page and ends on the next
READING_SHARE = 0.5  # of the token budget
CHARACTERS_PER_TOKEN = 3.6
CLAIMS_PER_CHECK = 14
_COMMON_TOKENS = 1_500
_ORIENT_TOKENS = 1_500  # instructions and the schema of the answer
_ORIENT_ANSWER_TOKENS = 200
_ANSWER_TOKENS = 3_500
_JUDGE_TOKENS = 9_000
_CHECK_TOKENS = 4_000
_MEND_TOKENS = 4_000
_JUDGE_CALLS = 2  # one look-up or correction on average


@dataclass(frozen=True)
class Window:
    """Pages of one document that are read in one call; of a very long page the part from `offset` on."""

    label: str
    pages: tuple[int, ...]
    characters: int
    offset: int = 0
    is_part: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(f"{self.label}:{page}" for page in self.pages or (0,))

    @property
    def most(self) -> int:
        """The most characters of one of its pages: a sentence may run on to the next one, but a part ends where it ends."""
        return self.characters if self.is_part else self.characters + _RUNS_ON


@dataclass(frozen=True)
class PassPlan:
    """The calls and tokens that one pass is expected to take."""

    name: str
    calls: int
    tokens: int
    what: str


@dataclass(frozen=True)
class Plan:
    """The plan of a review: the windows to read, the aspects to judge, and what that is expected to take."""

    windows: tuple[Window, ...]
    left_out: tuple[Sheet, ...]
    groups: tuple[tuple[str, ...], ...]
    passes: tuple[PassPlan, ...]

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.passes)

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.passes)

    @property
    def pages(self) -> int:
        return len({key for one in self.windows for key in one.keys})


def make_plan(draft: ReviewDraft, settings: Settings, also: Iterable[str] = ()) -> Plan:
    """Return the plan. Pages by relevance, while half of the token budget lasts; `also` are keys that a reader asked for."""
    sheets = draft.sheets
    asked = set(also)
    wanted = list(sheets.by_relevance) + [
        one for one in sheets.all if one.key in asked and one not in sheets.by_relevance
    ]
    budget = settings.review_max_tokens * READING_SHARE * CHARACTERS_PER_TOKEN
    chosen, left, size = set[str](), list[Sheet](), 0.0
    for sheet in wanted:
        size += sheet.characters * 1.6  # its answer, and what every call repeats
        (chosen.add(sheet.key) if size <= budget else left.append(sheet))
    windows = tuple(_windows([one for one in sheets.all if one.key in chosen], sheets))
    groups = asked_groups(draft)
    return Plan(windows, tuple(left), groups, _passes(draft, windows, groups))


def asked_groups(draft: ReviewDraft) -> tuple[tuple[str, ...], ...]:
    """Return the groups of the chosen aspects of which something is asked, and one of the others that were read about."""
    asked = {entry.id for entry in draft.orientation().aspects if entry.questions}
    groups = [tuple(name for name in group if name in asked) for group in GROUPS]
    spoken_of: set[str] = {name for fact in draft.state.facts for name in aspects_of(fact.topic)}
    spoken_of |= {one.aspect for one in draft.orientation().candidates if one.aspect}
    others = tuple(one.id for one in draft.aspects if one.id not in asked and one.id in spoken_of)
    return tuple(group for group in (*groups, others) if group)


def candidates_by_group(
    candidates: Iterable[Candidate], groups: Sequence[tuple[str, ...]]
) -> dict[tuple[str, ...], list[Candidate]]:
    """Return each suspected discrepancy once: in the group of its aspect, or in the first if it has none that is judged."""
    chosen: dict[tuple[str, ...], list[Candidate]] = {group: [] for group in groups}
    for one in candidates:
        group = next((group for group in groups if one.aspect in group), groups[0] if groups else None)
        if group is not None:
            chosen[group].append(one)
    return chosen


def _windows(chosen: Sequence[Sheet], sheets: Sheets) -> Iterable[Window]:
    """Yield windows of neighbouring chosen pages of one document, as many as fit into one call.

    A page that is longer than a call, as in a text file without pages, is read in several.
    """
    current: list[Sheet] = []
    for sheet in chosen:
        size = sum(one.characters for one in current)
        if current and (
            sheet.characters > LONGEST_PAGE or current[-1].label != sheet.label or size + sheet.characters > READ_WINDOW
        ):
            yield _window(current)
            current = []
        if sheet.characters > LONGEST_PAGE:
            yield from _parts(sheet, sheets)
        else:
            current.append(sheet)
    if current:
        yield _window(current)


def _parts(sheet: Sheet, sheets: Sheets) -> Iterable[Window]:
    document, pages = sheets.labels[sheet.label], () if sheet.page is None else (sheet.page,)
    offset, following = 0, True
    while following:
        part = sheets.window(document, sheet.page, to=sheet.page, offset=offset, most=READ_WINDOW)
        yield Window(sheet.label, pages, READ_WINDOW, offset, is_part=True)
        following = part.next_page is not None and part.next_offset > offset
        offset = part.next_offset


def _window(sheets: Sequence[Sheet]) -> Window:
    pages = tuple(one.page for one in sheets if one.page is not None)
    return Window(sheets[0].label, pages, sum(one.characters for one in sheets))


def packed(windows: Sequence[Window]) -> list[list[Window]]:
    """Return windows in parcels for one call each: short documents are read together."""
    parcels: list[list[Window]] = []
    for window in windows:
        if parcels and sum(one.characters for one in parcels[-1]) + window.characters <= READ_WINDOW:
            parcels[-1].append(window)
        else:
            parcels.append([window])
    return parcels


def _orient_tokens(draft: ReviewDraft, windows: Sequence[Window]) -> int:
    """Return the tokens of the first call, from what it shows: the application, its documents and their pages."""
    keys = list(dict.fromkeys(key for window in windows for key in window.keys))
    text = shown.application(draft.orientation()) + shown.sizes(draft) + shown.pages_to_read(draft.sheets, keys)
    return _ORIENT_TOKENS + int(len(text) / CHARACTERS_PER_TOKEN) + _ORIENT_ANSWER_TOKENS


def _passes(draft: ReviewDraft, windows: Sequence[Window], groups: Sequence[Sequence[str]]) -> tuple[PassPlan, ...]:
    parcels = packed(windows)
    pages = len({key for one in windows for key in one.keys})
    text = int(sum(one.characters for one in windows) / CHARACTERS_PER_TOKEN)
    judging = _JUDGE_CALLS * len(groups)
    claims = 9 * len(groups)
    checks = -(-claims // CLAIMS_PER_CHECK)
    return (
        PassPlan("orient", 1, _orient_tokens(draft, windows), "the development and the reading list"),
        PassPlan("read", len(parcels), text + len(parcels) * (_COMMON_TOKENS + _ANSWER_TOKENS), f"{pages} pages"),
        PassPlan("judge", judging, judging * (_JUDGE_TOKENS + _ANSWER_TOKENS), f"{sum(map(len, groups))} aspects"),
        PassPlan("check", checks, checks * _CHECK_TOKENS, "every finding against its evidence"),
        PassPlan("mend", 1, _MEND_TOKENS, "findings that did not hold"),
        PassPlan("compare", 1, 14_000, "the findings with each other"),
        PassPlan("conclude", 1, 12_000, "summary, recommendations, conditions, letter"),
    )
