"""Samples of thread coarsening: the published times with the kernels' texts and Magni et al.'s components.

The table has a different number of lines for each kernel: code that reads its line k for kernel k, as two published
programs do, pairs texts with the wrong labels. Here lines are looked up by kernel and factor.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.errors import DataError
from ncc.learning.data.registry import Folder, locate
from ncc.learning.data.tables import read_rows
from ncc.tasks.coarsening.train import FACTORS, TABLE, CoarseningTimes, read_times

CoarseningUnit = Literal["kernel", "source", "device"]
_COMPONENTS = tuple(f"PCA{i}" for i in range(1, 8))


@dataclass(frozen=True, kw_only=True, eq=False)
class CoarseningSamples(CoarseningTimes):
    """Pairs of kernel and device, n rows, with what methods read.

    ``source`` is (n,) object the kernels' texts, identifiers rewritten, and ``components`` (n, 6, 7) float64 Magni et
    al.'s principal components of static counts of the kernel after coarsening, NaN where not measured.
    """

    source: np.ndarray
    components: Floats

    @property
    def best(self) -> Ints:
        """Which of `FACTORS` is the fastest, (n,) int64 indices; -1 where nothing is measured."""
        measured = np.isfinite(self.runtime)
        fastest = np.argmin(np.where(measured, self.runtime, np.inf), axis=1)
        return np.where(measured.any(axis=1), fastest, -1)

    def groups(self, unit: CoarseningUnit) -> np.ndarray:
        """Name of each row's kernel or device, or its source text, (n,)."""
        return self.source.astype(str) if unit == "source" else getattr(self, unit)

    def without_answers(self, rows: Ints) -> "CoarseningSamples":
        """A copy in which the runtimes of rows, (m,) int64, are hidden, NaN."""
        runtime = self.runtime.copy()
        runtime[rows] = np.nan
        return replace(self, runtime=runtime)


def load_samples(folder: Folder = None) -> CoarseningSamples:
    """Load the 68 samples (17 kernels on 4 devices) of the dataset `coarsening`, by the kernels' names."""
    return read_table(locate("coarsening", TABLE, folder))


def read_table(path: Path) -> CoarseningSamples:
    """Read a table of runtimes, texts and components; kernels are in the order of their names."""
    times, rows = read_times(path), read_rows(path, ("kernel", "cf", "src", *_COMPONENTS))
    components, source = np.full((len(times), len(FACTORS), len(_COMPONENTS)), np.nan), dict[str, str]()
    for row in rows:
        where = f"{path}: {row['kernel']} at factor {row['cf']:.40}"
        if source.setdefault(row["kernel"], row["src"]) != row["src"]:
            raise DataError(f"{where}: another text than at another factor")
        try:
            numbers = [float(row[column] or "nan") for column in _COMPONENTS]
        except ValueError as error:
            raise DataError(f"{where}: {error}") from error
        if np.isinf(numbers).any():
            raise DataError(f"{where}: expected finite components")
        components[times.kernel == row["kernel"], FACTORS.index(int(float(row["cf"])))] = numbers
    texts = np.array([source[name] for name in times.kernel.tolist()], dtype=object)
    return CoarseningSamples(**vars(times), source=texts, components=components)
