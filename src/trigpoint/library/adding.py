"""Adds a project to the TOML file, and keeps the files that people hand over for one."""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import IO

from filelock import FileLock

from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, InvalidInput, UnsupportedFileType, shorten
from trigpoint.library.projects import Project, check_project_id, load_projects, short_hash
from trigpoint.library.sources import READERS
from trigpoint.storage.files import data_folder, safe_name, write_atomic


def add_project(settings: Settings, project_id: str) -> Project:
    """Append a project to the TOML file. Of two callers at the same time both are kept. Raises InvalidInput,
    ConfigurationError.
    """
    name = project_id.strip()
    try:
        check_project_id(name)
    except ConfigurationError as error:
        raise InvalidInput(error.message) from None
    with FileLock(data_folder(settings, "library") / "projects.lock"):
        projects = load_projects(settings)
        if name in projects.by_id:
            raise InvalidInput(f"There is a project '{shorten(name)}' already")
        before = projects.file.read_text(encoding="utf-8") if projects.file.exists() else ""
        after = f"{before}{'' if not before or before.endswith(chr(10)) else chr(10)}[library.projects.{_toml_string(name)}]\n"
        _check_configuration(after, name, projects.file)
        try:
            write_atomic(projects.file, after.encode())
        except OSError as error:
            raise ConfigurationError(f"{projects.file} cannot be written ({error.strerror})") from None
    return load_projects(settings).get(name)


def _toml_string(name: str) -> str:
    """Return a name as a basic string of TOML, whose escapes JSON shares."""
    return json.dumps(name, ensure_ascii=False)


def _check_configuration(text: str, name: str, file: Path) -> None:
    try:
        known = tomllib.loads(text)["library"]["projects"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        known = {}
    if name not in known:
        raise ConfigurationError(f"{file}: the project cannot be added to it; write its table by hand")


def _files_folder(settings: Settings, project: Project) -> Path:
    """Return the folder of the files that were handed over for a project."""
    return data_folder(settings, "library", "files", short_hash(project.id))


def keep_file(settings: Settings, project: Project, name: str, content: IO[bytes]) -> Path:
    """Keep a file for a project, whole or not at all; one of the same name is replaced. Raises UnsupportedFileType."""
    safe = safe_name(name)
    if Path(safe).suffix.lower() not in READERS:
        raise UnsupportedFileType(f"'{shorten(name)}' cannot be read. The library reads {', '.join(sorted(READERS))}")
    folder = _files_folder(settings, project)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".incoming.", delete=False) as out:
        try:
            shutil.copyfileobj(content, out, 1 << 20)
        except BaseException:
            Path(out.name).unlink(missing_ok=True)
            raise
    target = folder / safe
    Path(out.name).replace(target)
    return target


def kept_files(settings: Settings, project: Project) -> list[Path]:
    """Return the files that were handed over for a project, by name."""
    return sorted(path for path in _files_folder(settings, project).iterdir() if not path.name.startswith("."))
