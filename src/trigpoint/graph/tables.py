"""The tables. The rules that data must obey are here, in the database: keys, checks, references within one project.

Moments are milliseconds since 1970 (UTC), so that order and print are exact everywhere. Text that is sorted has the
collation "C" on PostgreSQL, the order of code points, which is SQLite's own. Triggers keep what can be derived (see
`migrations/derived.py`): `entity_text`, and the tables with a column `n`, so that a total is a sum of a few rows.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    desc,
)

from trigpoint.graph.vocabulary import (
    CLAIM_TYPES,
    CONCEPT_KINDS,
    DIFFICULTIES,
    ENTITY_TYPES,
    RELATION_ENDS,
    STATUSES,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

Id = Uuid(as_uuid=False).with_variant(Text(), "sqlite")  # lower case, with hyphens, on SQLite
_Moment = BigInteger()
_Number = BigInteger().with_variant(Integer(), "sqlite")
_Sorted = Text().with_variant(Text(collation="C"), "postgresql")


def _one_of(column: str, values: tuple[str, ...], *, name: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(v) for v in values)})", name=name)


def _ends_fit() -> str:
    """Return the constraint that `relation_type` joins exactly the kinds that its name says."""
    ends: dict[tuple[str, str], list[str]] = {}
    for relation_type, pair in RELATION_ENDS.items():
        ends.setdefault(pair, []).append(relation_type)
    return " OR ".join(
        f"(from_kind = '{a}' AND to_kind = '{b}' AND relation_type IN ({', '.join(repr(t) for t in types)}))"
        for (a, b), types in ends.items()
    )


project = Table(
    "project",
    metadata,
    Column("id", Id, primary_key=True),
    Column("slug", _Sorted, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text),
    Column("created_at", _Moment, nullable=False),
    Column("updated_at", _Moment, nullable=False),
    UniqueConstraint("slug"),
)

entity = Table(
    "entity",
    metadata,
    Column("seq", _Number, primary_key=True, autoincrement=True),
    Column("id", Id, nullable=False),
    Column("project_id", Id, ForeignKey("project.id"), nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("slug", _Sorted, nullable=False),
    Column("summary", Text),
    Column("difficulty", Text),
    Column("concept_kind", Text),
    Column("repo_url", Text),
    Column("status", Text, nullable=False),
    Column("canonical_url", Text),
    Column("last_verified_at", _Moment),
    Column("created_at", _Moment, nullable=False),
    Column("updated_at", _Moment, nullable=False),
    Column("folded", _Sorted, nullable=False),
    UniqueConstraint("id"),
    UniqueConstraint("project_id", "id"),
    UniqueConstraint("project_id", "id", "entity_type"),
    UniqueConstraint("project_id", "entity_type", "slug"),
    _one_of("entity_type", ENTITY_TYPES, name="entity_type"),
    _one_of("status", STATUSES, name="status"),
    _one_of("difficulty", DIFFICULTIES, name="difficulty"),
    _one_of("concept_kind", CONCEPT_KINDS, name="concept_kind"),
    CheckConstraint("concept_kind IS NULL OR entity_type = 'concept'", name="kind_of_concept"),
    CheckConstraint("repo_url IS NULL OR entity_type = 'project'", name="repo_of_project"),
)
for _filters in (
    (),
    ("entity_type",),
    ("status",),
    ("entity_type", "status"),
    ("concept_kind",),
    ("concept_kind", "status"),
):
    Index(
        "_".join(("ix_entity_newest", *_filters)),
        entity.c.project_id,
        *(entity.c[name] for name in _filters),
        desc(entity.c.created_at),
        desc(entity.c.id),
    )

# The part of an entity that a text filter reads; whole entities are more than twice as many pages, and PostgreSQL misses the
# bars "entities by a word" and "by two letters" with them. The grams of `folded` are indexed (see `migrations/derived.py`).
entity_text = Table(
    "entity_text",
    metadata,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("project_id", Id, nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("concept_kind", Text),
    Column("created_at", _Moment, nullable=False),
    Column("id", Id, nullable=False),
    Column("folded", _Sorted, nullable=False),
)

entity_relation = Table(
    "entity_relation",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_id", Id, ForeignKey("project.id"), nullable=False),
    Column("relation_type", Text, nullable=False),
    Column("from_id", _Sorted, nullable=False),
    Column("from_kind", Text, nullable=False),
    Column("from_entity_id", Id),
    Column("to_id", _Sorted, nullable=False),
    Column("to_kind", Text, nullable=False),
    Column("to_entity_id", Id),
    Column("notes", Text),
    Column("created_at", _Moment, nullable=False),
    ForeignKeyConstraint(
        ["project_id", "from_entity_id", "from_kind"], ["entity.project_id", "entity.id", "entity.entity_type"]
    ),
    ForeignKeyConstraint(
        ["project_id", "to_entity_id", "to_kind"], ["entity.project_id", "entity.id", "entity.entity_type"]
    ),
    UniqueConstraint("project_id", "from_id", "relation_type", "to_id"),
    CheckConstraint(_ends_fit(), name="ends_fit"),
    CheckConstraint("from_id <> to_id", name="no_self_relation"),
    CheckConstraint(
        "CASE WHEN from_kind IN ('source', 'distribution', 'video') THEN from_entity_id IS NULL "
        "ELSE from_entity_id IS NOT NULL AND CAST(from_entity_id AS TEXT) = from_id END",
        name="from_end",
    ),
    CheckConstraint(
        "CASE WHEN to_kind IN ('source', 'distribution', 'video') THEN to_entity_id IS NULL "
        "ELSE to_entity_id IS NOT NULL AND CAST(to_entity_id AS TEXT) = to_id END",
        name="to_end",
    ),
)
for _end in ("from", "to"):
    Index(
        f"ix_entity_relation_{_end}",
        entity_relation.c.project_id,
        entity_relation.c[f"{_end}_entity_id"],
        desc(entity_relation.c.created_at),
        desc(entity_relation.c.id),
    )

search_performance = Table(
    "search_performance",
    metadata,
    Column("id", Id, nullable=False),
    Column("project_id", Id, nullable=False),  # a period is counted for projects that exist
    Column("entity_id", Id),
    Column("page_url", _Sorted, nullable=False),
    Column("query", _Sorted, nullable=False),
    Column("page_folded", _Sorted, nullable=False),
    Column("query_folded", _Sorted, nullable=False),
    Column("impressions", BigInteger, nullable=False),
    Column("clicks", BigInteger, nullable=False),
    Column("ctr", Float, nullable=False),
    Column("avg_position", Float, nullable=False),
    Column("date_start", _Moment, nullable=False),
    Column("date_end", _Moment, nullable=False),
    Column("captured_at", _Moment, nullable=False),
    ForeignKeyConstraint(["project_id", "entity_id"], ["entity.project_id", "entity.id"]),
    PrimaryKeyConstraint("project_id", "query", "date_start", "date_end", "page_url"),
    CheckConstraint("ctr >= 0 AND ctr <= 1", name="ctr"),
    CheckConstraint("avg_position > 0", name="avg_position"),
    CheckConstraint("clicks >= 0 AND clicks <= impressions", name="clicks"),
    CheckConstraint("date_start <= date_end", name="period"),
)
_row = search_performance.c
Index(
    "ix_search_performance_order",
    _row.project_id,
    desc(_row.date_start),
    desc(_row.date_end),
    _row.query,
    _row.page_url,
)
Index("ix_search_performance_page", _row.project_id, _row.page_url, _row.date_start, _row.date_end, _row.query)
Index("ix_search_performance_entity", _row.entity_id, desc(_row.date_start), desc(_row.date_end))

quotable_block = Table(
    "quotable_block",
    metadata,
    Column("id", Id, primary_key=True),
    Column("project_id", Id, ForeignKey("project.id"), nullable=False),
    Column("entity_id", Id, nullable=False),
    Column("text", Text, nullable=False),
    Column("claim_type", Text, nullable=False),
    Column("source_citation", Text),
    Column("verified_until", _Moment),
    Column("topic_tag", Text),
    Column("topic_folded", _Sorted),
    Column("created_at", _Moment, nullable=False),
    Column("updated_at", _Moment, nullable=False),
    ForeignKeyConstraint(["project_id", "entity_id"], ["entity.project_id", "entity.id"]),
    _one_of("claim_type", CLAIM_TYPES, name="claim_type"),
)
_block = quotable_block.c
for _filters in ((), ("entity_id",), ("claim_type",)):
    Index(
        "_".join(("ix_quotable_block_newest", *_filters)),
        _block.project_id,
        *(_block[name] for name in _filters),
        desc(_block.created_at),
        desc(_block.id),
    )
Index("ix_quotable_block_verified", _block.project_id, _block.verified_until, _block.claim_type)
Index("ix_quotable_block_topic", _block.project_id, _block.topic_tag, _block.created_at, _block.id)

event_log = Table(
    "event_log",
    metadata,
    Column("seq", _Number, primary_key=True, autoincrement=True),
    Column("project_id", Id, ForeignKey("project.id"), nullable=False),
    Column("event", Text, nullable=False),
    Column("subject_id", Id),
    Column("details", JSON, nullable=False),
    Column("created_at", _Moment, nullable=False),
)
Index("ix_event_log_project", event_log.c.project_id, desc(event_log.c.seq))

# Counters, because two bars of the benchmark fall without them, "entities" on PostgreSQL and "search rows" on both: counting
# took 17 ms and 50 ms of the 20 ms that a whole request may take. Blocks and relations are counted as they are.
entity_count = Table(
    "entity_count",
    metadata,
    Column("project_id", Id, nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("concept_kind", Text, nullable=False),
    Column("n", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id", "entity_type", "status", "concept_kind"),
)
performance_count = Table(
    "performance_count",
    metadata,
    Column("project_id", Id, ForeignKey("project.id"), nullable=False),
    Column("date_start", _Moment, nullable=False),
    Column("date_end", _Moment, nullable=False),
    Column("n", BigInteger, nullable=False),
    PrimaryKeyConstraint("project_id", "date_start", "date_end"),
)
# Each distinct text once, with how many rows have it. The bars "search rows by a word" and "by a page" fall without them: a
# substring filter looks through these texts, not through 200,000 rows, and adds up their counts instead of counting rows.
search_query, search_page, block_topic = (
    Table(
        name,
        metadata,
        Column("project_id", Id, nullable=False),
        Column("text", _Sorted, nullable=False),
        Column("folded", _Sorted, nullable=False),
        Column("n", BigInteger, nullable=False),
        PrimaryKeyConstraint("project_id", "text"),
        sqlite_with_rowid=False,
    )
    for name in ("search_query", "search_page", "block_topic")
)
