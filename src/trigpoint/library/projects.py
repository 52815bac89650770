"""Projects, as the TOML file defines them. A project's id is its identity; names of collections are labels."""

from __future__ import annotations

import hashlib
import logging
import tomllib
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, InvalidProject, shorten
from trigpoint.passages.fusion import DEFAULT_ALPHA, FusionMethod

log = logging.getLogger(__name__)

DEFAULT_MODEL = "fastembed/all-MiniLM-L6-v2"
_LONGEST_PART = 100


class _Table(BaseModel):
    """One `[library.projects."id"]` table."""

    model_config = ConfigDict(extra="forbid", strict=True)

    references: str | None = None
    sources: list[str] = Field(default_factory=list)
    zotero: str | None = None
    embed_model: str = Field(DEFAULT_MODEL, min_length=1)
    hybrid_enabled: bool = True
    fusion: FusionMethod = "convex"
    alpha: float = Field(DEFAULT_ALPHA, ge=0, le=1)
    max_chars_per_chunk: int = Field(1800, ge=100, le=20_000)
    top_k_max: int = Field(20, ge=1, le=100)


@dataclass(frozen=True)
class Project:
    """A project as configured. Paths are absolute; `sources` and `zotero` are what `library sync` looks at."""

    id: str
    collection: str
    references: Path | None = None
    sources: tuple[Path, ...] = ()
    zotero: Path | None = None
    embed_model: str = DEFAULT_MODEL
    hybrid_enabled: bool = True
    fusion: FusionMethod = "convex"
    alpha: float = DEFAULT_ALPHA
    max_chars_per_chunk: int = 1800
    top_k_max: int = 20


@dataclass(frozen=True)
class Projects:
    """All configured projects, by id."""

    by_id: dict[str, Project]
    file: Path

    def get(self, project_id: str) -> Project:
        """Return a project. Raises InvalidProject, naming those there are."""
        if project_id not in self.by_id:
            available = sorted(self.by_id)
            hint = "" if available else f' Add [library.projects."{shorten(project_id)}"] to {self.file.name}.'
            raise InvalidProject(
                f"Project '{shorten(project_id)}' not found. Available projects: {available}{hint}",
                project_id=shorten(project_id),
                available_projects=available,
            )
        return self.by_id[project_id]


class ProjectsFile:
    """The projects of a file that may change while a server runs: a new project is there at the next call.

    While the file is broken, say half saved, the projects that it last defined stay, and the log says why.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._loaded = load_projects(settings)
        self._state = _state_of(self._loaded.file)

    def current(self) -> Projects:
        state = _state_of(self._loaded.file)
        if state != self._state:
            self._state = state
            try:
                self._loaded = load_projects(self._settings)
            except ConfigurationError as error:
                log.warning("The projects stay as they were: %s", error.message)
        return self._loaded


def _state_of(file: Path) -> tuple[int, int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def load_projects(settings: Settings) -> Projects:
    """Return the projects of `TRIGPOINT_CONFIG` or of `trigpoint.toml` in the working folder; none without a file."""
    file = (settings.trigpoint_config or Path("trigpoint.toml")).absolute()
    if not file.exists():
        if settings.trigpoint_config is not None:
            raise ConfigurationError(f"TRIGPOINT_CONFIG={file}: there is no such file")
        return Projects({}, file)
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("library", {}).get("projects", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError) as error:
        raise ConfigurationError(f"{file}: cannot be read as TOML ({error})") from None
    if not isinstance(tables, dict):
        raise ConfigurationError(f"{file}: library.projects must contain one table per project")
    names = collection_names(list(tables))
    return Projects({i: _read_project(i, table, names[i], file) for i, table in tables.items()}, file)


def collection_names(project_ids: list[str]) -> dict[str, str]:
    """Return `proj-` and the id with `/` as `-`; ids whose names would collide, even to the eye, get a short hash."""
    plain = {i: "proj-" + i.replace("/", "-") for i in project_ids}
    folded = {i: unicodedata.normalize("NFKC", name).casefold() for i, name in plain.items()}
    uses = Counter(folded.values())
    return {i: name if uses[folded[i]] == 1 else f"{name}-{short_hash(i)}" for i, name in plain.items()}


def check_project_id(project_id: str) -> None:
    """Raise ConfigurationError unless it is `name` or `namespace/name`, printable, without spaces at the ends."""
    parts = project_id.split("/")
    sound = len(parts) in (1, 2) and all(
        part and len(part) <= _LONGEST_PART and part == part.strip() and part.isprintable() and part not in (".", "..")
        for part in parts
    )
    if not sound:
        raise ConfigurationError(f"Project id '{shorten(project_id)}': expected name or namespace/name")


def _read_project(project_id: str, table: Any, collection: str, file: Path) -> Project:
    check_project_id(project_id)
    try:
        read = _Table.model_validate(table)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, p['loc']))}: {p['msg']}" for p in error.errors())
        raise ConfigurationError(f'{file}: [library.projects."{shorten(project_id)}"] {problems}') from None
    fields = read.model_dump() | {
        "references": file.parent / read.references if read.references else None,
        "sources": tuple(file.parent / Path(source).expanduser() for source in read.sources),
        "zotero": file.parent / Path(read.zotero).expanduser() if read.zotero else None,
    }
    return Project(id=project_id, collection=collection, **fields)


def short_hash(project_id: str) -> str:
    return hashlib.sha256(project_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
