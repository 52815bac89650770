"""Errors of the graph."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class GraphError(TrigpointError):
    """A failure of the graph that nobody foresaw, or its database cannot be reached."""

    code = "SERVER_ERROR"
    status = 500


class GraphBadRequest(GraphError):
    """An argument is missing, malformed or outside its bounds."""

    code = "BAD_REQUEST"
    status = 400


class GraphUnauthorized(GraphError):
    """The request has no key, or one that is not known."""

    code = "UNAUTHORIZED"
    status = 401


class GraphForbidden(GraphError):
    """The key may not do this, or the request comes from a page of another site."""

    code = "FORBIDDEN"
    status = 403


class GraphNotFound(GraphError):
    """It does not exist, or belongs to another project: the answer does not reveal which."""

    code = "NOT_FOUND"
    status = 404


class GraphConflict(GraphError):
    """The change does not fit what is stored, such as a slug that is taken."""

    code = "CONFLICT"
    status = 409
