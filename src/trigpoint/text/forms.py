"""Form fields and comments: values next to their labels, boxes as `[x]` and `[ ]`, comments marked as such."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigpoint.text.images import Box, overlap
from trigpoint.text.merge import Piece, merged

_LABEL_DISTANCE = 220.0  # points
_SAME_ROW = 0.4


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: `kind` is text, choice or check."""

    box: Box
    kind: str
    value: str = ""
    is_on: bool = False

    @property
    def text(self) -> str:
        """Return the field as it is read: its value, or a box with or without a cross."""
        if self.kind == "check":
            return "[x]" if self.is_on else "[ ]"
        return self.value


@dataclass(frozen=True, slots=True)
class Comment:
    """A note that somebody put on a page."""

    text: str
    author: str = ""


def fill_in(lines: Sequence[Piece], fields: Iterable[Field]) -> list[Piece]:
    """Return the lines of a page with the values of its fields; what was printed inside a field gives way to its value."""
    fields = [field for field in fields if field.text]
    kept = [line for line in lines if not any(overlap(line.box, field.box) > 0.5 for field in fields)]
    texts = [line.text.rstrip("\n") for line in kept]
    alone: list[Piece] = []
    for field in sorted(fields, key=lambda field: (round(field.box[1]), field.box[0])):
        label = _label_line(field, kept)
        if label is None:
            alone.append(Piece(field.box, f"{field.text}\n"))
        elif field.kind == "check" and kept[label].box[0] >= field.box[0]:
            texts[label] = f"{field.text} {texts[label].lstrip()}"
        else:
            texts[label] = f"{texts[label].rstrip()} {field.text}"
    filled = [Piece(line.box, f"{text}\n") for line, text in zip(kept, texts, strict=True)]
    return merged(filled, alone)


def comment_lines(comments: Iterable[Comment], page_text: str) -> str:
    """Return the comments that the page's text does not have, one per line and marked."""
    printed = " ".join(page_text.split())
    lines = [
        f"[Comment by {comment.author}: {comment.text}]\n" if comment.author else f"[Comment: {comment.text}]\n"
        for comment in comments
        if comment.text not in printed
    ]
    return "".join(dict.fromkeys(lines))


def _label_line(field: Field, lines: Sequence[Piece]) -> int | None:
    """Return the line that names the field: to the right of a box; to the left of, or above, any other field."""
    row = [index for index, line in enumerate(lines) if _in_row(line.box, field.box)]
    right = [(lines[i].box[0] - field.box[2], i) for i in row if lines[i].box[0] >= field.box[2] - 2]
    left = [(field.box[0] - lines[i].box[2], i) for i in row if lines[i].box[2] <= field.box[0] + 2]
    near = [(gap, i) for gap, i in ([*right, *left] if field.kind == "check" else left) if gap <= _LABEL_DISTANCE]
    if field.kind == "check" and right and min(right)[0] <= _LABEL_DISTANCE:
        near = right
    return min(near)[1] if near else None


def _in_row(one: Box, other: Box) -> bool:
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return shared > _SAME_ROW * min(one[3] - one[1], other[3] - other[1])
