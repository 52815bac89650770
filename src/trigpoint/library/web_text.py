"""HTML as a reader sees it: the blocks of the main text in their order, with the levels of headings, without menus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_BLOCKS = frozenset("p li td th dt dd pre blockquote figcaption caption h1 h2 h3 h4 h5 h6 div section article".split())
_NEVER = "script, style, noscript, template, nav, form, button, iframe, svg, [hidden], [aria-hidden=true]"
_AROUND = "header, footer, aside, [role=navigation], [role=banner], [role=contentinfo], [role=search]"
_MAIN = "main, [role=main], article"
_HEADING = re.compile("h([1-6])")
_LEAST_OF_BODY = 0.3  # share of the page's words that its main element has, if it is really that
_MENU_LINKS = 4
_MENU_SHARE = 0.8  # of the words of a list that are links, if it is a menu


@dataclass(frozen=True)
class WebText:
    title: str | None
    blocks: tuple[tuple[str, int | None], ...]  # the words of a block, and its level if it is a heading


def read_web_text(markup: str, *, whole: bool = False) -> WebText:
    """Return the main text of a page; `whole`: of all of it, for pages that have no menus (books, notes)."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    said = tree.css_first("title")
    title = " ".join(said.text().split()) if said else ""
    _remove_nodes(tree, _NEVER)
    for line_break in tree.css("br"):
        line_break.replace_with(" ")
    body: Any = tree.body
    if body is None:
        return WebText(title or None, ())
    root = body if whole else _main_of(tree, body)
    return WebText(title or None, tuple(_blocks_of_text(root)))


def _main_of(tree: Any, body: Any) -> Any:
    """Return the element with the main text: the largest that says it is, or the body without what is around the text."""
    largest = max(tree.css(_MAIN), key=_text_length, default=None)
    if largest is not None and _text_length(largest) >= _LEAST_OF_BODY * _text_length(body):
        _remove_nodes(largest, "nav, aside, footer, [role=navigation]")
        return largest
    _remove_nodes(tree, _AROUND)
    for menu in tree.css("ul, ol"):
        links = menu.css("a")
        if len(links) >= _MENU_LINKS and sum(map(_text_length, links)) >= _MENU_SHARE * _text_length(menu):
            menu.decompose()
    return tree.body


def _blocks_of_text(root: Any) -> Iterator[tuple[str, int | None]]:
    found = root.css(", ".join(sorted(_BLOCKS)))
    if not found:
        yield " ".join(root.text(separator=" ").split()), None
    for node in found:
        if any(child.tag in _BLOCKS for child in node.iter()):
            continue  # its blocks come by themselves
        level = _HEADING.fullmatch(node.tag or "")
        yield " ".join(node.text().split()), int(level[1]) if level else None


def _remove_nodes(tree: Any, unwanted: str) -> None:
    for node in tree.css(unwanted):
        node.decompose()


def _text_length(node: Any) -> int:
    return len("".join(node.text().split()))
