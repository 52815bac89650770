"""What is being built: uses with sizes, kind of application, scale, site and authority, each with its source."""

from __future__ import annotations

from typing import Literal

from trigpoint.reading.documents import Frozen, Source

Use = Literal[
    "dwellings",
    "office",
    "industrial",
    "storage",
    "retail",
    "food",
    "school",
    "nursery",
    "college",
    "hotel",
    "care_home",
    "student_housing",
    "health",
    "leisure",
    "community",
    "commercial",
    "other",
]
Kind = Literal[
    "full",
    "outline",
    "hybrid",
    "reserved matters",
    "householder",
    "change of use",
    "prior approval",
    "variation of conditions",
    "discharge of conditions",
    "listed building",
    "scoping",
    "appeal",
    "unknown",
]
Scale = Literal["householder", "minor", "major", "unknown"]


class UseSize(Frozen):
    """One use of the development with one measure of it. `bedrooms` is set for dwellings counted by bedrooms."""

    use: Use
    size: float | None = None
    unit: str = ""
    bedrooms: int | None = None
    words: str = ""
    source: Source | None = None


class Disagreement(Frozen):
    """One thing of the development for which two places of the documents give different figures."""

    what: str
    sizes: tuple[UseSize, ...]


class Profile(Frozen):
    """The development as far as the register and the documents tell it. A None source is the register's entry."""

    application: str = ""
    proposal: str = ""
    authority: str = ""
    site: str = ""
    kind: Kind = "unknown"
    scale: Scale = "unknown"
    uses: tuple[UseSize, ...] = ()
    scheme_names: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    kind_source: Source | None = None

    def has(self, use: Use) -> bool:
        """Whether a use is part of the development."""
        return any(one.use == use for one in self.uses)

    @property
    def dwellings(self) -> float | None:
        """The number of homes, if it is known."""
        totals = [one.size for one in self.uses if one.use == "dwellings" and one.bedrooms is None and one.size]
        return totals[0] if totals else None
