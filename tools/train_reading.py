"""Train the readers that ship with the package: `python tools/train_reading.py`, or `--cross-validate` to measure them.

They learn from the labelled applications of the shared data and of `benchmarks/reading/written`, never from sealed ones.
The same applications give the same bytes. Cross-validation trains once for each family, without it, and scores it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reading.applications import LabelledApplication, own_applications, shared_applications
from benchmarks.reading.cross_validation import cross_validate
from benchmarks.reading.training import examples_of, train

from trigpoint.reading.linear import LinearReader

WEIGHTS = Path(__file__).parents[1] / "src" / "trigpoint" / "reading" / "weights"


def main() -> None:
    applications = [*shared_applications(), *own_applications()]
    if not any(one.family == "towers" for one in applications):
        sys.exit("The shared data with the labelled real applications is not here: set it up before training")
    if "--cross-validate" in sys.argv[1:]:
        cross_validate(applications)
    else:
        _write(applications)


def _write(applications: list[LabelledApplication]) -> None:
    readers = train([example for one in applications for example in examples_of(one)])
    WEIGHTS.mkdir(exist_ok=True)
    for name, reader in vars(readers).items():
        _save(WEIGHTS / f"{name}.npz", reader)


def _save(path: Path, reader: LinearReader[str]) -> None:
    np.savez_compressed(path, **vars(reader))
    print(f"{path.name}: {len(reader.hashes)} features, {len(reader.heads)} heads, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
