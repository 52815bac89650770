"""A letter as the blocks that are printed, in order. Page, PDF, Word file and plain text all print these and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from trigpoint.review.letter import Condition, Ground, Letter, PointKind
from trigpoint.review.voice import in_voice
from trigpoint.review.wording import as_beginning

BlockKind = Literal[
    "sender", "council", "date", "greeting", "title", "about", "heading", "paragraph", "ground", "item", "condition",
    "sign", "annex",
]  # fmt: skip

NO_COUNCIL = "[Name of the council]"
NO_COUNCIL_ADDRESS = "[Address of the council]"
NO_NAME = "[Your name]"
NO_ADDRESS = "[Your address]"
_GROUNDS: frozenset[PointKind] = frozenset({"shortfall", "contradiction", "request", "remark"})


@dataclass(frozen=True)
class Block:
    """One thing to print. `lead` is set in bold before the text; a ground has a number."""

    kind: BlockKind
    text: str
    lead: str = ""
    number: int | None = None


def letter_blocks(letter: Letter, today: date) -> tuple[Block, ...]:
    """Return the letter from the sender's address to the end of its annex."""
    letter = _in_one_voice(letter)
    return (*_head(letter, today), *_body(letter), *_foot(letter), *_annex(letter))


def body_blocks(letter: Letter) -> tuple[Block, ...]:
    """Return the letter for a form that asks for names and addresses in fields of its own."""
    letter = _in_one_voice(letter)
    return (Block("title", title(letter)), *_about(letter), *_body(letter), *_foot(letter), *_annex(letter))


def _in_one_voice(letter: Letter) -> Letter:
    """Return the letter with all points in the sender's voice: "I" for a person, "we" for a group.

    What a person has added or written in the opening and the closing stays as it is.
    """
    plural = _me(letter) == "we"
    grounds = tuple(
        one
        if one.kind == "remark"
        else one.model_copy(update={"text": in_voice(one.text, plural), "asks": in_voice(one.asks, plural)})
        for one in letter.grounds
    )
    return letter.model_copy(update={"grounds": grounds})


def title(letter: Letter) -> str:
    """Return `Objection to planning application 25/01178/REM`."""
    joined = {"object": "Objection to", "support": "Support for", "comment": "Comments on"}[letter.stance]
    return f"{joined} planning application {letter.reference or '[reference]'}"


def _head(letter: Letter, today: date) -> Iterator[Block]:
    sender, council = letter.sender, letter.council
    lines = [sender.name or NO_NAME, sender.organisation, sender.address or NO_ADDRESS, sender.email]
    yield Block("sender", _nonblank_lines(*lines))
    yield Block(
        "council",
        _nonblank_lines(council.department, council.name or NO_COUNCIL, council.address or NO_COUNCIL_ADDRESS),
    )
    yield Block("date", day_text(letter.date, today))
    yield Block("greeting", "Dear Sir or Madam,")
    yield Block("title", title(letter))
    yield from _about(letter)


def _about(letter: Letter) -> Iterator[Block]:
    about = _nonblank_lines(letter.site, letter.proposal)
    if about:
        yield Block("about", about)


def _body(letter: Letter) -> Iterator[Block]:
    points = [ground for ground in letter.grounds if ground.ticked and not ground.annex]
    grounds = [ground for ground in points if ground.kind in _GROUNDS]
    strengths = [ground for ground in points if ground.kind == "strength"]
    first = strengths if letter.stance == "object" else []  # a fair word before the grounds, and no list of praise
    yield from _paragraphs(letter.opening or usual_opening(letter))
    yield from _paragraphs(" ".join(" ".join(_split(ground.text)) for ground in first))
    yield from _paragraphs(" ".join(letter.consultees))
    if grounds:
        yield Block("heading", _grounds_title(letter))
        yield from _grounds(grounds, 1)
    yield from _items(_questions_title(letter), [ground for ground in points if ground.kind == "question"])
    yield from _welcome(letter, [ground for ground in strengths if ground not in first])
    yield from _asked(letter)
    yield from _conditions(letter, [one for one in letter.conditions if one.ticked and not one.annex])
    yield from _paragraphs(letter.closing or usual_closing(letter))


def _grounds(grounds: Sequence[Ground], first: int) -> Iterator[Block]:
    for number, ground in enumerate(grounds, first):
        lead = ground.heading.strip().rstrip(".")
        start, *others = _split(ground.text) or [""]
        yield Block("ground", start, lead=f"{lead}." if lead else "", number=number)
        yield from (Block("paragraph", text) for text in others)


def _items(heading: tuple[str, str], points: Sequence[Ground]) -> Iterator[Block]:
    if points:
        yield Block("heading", heading[0])
        yield Block("paragraph", heading[1])
        yield from _list_items([point.text for point in points])


def _welcome(letter: Letter, points: Sequence[Ground]) -> Iterator[Block]:
    if points:
        yield Block("heading", f"What {_me(letter)} welcome")
        yield from (Block("item", " ".join(_split(point.text))) for point in points)


def _asked(letter: Letter) -> Iterator[Block]:
    wanted = dict.fromkeys(
        ground.asks.strip().rstrip(".;") for ground in letter.grounds if ground.ticked and ground.kind in _GROUNDS
    )
    asks = [ask for ask in wanted if ask]
    if asks:
        heading, lead = _asks_title(letter)
        yield Block("heading", heading)
        yield Block("paragraph", lead)
        yield from _list_items(asks)


def _conditions(letter: Letter, conditions: Sequence[Condition]) -> Iterator[Block]:
    if conditions:
        yield Block("heading", "Conditions, should permission be granted")
        if letter.stance == "object":
            yield Block(
                "paragraph", f"Should the council be minded to approve, {_me(letter)} ask for these conditions:"
            )
        yield from (
            Block("condition", " ".join(_split(one.text)), number=number) for number, one in enumerate(conditions, 1)
        )


def _foot(letter: Letter) -> Iterator[Block]:
    yield Block("sign", _nonblank_lines("Yours faithfully,", letter.sender.name or NO_NAME, letter.sender.organisation))


def _annex(letter: Letter) -> Iterator[Block]:
    """Yield the points that do not fit into the letter. Their numbers continue those of the letter."""
    points = [ground for ground in letter.grounds if ground.ticked and ground.annex]
    conditions = [one for one in letter.conditions if one.ticked and one.annex]
    if not points and not conditions:
        return
    yield Block("annex", "Annex")
    grounds = [point for point in points if point.kind in _GROUNDS]
    before = sum(one.ticked and not one.annex and one.kind in _GROUNDS for one in letter.grounds)
    if grounds:
        yield Block("heading", "Further points")
        yield from _grounds(grounds, before + 1)
    yield from _items(_questions_title(letter), [point for point in points if point.kind == "question"])
    yield from _welcome(letter, [point for point in points if point.kind == "strength"])
    yield from _conditions(letter, conditions)


def usual_opening(letter: Letter) -> str:
    """Return the first paragraph for the stance, unless somebody writes another."""
    me, my = as_beginning(_me(letter)), _my(letter)
    am = "am" if me == "I" else "are"
    printed = [ground for ground in letter.grounds if ground.ticked]
    against = [ground for ground in printed if ground.kind in _GROUNDS]
    questions = [ground for ground in printed if ground.kind == "question"]
    match letter.stance:
        case "object" if against:
            order = ", the most important first" if len(against) > 1 else ""
            return f"{me} {am} writing to object to this application. {my} reasons are set out below{order}."
        case "object":
            return f"{me} {am} writing to object to this application."
        case "support" if against:
            return f"{me} {am} writing to support this application, and ask that the points below are settled."
        case "support":
            return f"{me} {am} writing to support this application."
        case _ if against:
            return (
                f"{me} {am} writing to comment on this application. {me} neither support nor oppose it at this stage, and "
                "ask that the points below are settled before it is decided."
            )
        case _ if questions:
            return (
                f"{me} {am} writing to comment on this application. {me} neither support nor oppose it at this stage, and "
                "ask the council to look closely at the questions below before it decides."
            )
        case _:
            return f"{me} {am} writing to comment on this application."


def usual_closing(letter: Letter) -> str:
    """Return the last paragraph for the stance, unless somebody writes another."""
    me = _me(letter)
    asks = any(ground.ticked and ground.asks.strip() and ground.kind in _GROUNDS for ground in letter.grounds)
    match letter.stance:
        case "object":
            unless = " unless it is amended as set out above" if asks else ""
            return f"For these reasons {me} ask the council to refuse the application{unless}."
        case "support":
            return f"{as_beginning(me)} ask the council to approve the application."
        case _:
            inform = "me" if me == "I" else "us"
            return f"Please let {inform} know of any amended plans, so that {me} can comment on them."


def day_text(given: str, today: date) -> str:
    """Return `16 November 2026`, of the day given or else of today. What is no date is printed as it was written."""
    try:
        day = date.fromisoformat(given) if given else today
    except ValueError:
        return given
    return f"{day.day} {day:%B %Y}"


def _grounds_title(letter: Letter) -> str:
    return {"object": "Grounds of objection", "support": "Points to settle", "comment": "Points to settle"}[
        letter.stance
    ]


def _questions_title(letter: Letter) -> tuple[str, str]:
    return (
        f"What {_me(letter)} ask the council to check",
        f"Before it decides, {_me(letter)} ask the council to satisfy itself that the application provides:",
    )


def _asks_title(letter: Letter) -> tuple[str, str]:
    acceptable = "What would make the application acceptable"
    heading = acceptable if letter.stance == "object" else f"What {_me(letter)} ask for"
    return heading, f"{as_beginning(_me(letter))} ask the council, before it decides, to:"


def _list_items(texts: Sequence[str]) -> Iterator[Block]:
    """Yield the items of a list that completes a sentence."""
    last = len(texts) - 1
    for place, text in enumerate(texts):
        plain = " ".join(_split(text)).rstrip(".;")
        yield Block("item", f"{plain}{'.' if place == last else ';'}")


def _paragraphs(text: str) -> Iterator[Block]:
    yield from (Block("paragraph", part) for part in _split(text))


def _split(text: str) -> list[str]:
    """Return the paragraphs of a text, each on one line."""
    return [" ".join(part.split()) for part in text.replace("\r\n", "\n").split("\n\n") if part.strip()]


def _nonblank_lines(*texts: str) -> str:
    return "\n".join(line.strip() for text in texts for line in text.splitlines() if line.strip())


def _me(letter: Letter) -> str:
    return "we" if letter.sender.organisation.strip() else "I"


def _my(letter: Letter) -> str:
    return "Our" if letter.sender.organisation.strip() else "My"
