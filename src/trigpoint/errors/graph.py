"""Errors of the graph."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class GraphError(TrigpointError):
    """The graph's surfaces show upper-case codes."""

    code = "SERVER_ERROR"
    status = 500


class GraphBadRequest(GraphError):
    code = "BAD_REQUEST"
    status = 400


class GraphUnauthorized(GraphError):
    code = "UNAUTHORIZED"
    status = 401


class GraphForbidden(GraphError):
    code = "FORBIDDEN"
    status = 403


class GraphNotFound(GraphError):
    """Not there, or of another project: the two cannot be told apart."""

    code = "NOT_FOUND"
    status = 404


class GraphConflict(GraphError):
    code = "CONFLICT"
    status = 409
