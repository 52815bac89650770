"""A claim as the second reader is shown it: the claim, the words that are quoted for it, and little else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from trigpoint.errors import shorten
from trigpoint.review.agent.shown import block, one_line
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.findings import Citation, Finding, PolicyCitation
from trigpoint.review.held import Held
from trigpoint.review.lookup import stems
from trigpoint.review.people import group_named
from trigpoint.review.policy_words import passage_shown
from trigpoint.review.sheets import Sheets
from trigpoint.review.verify_scope import strong_words

LONGEST_STATEMENT = 600  # of which a quotation is a part
LONGEST_CITED = 1_200  # of a passage of policy that claims cite
LONGEST_SIBLING = 140  # of another claim on the same question
MOST_SIBLINGS = 3
LONGEST_BEFORE = 240  # of the statement before a quotation
LONGEST_OPEN = 260  # of an open point
ALIKE = 0.5  # share of the words of the shorter of two findings that the other one has
ALIKE_WITH_SAME_WORDS = 0.3
LONGEST_ELSEWHERE = 300  # of a statement that is not quoted


def claims(names: Iterable[str], draft: ReviewDraft) -> str:
    """Return claims with their evidence, and after them the passages of policy that they cite, each once."""
    findings = draft.verified()
    chosen = {name: findings[name] for name in names}
    cited: dict[str, list[tuple[PolicyCitation, Finding]]] = {}
    for finding in chosen.values():
        for one in finding.policy:
            if one.passage_id in draft.evidence.policies:
                cited.setdefault(one.ref, []).append((one, finding))
    passages = [f"{ref}: {_passage(uses, draft)}" for ref, uses in cited.items()]
    told = block("claims", "\n\n".join(claim(name, finding, draft) for name, finding in chosen.items()))
    return f"{told}\n\n{block('policies that they cite', chr(10).join(passages))}" if passages else told


def _passage(uses: list[tuple[PolicyCitation, Finding]], draft: ReviewDraft) -> str:
    citation, finding = uses[-1]
    passage = draft.evidence.policies[citation.passage_id]
    quoted = [one.quote for one, _ in uses]
    return passage_shown(passage, finding.requirement, draft.evidence.profile, LONGEST_CITED, quoted)


def claim(name: str, finding: Finding, draft: ReviewDraft) -> str:
    """Return a claim and its evidence, without its outcome: each quotation with its heading and the statement before it,
    and the statements elsewhere that speak of the same."""
    held = draft.state.held[name]
    lines = [f"{name} (asked for: {one_line(finding.requirement)}): {one_line(finding.provided)}"]
    if finding.lacking:
        lines.append(f"   lacking: {one_line(finding.lacking)}{_searched(held, draft)}")
    for one in finding.evidence:
        label = draft.sheets.label_of(one.document_id)
        place = f"{label} {one.document} ({_author(one, draft)}), page {list(one.pages)}{_if_by_ocr(one, draft.sheets)}"
        lines.append(f"   {place}: “{one_line(one.quote)}”{_around(one, draft.sheets)}")
    if finding.standard is not None:
        lines.append(
            f"   measured by the standard that {finding.standard.document} quotes: “{one_line(finding.standard.quote)}”"
        )
    lines += [f"   {one.ref}: “{one_line(one.quote)}”" for one in finding.policy]
    lines += [f"   calculation: {one.expression}" for one in finding.calculations]
    spoken = finding.model_copy(update={"text": finding.provided})
    if strong := strong_words(spoken, [_statement(one, draft.sheets) for one in finding.evidence]):
        lines.append(f"   (in the claim, and in none of the quoted words: {', '.join(f'“{word}”' for word in strong)})")
    lines += [
        f"   also said: {hit.label} p{hit.page or 1} “{shorten(one_line(hit.text), LONGEST_ELSEWHERE)}”"
        for hit in draft.also_said(held)
    ]
    lines += [
        f"   (on the same question, {other}: {shorten(one_line(one.text), LONGEST_SIBLING)})"
        for other, one in list(draft.siblings(held).items())[:MOST_SIBLINGS]
    ]
    proposal = one_line(draft.evidence.profile.proposal)
    return "\n".join(lines) + (f"\n   (the proposal: {proposal})" if _leans_on(finding, proposal) else "")


def side_by_side(draft: ReviewDraft) -> str:
    """Return every finding with its outcome and its words, and the open points in a line each, for a reader of all."""
    findings = draft.verified()
    near = _near_in_words(findings)
    told = ["\n".join(_told_whole(name, finding, draft, near.get(name, ()))) for name, finding in findings.items()]
    open_points = [
        f"{name} [{held.given.aspect}]: {shorten(one_line(held.open_point.reason), LONGEST_OPEN)}"
        for name, held in draft.state.held.items()
        if held.counts and held.finding is None and held.open_point is not None
    ]
    parts = [block("findings", "\n\n".join(told))]
    parts += [block("open points, on which no verdict is given", "\n".join(open_points))] if open_points else []
    return "\n\n".join(parts)


def _told_whole(name: str, finding: Finding, draft: ReviewDraft, near: Iterable[str]) -> Iterator[str]:
    held = draft.state.held[name]
    yield f"{name} [{held.given.aspect}] {finding.outcome}: {one_line(finding.provided)}"
    if finding.lacking:
        yield f"   lacking: {one_line(finding.lacking)}{_searched(held, draft)}"
    yield f"   asked for: {one_line(finding.requirement)}"
    for one in finding.evidence:
        place = f"{draft.sheets.label_of(one.document_id)} ({_author(one, draft)}) p{', '.join(map(str, one.pages))}"
        yield f"   {place}: “{shorten(one_line(one.quote), LONGEST_ELSEWHERE)}”"
    if finding.standard is not None:
        yield f"   standard, as {finding.standard.document} quotes it: “{shorten(one_line(finding.standard.quote), 200)}”"
    for policy in finding.policy:
        yield f"   {policy.ref}: “{shorten(one_line(policy.quote), LONGEST_ELSEWHERE)}”"
    if finding.calculations:
        yield f"   sums: {'; '.join(one.expression for one in finding.calculations)}"
    if near := list(near):
        yield f"   (near to it in words: {', '.join(near)})"


def _near_in_words(findings: Mapping[str, Finding]) -> dict[str, list[str]]:
    """Return for each finding those that quote the same words or share many of its own: they may make the same point."""
    words = {name: set(stems(one.text)) for name, one in findings.items()}
    quoted = {name: {citation.passage_id for citation in one.evidence} for name, one in findings.items()}

    def alike(name: str, other: str) -> bool:
        shared = len(words[name] & words[other]) / max(1, min(len(words[name]), len(words[other])))
        return shared >= (ALIKE_WITH_SAME_WORDS if quoted[name] & quoted[other] else ALIKE)

    return {name: [other for other in findings if other != name and alike(name, other)] for name in findings}


def _author(one: Citation, draft: ReviewDraft) -> str:
    """Return who wrote a document, so that a claim may name them: the group of its letterhead, or the applicant."""
    if group := group_named(one.document):
        return f"by {group}"
    document = draft.sheets.document(one.document)
    return f"by the {document.source_kind}" if document is not None else "author not known"


def _if_by_ocr(one: Citation, sheets: Sheets) -> str:
    pages = sheets.labels[sheets.label_of(one.document_id)].pages
    return ", read by OCR" if any(page.by_ocr and page.number in one.pages for page in pages) else ""


def _searched(held: Held, draft: ReviewDraft) -> str:
    """Return what was looked for, and the nearest statements that our own search finds there; nothing without a search."""
    sought = ", ".join(f"“{one_line(words)}”" for words in held.given.looked_for)
    if not sought:
        return ""
    where = draft.searched_place(held.given)
    near = [
        f"{hit.label} p{hit.page or 1} “{one_line(hit.text)[:LONGEST_BEFORE]}”" for hit in draft.nearest(held.given)
    ]
    return f" (looked for {sought}{f' in {where}' if where else ''}; nearest by words: {'; '.join(near) or 'nothing'})"


def _statement(one: Citation, sheets: Sheets) -> str:
    """Return the whole statement of which the quoted words are a part."""
    start, _, end = one.passage_id.rpartition(":")[2].partition("-")
    return sheets.labels[sheets.label_of(one.document_id)].text[int(start) : int(end)]


def _around(one: Citation, sheets: Sheets) -> str:
    """Return the whole statement if words are a part of it, its heading and the statement before it.

    A figure may come from the whole statement, and "it" and "this" are understood by what comes before.
    """
    statements = sheets.words_of(sheets.labels[sheets.label_of(one.document_id)]).statements
    start = int(one.passage_id.rpartition(":")[2].partition("-")[0])
    at = next((n for n, statement in enumerate(statements) if statement.end > start), None)
    if at is None:
        return ""
    heading = " > ".join(one_line(title) for title in statements[at].headings[-2:])
    same_part = at > 0 and statements[at - 1].headings == statements[at].headings
    before = one_line(statements[at - 1].text)[-LONGEST_BEFORE:] if same_part else ""
    columns = " | ".join(one_line(column) for column in statements[at].columns)
    whole = one_line(statements[at].text)
    said = [
        f"in the statement “{whole[:LONGEST_STATEMENT]}”" if len(whole) > len(one.quote) + 20 and not columns else "",
        f"under “{heading}”" if heading else "",
        f"columns “{columns}”" if columns else "",
        f"after “{before}”" if before and not columns else "",
    ]
    return f" ({', '.join(part for part in said if part)})" if any(said) else ""


def _leans_on(finding: Finding, proposal: str) -> bool:
    """Whether a claim has a figure that only the proposal gives."""
    quoted = " ".join(one.quote for one in finding.evidence)
    figures = set(re.findall(r"\d[\d,.]*", finding.text)) - set(re.findall(r"\d[\d,.]*", quoted))
    return bool(figures & set(re.findall(r"\d[\d,.]*", proposal)))
