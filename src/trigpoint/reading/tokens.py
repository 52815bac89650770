"""Words, numbers and marks of a statement, with a cursor that the grammars of this package move over them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Literal, TypeVar

Value = TypeVar("Value")
TokenKind = Literal["number", "word", "mark"]

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_WORD = r"m[²2](?!\d)|[^\W\d_]+(?:['’][a-z]+)?"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<word>{_WORD})|(?P<mark>\S)")
_SAME = dict.fromkeys(map(ord, "‐‑‒–—−"), "-") | {ord("’"): "'"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark; `text` is in lower case, every dash is "-", and `spaced` says that a space precedes it."""

    kind: TokenKind
    text: str
    start: int
    end: int
    spaced: bool


@lru_cache(maxsize=4096)
def tokenise(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text with their offsets in it."""
    tokens: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        kind: TokenKind = match.lastgroup  # type: ignore[assignment]
        word = match.group().lower()
        if not word.isascii():
            word = word.translate(_SAME)
        if match.group() == "May" and _is_month(tokens, text, match.end()):
            word = "may (month)"
        tokens.append(Token(kind, word, match.start(), match.end(), match.start() > end or not tokens))
        end = match.end()
    return tuple(tokens)


def _is_month(before: Sequence[Token], text: str, end: int) -> bool:
    """Return whether "May" is the month: a number is next to it."""
    return bool(before and before[-1].kind == "number") or text[end : end + 3].strip()[:1].isdigit()


class Phrases(Generic[Value]):
    """A table of phrases, each of words with single spaces, that knows how long one can be by its first word."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = dict(values)
        self.longest: dict[str, int] = {}
        for phrase in values:
            first, *rest = phrase.split(" ")
            self.longest[first] = max(self.longest.get(first, 0), 1 + len(rest))


class Cursor:
    """A position in a sequence of tokens. Grammar rules move it forward, or leave it where it was and return None."""

    def __init__(self, tokens: Sequence[Token], at: int = 0) -> None:
        self.tokens, self.at = tokens, at

    def peek(self, ahead: int = 0) -> Token | None:
        index = self.at + ahead
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def text(self, ahead: int = 0) -> str:
        token = self.peek(ahead)
        return token.text if token else ""

    def is_word(self, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        return token is not None and token.kind == "word"

    def take(self, words: Collection[str]) -> str | None:
        """Move over one token if it is one of these words, and return it."""
        if self.text() in words and self.peek() is not None:
            self.at += 1
            return self.tokens[self.at - 1].text
        return None

    def take_phrase(self, phrase: str) -> bool:
        """Move over a phrase of words with single spaces, if it comes next."""
        words = phrase.split(" ")
        if all(self.text(index) == word for index, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def take_longest(self, phrases: Phrases[Value]) -> Value | None:
        """Move over the longest phrase of a table that comes next, and return what the table has for it."""
        longest = min(phrases.longest.get(self.text(), 0), len(self.tokens) - self.at)
        for length in range(longest, 0, -1):
            phrase = " ".join(token.text for token in self.tokens[self.at : self.at + length])
            if phrase in phrases.values:
                self.at += length
                return phrases.values[phrase]
        return None
