"""``ncc evaluate retrieval``: do vectors of programs find the programs of their class among all others?

Reference: Lu et al. 2021 (CodeXGLUE), clone detection on POJ-104: classes 81 to 104 test, MAP@R, every program a query.
"""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ncc.arrays import Ints
from ncc.learning.programs.labelled import LabelledFiles, ProgramSamples
from ncc.system.files.reading import InputFile
from ncc_lab.comparison import Comparison, Result
from ncc_lab.figures import SEED, mean
from ncc_lab.frame import HoldOut, Task
from ncc_lab.retrieval.methods import Representation, Units
from ncc_lab.retrieval.metrics import Matrix, average_precisions, expanded, unit_rows

ReadIR = Callable[[InputFile], tuple[bytes, str]]
"""From a program to its IR, and the way that it compiled."""


def compare_retrieval(
    files: LabelledFiles,
    samples: ProgramSamples,
    methods: Sequence[Representation],
    readers: Sequence[ReadIR] = (),
    *,
    rerank: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Score ways to make vectors."""
    task, results = retrieval(files, samples.failures), []
    for method in methods:
        start = perf_counter()
        vectors = _placed(at_all_levels(method, files, samples, readers), samples.row, len(files.paths))
        seconds = perf_counter() - start
        named = {method.name: vectors}
        if rerank:
            named[f"{method.name}, re-ranked by all that is compared"] = expanded(vectors)
        for name, matrix in named.items():
            results.append(
                Result(
                    task=task,
                    protocol="retrieval",
                    method=name,
                    kind=method.kind,
                    seeds=(SEED,),
                    predicted=average_precisions(matrix, files.label)[None],
                    seconds=seconds,
                )
            )
            if progress:
                progress(f"{name}: {results[-1].scores['']['map_at_r'].value:.1%}")
    return Comparison(tuple(results))


def retrieval(files: LabelledFiles, failures: Mapping[str, str]) -> Task[Any]:
    """Return programs of classes as a task: rows are queries, and what is predicted are the two figures of each."""
    title = (
        f"{len(files.paths)} programs of {len(files.classes)} classes, each compared with all others; "
        f"{len(failures)} that do not compile count as misses"
    )
    return Task(
        samples=files,
        protocols={"retrieval": HoldOut(title, lambda _seed: (), "class", files.label)},
        terms=lambda _files, _rows, found: {"map_at_r": found[:, 0], "nearest": found[:, 1]},
        widths=(2,),
        figures={"map_at_r": mean("map_at_r"), "nearest": mean("nearest")},
        perfect=np.ones((len(files.paths), 2)),
        notes={"num_classes": len(files.classes), "failures": dict(failures)},
    )


def at_all_levels(
    method: Representation, files: LabelledFiles, samples: ProgramSamples, readers: Sequence[ReadIR]
) -> Matrix:
    """Vectors of the samples at all levels, side by side, each of length 1; arguments as of `compare_retrieval`."""
    from scipy.sparse import hstack, issparse

    def ir_at(level: int) -> Callable[[int], tuple[bytes, str | None]]:
        def text(number: int) -> tuple[bytes, str | None]:
            path = files.paths[int(samples.row[number])]
            return readers[level](InputFile(path, files.folder))[0], None

        return text

    views = [method.vectors(Units(table, ir_at(level))) for level, table in enumerate(samples.variants.values())]
    if len(views) == 1:
        return views[0]
    views = [unit_rows(view)[0] for view in views]
    return hstack(views).tocsr() if issparse(views[0]) else np.hstack(views)


def _placed(vectors: Matrix, rows: Ints, num: int) -> Matrix:
    """Insert vectors into `num` rows; the others are zeros."""
    from scipy.sparse import csr_matrix

    spread = csr_matrix((np.ones(len(rows), np.float32), (rows, np.arange(len(rows)))), shape=(num, len(rows)))
    return spread @ vectors
