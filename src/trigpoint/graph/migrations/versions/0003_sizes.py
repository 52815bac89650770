"""Blocks are no longer counted; SQLite's planner knows how large a project can be; PostgreSQL's grams are made faster.

Revision: 0003_sizes
"""

from __future__ import annotations

from alembic import op

from trigpoint.graph.migrations.derived import GRAMS, expect_large_projects

revision = "0003_sizes"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    on_sqlite = connection.dialect.name == "sqlite"
    for suffix in ("add", "take", "move"):
        trigger, function = f"DROP TRIGGER block_count_{suffix}", f"DROP FUNCTION block_count_{suffix}() CASCADE"
        connection.exec_driver_sql(trigger if on_sqlite else function)
    op.drop_table("block_count")
    if on_sqlite:
        expect_large_projects(connection)
    else:
        connection.exec_driver_sql(GRAMS)
