"""A finished review as a page: the verdict, the points that matter, contradictions, then everything by aspect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from trigpoint.api.web.templating import page, web_address
from trigpoint.api.web.transcript import transcript_file
from trigpoint.dates import today
from trigpoint.jobs.reviews import Review
from trigpoint.review.findings import GROUPS, PolicyCitation
from trigpoint.review.formats import FORMATS
from trigpoint.review.markdown import OUTCOMES, built
from trigpoint.review.overview import Overview, Point, State, deadline
from trigpoint.review.result import ComplianceRow, ReviewResult
from trigpoint.text.picture import STRIP_HEIGHT, STRIP_WIDTH

_FILTERS: dict[State, str] = {"problems": "Problems", "met": "Met", "open": "Not assessed"}


@dataclass(frozen=True)
class _MatrixRow:
    """A row of the policy matrix, with the finding it comes from and the passage of policy that it names."""

    row: ComplianceRow
    point: Point | None
    policy: PolicyCitation | None


def review_page(request: Request, review: Review) -> Response:
    """Render a completed review. `?show=` leaves only the aspects, findings and open points of one kind."""
    show = _filter(request)
    result = review.result()
    overview = Overview(result.review)
    return page(
        request,
        "review.html",
        review=review,
        result=result,
        overview=overview,
        deadline=deadline(result.application.consultation_end, today()),
        officers=result.review.officers.sentence(result.review.titles, today()) if result.review.officers else "",
        register=web_address(result.application.portal_url),
        numbers={quotation: number for number, quotation in enumerate(result.review.quotations(), 1)},
        built=built(result.review.profile) if result.review.profile else "",
        not_asked=[aspect.name for aspect in result.review.aspects if not aspect.applies],
        matrix=_matrix(result, overview),
        show=show,
        shown=[one for one in overview.aspects if one.answers(show)],
        filters=[(name, title, sum(one.answers(name) for one in overview.aspects)) for name, title in _FILTERS.items()],
        outcomes=OUTCOMES,
        groups=GROUPS,
        formats=FORMATS,
        transcript=transcript_file(request.scope["services"].settings, review.review_id) is not None,
        strip=(STRIP_WIDTH, STRIP_HEIGHT),
    )


def _filter(request: Request) -> State | None:
    wanted = request.query_params.get("show", "")
    if not wanted:
        return None
    found: State | None = next((name for name in get_args(State) if name == wanted), None)
    if found is None:
        raise HTTPException(404)
    return found


def _matrix(result: ReviewResult, overview: Overview) -> list[_MatrixRow]:
    points = {(point.finding.requirement, point.finding.text): point for point in reversed(overview.points)}
    return [_matrix_row(row, points.get((row.requirement, row.notes))) for row in result.review.policy_compliance]


def _matrix_row(row: ComplianceRow, point: Point | None) -> _MatrixRow:
    cited = point.finding.policy if point else ()
    return _MatrixRow(row, point, next((policy for policy in cited if policy.ref == row.policy_ref), None))
