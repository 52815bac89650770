"""Alembic's entry: runs the versions on the connection that `graph.store` hands over."""

from __future__ import annotations

from alembic import context

from trigpoint.graph.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
