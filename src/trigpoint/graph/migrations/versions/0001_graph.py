"""The first tables, the counters' triggers, and the default project.

Revision: 0001
"""

from __future__ import annotations

import time

import sqlalchemy as sa
from alembic import op

from trigpoint.graph.migrations.triggers import Counter, append_only

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.Uuid(as_uuid=False).with_variant(sa.Text(), "sqlite")
SORTED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
COUNTERS = (
    Counter(
        "entity_count",
        "entity",
        {
            "project_id": "{r}.project_id",
            "entity_type": "{r}.entity_type",
            "status": "{r}.status",
            "concept_kind": "coalesce({r}.concept_kind, '')",
        },
    ),
    Counter(
        "performance_count",
        "search_performance",
        {"project_id": "{r}.project_id", "date_start": "{r}.date_start", "date_end": "{r}.date_end"},
    ),
    Counter("block_count", "quotable_block", {"project_id": "{r}.project_id", "claim_type": "{r}.claim_type"}),
)


def upgrade() -> None:
    create_tables()
    dialect = op.get_bind().dialect.name
    for counter in COUNTERS:
        for statement in counter.statements(dialect):
            op.execute(sa.text(statement))
    for statement in append_only("event_log", dialect):
        op.execute(sa.text(statement))
    now = int(time.time() * 1000)
    op.bulk_insert(
        sa.table(
            "project",
            *(sa.column(c, ID if c == "id" else None) for c in ("id", "slug", "name", "created_at", "updated_at")),
        ),
        [
            {
                "id": "00000000-0000-4000-a000-000000000001",
                "slug": "psymetric",
                "name": "PsyMetric",
                "created_at": now,
                "updated_at": now,
            }
        ],
    )


def create_tables() -> None:
    op.create_table(
        "block_count",
        sa.Column("project_id", ID, nullable=False),
        sa.Column("claim_type", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "claim_type", name=op.f("pk_block_count")),
    )
    op.create_table(
        "entity_count",
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("concept_kind", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "entity_type", "status", "concept_kind", name=op.f("pk_entity_count")),
    )
    op.create_table(
        "performance_count",
        sa.Column("project_id", ID, nullable=False),
        sa.Column("date_start", sa.BigInteger(), nullable=False),
        sa.Column("date_end", sa.BigInteger(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "date_start", "date_end", name=op.f("pk_performance_count")),
    )
    op.create_table(
        "project",
        sa.Column("id", ID, nullable=False),
        sa.Column("slug", SORTED, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
        sa.UniqueConstraint("slug", name=op.f("uq_project_slug")),
    )
    op.create_table(
        "entity",
        sa.Column("seq", NUMBER, autoincrement=True, nullable=False),
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("slug", SORTED, nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("difficulty", sa.Text(), nullable=True),
        sa.Column("concept_kind", sa.Text(), nullable=True),
        sa.Column("repo_url", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=True),
        sa.Column("last_verified_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("folded", SORTED, nullable=False),
        sa.Column("grams", sa.ARRAY(sa.Integer()).with_variant(sa.Text(), "sqlite"), nullable=False),
        sa.CheckConstraint("concept_kind IN ('standard', 'model', 'comparison')", name=op.f("ck_entity_concept_kind")),
        sa.CheckConstraint("concept_kind IS NULL OR entity_type = 'concept'", name=op.f("ck_entity_kind_of_concept")),
        sa.CheckConstraint("difficulty IN ('beginner', 'intermediate', 'advanced')", name=op.f("ck_entity_difficulty")),
        sa.CheckConstraint(
            "entity_type IN ('guide', 'concept', 'project', 'news')", name=op.f("ck_entity_entity_type")
        ),
        sa.CheckConstraint("repo_url IS NULL OR entity_type = 'project'", name=op.f("ck_entity_repo_of_project")),
        sa.CheckConstraint(
            "status IN ('draft', 'publish_requested', 'published', 'archived')", name=op.f("ck_entity_status")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_entity_project_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_entity")),
        sa.UniqueConstraint("id", name=op.f("uq_entity_id")),
        sa.UniqueConstraint("project_id", "entity_type", "slug", name=op.f("uq_entity_project_id_entity_type_slug")),
        sa.UniqueConstraint("project_id", "id", "entity_type", name=op.f("uq_entity_project_id_id_entity_type")),
        sa.UniqueConstraint("project_id", "id", name=op.f("uq_entity_project_id_id")),
    )
    op.create_index(
        "ix_entity_newest",
        "entity",
        ["project_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_newest_concept_kind",
        "entity",
        ["project_id", "concept_kind", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_newest_concept_kind_status",
        "entity",
        ["project_id", "concept_kind", "status", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_newest_entity_type",
        "entity",
        ["project_id", "entity_type", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_newest_entity_type_status",
        "entity",
        ["project_id", "entity_type", "status", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_newest_status",
        "entity",
        ["project_id", "status", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_text", "entity", ["project_id", "folded", "entity_type", "status", "concept_kind"], unique=False
    )
    op.create_table(
        "event_log",
        sa.Column("seq", NUMBER, autoincrement=True, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("subject_id", ID, nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_event_log_project_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_event_log")),
    )
    op.create_index("ix_event_log_project", "event_log", ["project_id", sa.literal_column("seq DESC")], unique=False)
    op.create_table(
        "search_page",
        sa.Column("project_id", ID, nullable=False),
        sa.Column("text", SORTED, nullable=False),
        sa.Column("folded", SORTED, nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_search_page_project_id")),
        sa.PrimaryKeyConstraint("project_id", "text", name=op.f("pk_search_page")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "search_query",
        sa.Column("project_id", ID, nullable=False),
        sa.Column("text", SORTED, nullable=False),
        sa.Column("folded", SORTED, nullable=False),
        sa.Column("n", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_search_query_project_id")),
        sa.PrimaryKeyConstraint("project_id", "text", name=op.f("pk_search_query")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "entity_relation",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("relation_type", sa.Text(), nullable=False),
        sa.Column("from_id", SORTED, nullable=False),
        sa.Column("from_kind", sa.Text(), nullable=False),
        sa.Column("from_entity_id", ID, nullable=True),
        sa.Column("to_id", SORTED, nullable=False),
        sa.Column("to_kind", sa.Text(), nullable=False),
        sa.Column("to_entity_id", ID, nullable=True),
        sa.Column("notes", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "(from_kind = 'guide' AND to_kind = 'concept' AND relation_type IN ('GUIDE_USES_CONCEPT', 'GUIDE_EXPLAINS_CONCEPT')) OR (from_kind = 'guide' AND to_kind = 'source' AND relation_type IN ('GUIDE_REFERENCES_SOURCE')) OR (from_kind = 'concept' AND to_kind = 'concept' AND relation_type IN ('CONCEPT_RELATES_TO_CONCEPT')) OR (from_kind = 'concept' AND to_kind = 'source' AND relation_type IN ('CONCEPT_REFERENCES_SOURCE')) OR (from_kind = 'news' AND to_kind = 'source' AND relation_type IN ('NEWS_DERIVED_FROM_SOURCE', 'NEWS_REFERENCES_SOURCE')) OR (from_kind = 'news' AND to_kind = 'concept' AND relation_type IN ('NEWS_REFERENCES_CONCEPT')) OR (from_kind = 'project' AND to_kind = 'concept' AND relation_type IN ('PROJECT_IMPLEMENTS_CONCEPT')) OR (from_kind = 'project' AND to_kind = 'source' AND relation_type IN ('PROJECT_REFERENCES_SOURCE')) OR (from_kind = 'project' AND to_kind = 'guide' AND relation_type IN ('PROJECT_HAS_GUIDE')) OR (from_kind = 'distribution' AND to_kind = 'guide' AND relation_type IN ('DISTRIBUTION_PROMOTES_GUIDE')) OR (from_kind = 'distribution' AND to_kind = 'concept' AND relation_type IN ('DISTRIBUTION_PROMOTES_CONCEPT')) OR (from_kind = 'distribution' AND to_kind = 'project' AND relation_type IN ('DISTRIBUTION_PROMOTES_PROJECT')) OR (from_kind = 'distribution' AND to_kind = 'news' AND relation_type IN ('DISTRIBUTION_PROMOTES_NEWS')) OR (from_kind = 'video' AND to_kind = 'guide' AND relation_type IN ('VIDEO_EXPLAINS_GUIDE')) OR (from_kind = 'video' AND to_kind = 'concept' AND relation_type IN ('VIDEO_EXPLAINS_CONCEPT')) OR (from_kind = 'video' AND to_kind = 'project' AND relation_type IN ('VIDEO_EXPLAINS_PROJECT')) OR (from_kind = 'video' AND to_kind = 'news' AND relation_type IN ('VIDEO_EXPLAINS_NEWS'))",
            name=op.f("ck_entity_relation_ends_fit"),
        ),
        sa.CheckConstraint(
            "CASE WHEN from_kind IN ('source', 'distribution', 'video') THEN from_entity_id IS NULL ELSE from_entity_id IS NOT NULL AND CAST(from_entity_id AS TEXT) = from_id END",
            name=op.f("ck_entity_relation_from_end"),
        ),
        sa.CheckConstraint(
            "CASE WHEN to_kind IN ('source', 'distribution', 'video') THEN to_entity_id IS NULL ELSE to_entity_id IS NOT NULL AND CAST(to_entity_id AS TEXT) = to_id END",
            name=op.f("ck_entity_relation_to_end"),
        ),
        sa.CheckConstraint("from_id <> to_id", name=op.f("ck_entity_relation_no_self_relation")),
        sa.ForeignKeyConstraint(
            ["project_id", "from_entity_id", "from_kind"],
            ["entity.project_id", "entity.id", "entity.entity_type"],
            name=op.f("fk_entity_relation_project_id_from_entity_id_from_kind"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "to_entity_id", "to_kind"],
            ["entity.project_id", "entity.id", "entity.entity_type"],
            name=op.f("fk_entity_relation_project_id_to_entity_id_to_kind"),
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_entity_relation_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entity_relation")),
        sa.UniqueConstraint(
            "project_id",
            "from_id",
            "relation_type",
            "to_id",
            name=op.f("uq_entity_relation_project_id_from_id_relation_type_to_id"),
        ),
    )
    op.create_index(
        "ix_entity_relation_from",
        "entity_relation",
        ["project_id", "from_entity_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_entity_relation_to",
        "entity_relation",
        ["project_id", "to_entity_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_table(
        "quotable_block",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_id", ID, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("claim_type", sa.Text(), nullable=False),
        sa.Column("source_citation", sa.Text(), nullable=True),
        sa.Column("verified_until", sa.BigInteger(), nullable=True),
        sa.Column("topic_tag", sa.Text(), nullable=True),
        sa.Column("topic_folded", SORTED, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "claim_type IN ('statistic', 'comparison', 'definition', 'howto_step')",
            name=op.f("ck_quotable_block_claim_type"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entity.project_id", "entity.id"],
            name=op.f("fk_quotable_block_project_id_entity_id"),
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_quotable_block_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quotable_block")),
    )
    op.create_index(
        "ix_quotable_block_newest",
        "quotable_block",
        ["project_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_quotable_block_newest_claim_type",
        "quotable_block",
        ["project_id", "claim_type", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_quotable_block_newest_entity_id",
        "quotable_block",
        ["project_id", "entity_id", sa.literal_column("created_at DESC"), sa.literal_column("id DESC")],
        unique=False,
    )
    op.create_index(
        "ix_quotable_block_topic", "quotable_block", ["project_id", "topic_folded", "claim_type", "id"], unique=False
    )
    op.create_index(
        "ix_quotable_block_verified", "quotable_block", ["project_id", "verified_until", "claim_type"], unique=False
    )
    op.create_table(
        "search_performance",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("entity_id", ID, nullable=True),
        sa.Column("page_url", SORTED, nullable=False),
        sa.Column("query", SORTED, nullable=False),
        sa.Column("page_folded", SORTED, nullable=False),
        sa.Column("query_folded", SORTED, nullable=False),
        sa.Column("impressions", sa.BigInteger(), nullable=False),
        sa.Column("clicks", sa.BigInteger(), nullable=False),
        sa.Column("ctr", sa.Float(), nullable=False),
        sa.Column("avg_position", sa.Float(), nullable=False),
        sa.Column("date_start", sa.BigInteger(), nullable=False),
        sa.Column("date_end", sa.BigInteger(), nullable=False),
        sa.Column("captured_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("avg_position > 0", name=op.f("ck_search_performance_avg_position")),
        sa.CheckConstraint("clicks >= 0 AND clicks <= impressions", name=op.f("ck_search_performance_clicks")),
        sa.CheckConstraint("ctr >= 0 AND ctr <= 1", name=op.f("ck_search_performance_ctr")),
        sa.CheckConstraint("date_start <= date_end", name=op.f("ck_search_performance_period")),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entity.project_id", "entity.id"],
            name=op.f("fk_search_performance_project_id_entity_id"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "page_url"],
            ["search_page.project_id", "search_page.text"],
            name=op.f("fk_search_performance_project_id_page_url"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "query"],
            ["search_query.project_id", "search_query.text"],
            name=op.f("fk_search_performance_project_id_query"),
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_search_performance_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_performance")),
        sa.UniqueConstraint(
            "project_id",
            "query",
            "page_url",
            "date_start",
            "date_end",
            name=op.f("uq_search_performance_project_id_query_page_url_date_start_date_end"),
        ),
    )
    op.create_index(
        "ix_search_performance_entity",
        "search_performance",
        ["project_id", "entity_id", sa.literal_column("date_start DESC"), sa.literal_column("date_end DESC")],
        unique=False,
    )
    op.create_index(
        "ix_search_performance_order",
        "search_performance",
        [
            "project_id",
            sa.literal_column("date_start DESC"),
            sa.literal_column("date_end DESC"),
            "query",
            "page_url",
            sa.literal_column("id DESC"),
        ],
        unique=False,
    )
    op.create_index(
        "ix_search_performance_query",
        "search_performance",
        ["project_id", "query", "date_start", "date_end", "id"],
        unique=False,
    )
    op.create_index(
        "ix_search_performance_page_url",
        "search_performance",
        ["project_id", "page_url", "date_start", "date_end", "id"],
        unique=False,
    )
