"""All that the goldens take from below the public interface of ncc, each in one place."""

from pathlib import Path
from typing import Any

import numpy as np

import ncc
from tests.rooms import KernelWork, code_columns, divergent_share, load_kernel_ir, read_module, suite_launches
from tests.rooms import coarsening_load_samples as load_coarsening

_KERNELS = Path(ncc.__file__).parent / "kernels" / "measure" / "kernels"


def shipped_kernels() -> list[Path]:
    """The kernels that ncc measures devices with."""
    return sorted(_KERNELS.glob("*.cl"))


def kernel_columns(path: str, name: str | None = None) -> dict[str, Any]:
    """Columns of the device head about a kernel in IR, and features of coarsening."""
    embedding = ncc.load_embedding()
    module = read_module(Path(path), abstraction=embedding.abstraction)
    words, _ = embedding.vocabulary.encode(module.texts)
    inputs = KernelWork(module, module.first_kernel).features(embedding.vectors[words[module.text_id]])
    return {
        "code": code_columns(inputs)[0].tolist(),
        "work": inputs.work[0].tolist(),
        "profile": dict(enumerate(inputs.profile[0].tolist())),
        "coarsening": divergent_share(module),
    }


def devmap_code(platform: str) -> tuple[list[str], np.ndarray]:
    """Kernels of the published table and columns of their code, each code of a kernel once."""
    launches = suite_launches(platform, ncc.load_embedding())  # type: ignore[arg-type]
    names, kernel = np.unique(launches.kernel, return_inverse=True)
    rows = np.unique(np.column_stack([kernel, code_columns(launches)]), axis=0)
    return names[rows[:, 0].astype(int)].tolist(), rows[:, 1:]


def shipped_code(platform: str) -> tuple[list[str], np.ndarray]:
    """The same as the shipped head of a platform keeps them."""
    (expert,) = [
        one
        for one in ncc.load_device_head(Path(ncc.__file__).parent / "assets" / "devmap" / platform).experts
        if one.source == "suites"
    ]
    return [name.removeprefix("devmap:") for name in expert.names], expert.code


def coarsening_columns() -> np.ndarray:
    """Features of the 17 kernels of the published table, a row a sample."""
    from lab.tests.rooms import sample_features

    return sample_features(load_coarsening(), load_kernel_ir())
