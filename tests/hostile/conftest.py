"""The fuzzer, and models that tests may damage."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@dataclass(frozen=True)
class Folder:
    """A model's folder, in which something can be changed."""

    path: Path
    stem: str

    def card(self, **changes: Any) -> None:
        """Other values in the JSON file; None leaves one out, functions make them from what was there."""
        file = self.path / f"{self.stem}.json"
        card = json.loads(file.read_bytes())
        for name, change in changes.items():
            card[name] = change(card[name]) if callable(change) else change
        file.write_text(json.dumps(card))

    def tensors(self, **changes: Callable[[np.ndarray], np.ndarray]) -> None:
        """Other arrays, made from those that were there; a double underscore stands for a dot."""
        file = self.path / f"{self.stem}.safetensors"
        arrays = load_file(file)
        for name, change in changes.items():
            arrays[name.replace("__", ".")] = np.ascontiguousarray(change(arrays[name.replace("__", ".")]))
        save_file(arrays, file)


@pytest.fixture
def folder(tmp_path: Path, forget_hash: Callable[[Path], None]) -> Callable[..., Folder]:
    """Saves something into a folder, to be damaged there."""

    def make(save: Callable[[Any, Path], None], thing: Any, stem: str = "head") -> Folder:
        save(thing, tmp_path)
        forget_hash(tmp_path / f"{stem}.json")
        return Folder(tmp_path, stem)

    return make
