"""The graph's words: enumerations of the contract, which ends a relation type joins, and how long a text may be."""

from __future__ import annotations

DEFAULT_PROJECT_ID = "00000000-0000-4000-a000-000000000001"
DEFAULT_PROJECT_SLUG = "psymetric"
DEFAULT_PROJECT = {"id": DEFAULT_PROJECT_ID, "slug": DEFAULT_PROJECT_SLUG, "name": "PsyMetric"}

ENTITY_TYPES = ("guide", "concept", "project", "news")
STATUSES = ("draft", "publish_requested", "published", "archived")
CONCEPT_KINDS = ("standard", "model", "comparison")
DIFFICULTIES = ("beginner", "intermediate", "advanced")
CLAIM_TYPES = ("statistic", "comparison", "definition", "howto_step")
EXTERNAL_KINDS = ("source", "distribution", "video")

RELATION_ENDS: dict[str, tuple[str, str]] = {
    "GUIDE_USES_CONCEPT": ("guide", "concept"),
    "GUIDE_EXPLAINS_CONCEPT": ("guide", "concept"),
    "GUIDE_REFERENCES_SOURCE": ("guide", "source"),
    "CONCEPT_RELATES_TO_CONCEPT": ("concept", "concept"),
    "CONCEPT_REFERENCES_SOURCE": ("concept", "source"),
    "NEWS_DERIVED_FROM_SOURCE": ("news", "source"),
    "NEWS_REFERENCES_SOURCE": ("news", "source"),
    "NEWS_REFERENCES_CONCEPT": ("news", "concept"),
    "PROJECT_IMPLEMENTS_CONCEPT": ("project", "concept"),
    "PROJECT_REFERENCES_SOURCE": ("project", "source"),
    "PROJECT_HAS_GUIDE": ("project", "guide"),
    "DISTRIBUTION_PROMOTES_GUIDE": ("distribution", "guide"),
    "DISTRIBUTION_PROMOTES_CONCEPT": ("distribution", "concept"),
    "DISTRIBUTION_PROMOTES_PROJECT": ("distribution", "project"),
    "DISTRIBUTION_PROMOTES_NEWS": ("distribution", "news"),
    "VIDEO_EXPLAINS_GUIDE": ("video", "guide"),
    "VIDEO_EXPLAINS_CONCEPT": ("video", "concept"),
    "VIDEO_EXPLAINS_PROJECT": ("video", "project"),
    "VIDEO_EXPLAINS_NEWS": ("video", "news"),
}
RELATION_TYPES = tuple(RELATION_ENDS)

# Each action of the lifecycle: the statuses it can start from, and the one it leads to.
LIFECYCLE: dict[str, tuple[tuple[str, ...], str]] = {
    "request-publish": (("draft",), "publish_requested"),
    "publish": (("publish_requested",), "published"),
    "reject": (("publish_requested",), "draft"),
    "archive": (("draft", "publish_requested", "published"), "archived"),
}

# In bytes of UTF-8. Keys of an index must fit PostgreSQL's 2,704 bytes together; a default page must fit a model's context.
LONGEST = {
    "slug": 200,
    "name": 300,
    "description": 2000,
    "title": 600,
    "summary": 2000,
    "url": 1000,
    "notes": 2000,
    "reference": 1000,
    "query": 600,
    "pageUrl": 1800,
    "text": 2000,
    "sourceCitation": 1000,
    "topicTag": 200,
}
MOST_INGEST_ROWS = 25_000
QUOTABLE_WORDS = (25, 50)
