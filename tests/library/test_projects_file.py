"""Projects of a TOML file: clear refusals, and names of collections that never decide what belongs to whom (L7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.errors import ConfigurationError, InvalidProject
from trigpoint.library.projects import collection_names, load_projects
from trigpoint.passages.embed_models import is_our_model, same_model


def load(tmp_path: Path, text: str):
    file = tmp_path / "trigpoint.toml"
    file.write_text(text, encoding="utf-8")
    return load_projects(load_settings(trigpoint_config=file))


def test_a_project_has_its_settings_and_defaults(tmp_path: Path) -> None:
    projects = load(tmp_path, '[library.projects."citeloom/clean-arch"]\nreferences = "refs.json"\nalpha = 0.3\n')
    project = projects.get("citeloom/clean-arch")
    assert (project.collection, project.alpha, project.fusion) == ("proj-citeloom-clean-arch", 0.3, "convex")
    assert (project.max_chars_per_chunk, project.top_k_max, project.hybrid_enabled) == (1800, 20, True)
    assert project.references == tmp_path / "refs.json"


def test_an_unknown_project_names_those_there_are(tmp_path: Path) -> None:
    projects = load(tmp_path, '[library.projects."citeloom/clean-arch"]\n[library.projects."citeloom/ddd"]\n')
    with pytest.raises(InvalidProject) as caught:
        projects.get("citeloom/unknown")
    assert (
        caught.value.message
        == "Project 'citeloom/unknown' not found. Available projects: ['citeloom/clean-arch', 'citeloom/ddd']"
    )
    assert caught.value.details == {
        "project_id": "citeloom/unknown",
        "available_projects": ["citeloom/clean-arch", "citeloom/ddd"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        "library = 3",
        "[library]\nprojects = 3",
        '[library.projects."a/b/c"]',
        '[library.projects.""]',
        '[library.projects." a"]',
        "[library.projects.a]\nalpha = 2",
        "[library.projects.a]\nspeed = 1",
        '[library.projects."../x"]',
        "[library.projects]\na = 1",
    ],
)
def test_a_bad_file_stops_the_start_with_its_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, text)
    assert caught.value.message


def test_no_file_means_no_projects_but_a_named_one_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_projects(load_settings()).by_id == {}
    with pytest.raises(ConfigurationError, match="no such file"):
        load_projects(load_settings(trigpoint_config=tmp_path / "missing.toml"))


def test_names_that_would_collide_get_a_hash_each() -> None:
    names = collection_names(["a/b-c", "a-b/c", "A/b", "a/b", "plain"])
    assert len({n.casefold() for n in names.values()}) == 5
    assert names["plain"] == "proj-plain"
    assert names["a/b-c"].startswith("proj-a-b-c-")


def test_all_names_of_our_model_mean_the_same() -> None:
    assert same_model("fastembed/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
    assert is_our_model("all-MiniLM-L6-v2")
    assert not is_our_model("not-all-MiniLM-L6-v2")
    assert not same_model("openai/a", "openai/b")
