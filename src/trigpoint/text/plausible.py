"""Whether a text layer is text: fonts without a character map give codes, shifted letters or nothing that is a word."""

from __future__ import annotations

import re
from collections import Counter
from math import sqrt

# Letters per thousand in running English, a to z.
_ENGLISH = (82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1)
_COMMON = frozenset(
    "the of and to in a is for be on with as by at from that are will or this it an not has have was within site "
    "which should no page y yr yn a'r ac i o ar".split()
)
_ODD = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_SYMBOL = re.compile(r"[\"#$%*+<=>@\[\\\]^`{}~!]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_ENOUGH_LETTERS = 60
_FEW_ODD = 0.05
_FEW_SYMBOLS = 5
_MOST_SYMBOLS = 0.3
_LEAST_FIT = 0.45
_LEAST_VOWELS = 0.17
_ENOUGH_COMMON = 0.04
_QUICK_RATE = 1 / 100  # common words per character of running prose, with a wide margin


def looks_like_prose(text: str) -> bool:
    """Return True if the text is certainly English prose. Cheap: to be asked first, of every page, without controls."""
    enough = _QUICK_RATE * len(text)
    common = text.count(" the ")
    if common <= enough:
        common += text.count(" of ") + text.count(" and ")
    return common > enough and (text.isascii() or not _ODD.search(text))


def is_plausible(text: str) -> bool:
    """Return whether the text can be what is printed. Short texts and figures have the benefit of the doubt."""
    if has_odd_codes(text):
        return False
    visible = "".join(text.split())
    if len(visible) >= _FEW_SYMBOLS and len(_SYMBOL.findall(visible)) > _MOST_SYMBOLS * len(visible):
        return False
    words = _WORD.findall(text.lower())
    letters = Counter("".join(words))
    count = sum(letters.values())
    if count < _ENOUGH_LETTERS:
        return True
    if sum(map(_COMMON.__contains__, words)) >= _ENOUGH_COMMON * len(words):
        return True
    latin = [letters[chr(code)] for code in range(ord("a"), ord("z") + 1)]
    if sum(latin) < count / 2:
        return False  # another script: nearly always a font that maps its characters wrongly
    vowels = sum(letters[letter] for letter in "aeiouyàâäéèêëîïôöùûüŵŷ")
    return vowels >= _LEAST_VOWELS * count and _fit(latin) >= _LEAST_FIT


def has_odd_codes(text: str) -> bool:
    """Return whether the text has many characters that no font prints: private codes, controls, unknown ones."""
    if not _ODD.search(text):
        return False
    tokens = [token for token in text.split() if len(token) > 1]  # an odd character alone is a bullet or a tick
    return sum(len(_ODD.findall(token)) for token in tokens) > max(1, _FEW_ODD * sum(map(len, tokens)))


def _fit(letters: list[int]) -> float:
    """Return the correlation of these letters' frequencies with those of English, -1 to 1."""
    mean, expected_mean = sum(letters) / 26, sum(_ENGLISH) / 26
    pairs = [(share - mean, expected - expected_mean) for share, expected in zip(letters, _ENGLISH, strict=True)]
    spread = sqrt(sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs))
    return sum(a * b for a, b in pairs) / spread if spread else 0.0
