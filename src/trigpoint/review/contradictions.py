"""Contradictions: one figure given twice with two values, and totals that are not the sum of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.review.aspects import Agreement, Aspect, Check, QuantityRule, Sums, compile_pattern
from trigpoint.review.denials import is_said
from trigpoint.review.evidence import Evidence, Statement
from trigpoint.review.findings import Citation, Finding
from trigpoint.review.matching import (
    any_matches,
    cite,
    in_terms_of,
    nearest,
    policies_of,
    quantities_at,
    show,
    speaks_of,
)
from trigpoint.review.quantities import Quantity
from trigpoint.review.sentences import collapse
from trigpoint.review.sums import check_table_sums, parse_breakdowns


@dataclass(frozen=True)
class _Given:
    """A figure as one statement gives it."""

    quantity: Quantity
    statement: Statement

    def contradicts(self, other: _Given) -> bool:
        """Whether both cannot be true: "at least 3.0m" and "3.5m" can."""
        (low, high), (its_low, its_high) = self.quantity.interval, other.quantity.interval
        return self.quantity.per == other.quantity.per and (high < its_low - 1e-6 or its_high < low - 1e-6)


def find_contradictions(evidence: Evidence, aspect: Aspect) -> list[Finding]:
    """Every contradiction that bears on an aspect, in the order of its checks."""
    found: list[Finding] = []
    for check in aspect.checks:
        found += _between_statements(evidence, aspect, check)
    for agreement in aspect.agreements:
        found += _disagreements(evidence, aspect, agreement)
    if aspect.sums is not None:
        found += _wrong_sums(evidence, aspect, aspect.sums)
    return found


def _between_statements(evidence: Evidence, aspect: Aspect, check: Check) -> Iterator[Finding]:
    """The same subject with two values: the 3.0 m path of one document that is 2.5 m in another."""
    rule = check.quantity
    if rule is None or not rule.subject:
        return
    by_subject: dict[str, list[_Given]] = {}
    for statement in evidence.statements:
        if not speaks_of(statement, check):
            continue
        for quantity in _stated(statement, rule):
            found = (nearest(pattern, statement.text, quantity) for pattern in rule.subject)
            subject = next((one for one in found if one), None)
            whole = in_terms_of(rule, quantity)
            if (
                subject
                and (whole.per or "once") in rule.bounds
                and rule.plausible[0] <= whole.rate <= rule.plausible[1]
            ):
                by_subject.setdefault(_named(subject, quantity), []).append(_Given(whole, statement))
    for subject, given in sorted(by_subject.items()):
        different = _different(given)
        if len(different) > 1:
            yield _contradiction(
                evidence,
                aspect,
                f"{check.id}_agrees",
                check.requirement,
                check.policy,
                f"{rule.name} ({subject})",
                different,
                rule.show,
            )


def _disagreements(evidence: Evidence, aspect: Aspect, agreement: Agreement) -> Iterator[Finding]:
    by_key: dict[tuple[str, ...], list[_Given]] = {}
    for statement in evidence.statements:
        if speaks_of(statement, agreement):
            where = f"{statement.heading}\n{statement.text}"
            key = tuple(_all_matches(pattern, where) for pattern in agreement.key)
            given = [_Given(quantity, statement) for quantity in _stated(statement, agreement) if quantity.per is None]
            by_key.setdefault(key, []).extend(given if len(given) == 1 or not agreement.key else [])
    for key, given in sorted(by_key.items()):
        different = _different(given)
        if len(different) > 1:
            of = ", ".join(part for part in key if part)
            yield _contradiction(
                evidence,
                aspect,
                agreement.id,
                agreement.requirement,
                agreement.policy,
                f"{agreement.what} ({of})" if of else agreement.what,
                different,
                agreement.show,
                agreement.recommendation,
            )


def _contradiction(
    evidence: Evidence,
    aspect: Aspect,
    check: str,
    requirement: str,
    policy: Sequence[str],
    what: str,
    given: Sequence[_Given],
    template: str,
    recommendation: str | None = None,
) -> Finding:
    figures = " but ".join(f"{show(template, one.quantity)} in {one.statement.passage.document}" for one in given)
    return Finding(
        check=check,
        requirement=requirement,
        outcome="contradicted",
        text=f"The documents contradict each other on {what[0].lower()}{what[1:]}: {figures}.",
        essential=False,
        evidence=tuple(dict.fromkeys(cite(one.statement, "contradicted") for one in given)),
        policy=policies_of(evidence, aspect, policy),
        recommendation=recommendation
        or f"Correct the documents so that they give one figure for {what[0].lower()}{what[1:]}",
    )


def _wrong_sums(evidence: Evidence, aspect: Aspect, sums: Sums) -> Iterator[Finding]:
    for statement in evidence.statements:
        for breakdown in parse_breakdowns(statement.text):
            if breakdown.adds_up or not any_matches([sums.about], statement.text + " " + statement.passage.text):
                continue
            if breakdown.total.unit != sums.unit:
                continue
            parts = [part.value for part in breakdown.parts]
            yield _sum_finding(evidence, aspect, sums, breakdown.total.value, parts, cite(statement, "contradicted"))
    seen: set[tuple[str, float, tuple[float, ...]]] = set()
    for passage in evidence.passages.values():
        if not any_matches([sums.about], passage.text):
            continue
        for table in check_table_sums(passage.text):
            if (passage.document_id, table.stated, table.parts) in seen:
                continue
            seen.add((passage.document_id, table.stated, table.parts))
            quote = collapse(passage.text[table.start : table.end])
            citation = Citation(
                passage_id=passage.id,
                document_id=passage.document_id,
                document=passage.document,
                pages=passage.pages,
                quote=quote,
                speaks="contradicted",
            )
            yield _sum_finding(evidence, aspect, sums, table.stated, list(table.parts), citation)


def _sum_finding(
    evidence: Evidence, aspect: Aspect, sums: Sums, total: float, parts: list[float], citation: Citation
) -> Finding:
    added = " and ".join(f"{part:g}" for part in parts)
    return Finding(
        check="sum",
        requirement=sums.requirement,
        outcome="contradicted",
        text=f"A total does not add up: {total:g} is stated, but its parts of {added} make {sum(parts):g}.",
        essential=False,
        evidence=(citation,),
        policy=policies_of(evidence, aspect, sums.policy),
        derived=(sum(parts),),
        recommendation=sums.recommendation,
    )


def _stated(statement: Statement, rule: QuantityRule | Agreement) -> list[Quantity]:
    """The figures that a statement gives, without those that it denies."""
    text = statement.text
    return [quantity for quantity in quantities_at(text, rule) if is_said(text, quantity.start, quantity.end)]


def _different(given: Sequence[_Given]) -> list[_Given]:
    """The first statement of each value that another value contradicts."""
    first: dict[tuple[tuple[float, float], str | None], _Given] = {}
    for one in given:
        first.setdefault((one.quantity.interval, one.quantity.per), one)
    return [one for one in first.values() if any(one.contradicts(other) for other in first.values())]


def _named(subject: str, quantity: Quantity) -> str:
    """A subject in the singular, with the size of home that the figure is for."""
    size = f"{quantity.bedrooms:g}-bed " if quantity.bedrooms and "bed" not in subject else ""
    return size + subject.removesuffix("s")


def _all_matches(pattern: str, text: str) -> str:
    found = {match[0].lower().removesuffix("s") for match in compile_pattern(pattern).finditer(text)}
    return " and ".join(sorted(found))
