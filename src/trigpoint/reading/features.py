"""Features: what a trained reader sees of a statement, as names with a strength each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import pairwise

from trigpoint.reading.context import Context
from trigpoint.reading.statements import Statement
from trigpoint.reading.tokens import Token, tokenise
from trigpoint.reading.vocabulary import Topic, aspects_of

Features = dict[str, float]

_HEADINGS = 2  # the innermost ones
_OPENING = 3  # words
_SHORTEST_STEM = 4
_ENDINGS = ("ings", "ing", "ies", "ed", "es", "s")
_EMPTY = frozenset(
    "the a an of to and in is are be for with by that this it as on at or which from will would has have been was were "
    "its their there".split()
)


@lru_cache(maxsize=8192)
def _plain_words(text: str) -> tuple[str, ...]:
    """Return the words of a text without their endings; every number is the same word."""
    return tuple(word for word in map(_word, tokenise(text)) if word)


@lru_cache(maxsize=8192)
def _content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that carry meaning."""
    return tuple(word for word in _plain_words(text) if word not in _EMPTY)


def _word(token: Token) -> str:
    if token.kind == "number":
        return "#"
    if token.kind == "mark":
        return token.text if token.text in "£%" else ""
    return _stem(token.text.removesuffix("'s"))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def topic_features(
    statement: Statement,
    previous: str,
    classes: Collection[str],
    classes_above: Collection[str],
    by_rule: Collection[Topic],
) -> Features:
    """Return the features that show the aspect of a statement: its words, what is above and before it, and what the rules say."""
    words = _content_words(statement.text)
    aspects = {aspect for topic in by_rule for aspect in aspects_of(topic)}
    return {
        **_group_features("", words, 1.0),
        **_group_features("", (f"{one} {other}" for one, other in pairwise(words)), 0.7),
        **_group_features("heading ", _content_words(" . ".join(statement.headings[-_HEADINGS:])), 0.5),
        **_group_features("lead ", _content_words(statement.lead), 0.5),
        **_group_features("column ", _content_words(" ".join(statement.columns)), 0.5),
        **_group_features("before ", _content_words(previous), 0.3),
        **_group_features("kind ", (statement.kind,), 0.5),
        **class_features(classes, classes_above, by_rule),
        **_group_features("aspect by rule ", aspects, 0.7),
    }


def class_features(classes: Iterable[str], classes_above: Iterable[str], by_rule: Iterable[Topic]) -> Features:
    """Return the word classes of a statement and of the headings above it, and the topics that the rules give it."""
    return {
        **_group_features("class ", classes, 1.0),
        **_group_features("class above ", classes_above, 0.5),
        **_group_features("topic by rule ", by_rule, 0.7),
    }


def status_features(context: Context, signals: Iterable[str], by_rule: str) -> Features:
    """Return the features that show the status of a statement: its words, its place, and what the rules notice and conclude."""
    statement, words = context.statement, _plain_words(context.statement.text)
    place = (
        f"section {context.section}",
        f"genre {context.genre}",
        f"section {context.section} in {context.genre}",
        f"speaker {context.speaker}",
        f"kind {statement.kind}",
    )
    return {
        **_group_features("", words, 1.0),
        **_group_features("", (f"{one} {other}" for one, other in pairwise(words)), 0.7),
        **_group_features("begins ", words[:_OPENING], 0.5),
        **_group_features("heading ", _plain_words(" . ".join(statement.headings)), 0.5),
        **_group_features("lead ", _plain_words(statement.lead), 0.5),
        **_group_features("before ", _plain_words(context.previous), 0.2),
        **_group_features("title ", _plain_words(context.title), 0.5),
        **_group_features("", place, 1.0),
        **_group_features("cue ", context.cues, 1.0),
        **_group_features("cue of list ", context.lead, 1.0),
        **_group_features("cue before ", context.said, 0.5),
        **_group_features("signal ", signals, 1.0),
        **_group_features("status by rule ", (by_rule,), 1.0),
    }


def _group_features(group: str, names: Iterable[str], strength: float) -> Features:
    return {group + name: strength for name in names}
