"""``ncc evaluate functions``: does a function compiled differently find itself among all of its project?"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ncc.arrays import Floats
from ncc.errors import InputError, NccError
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.corpus.recipe import CorpusFile, find_files, load_recipe
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc_lab.comparison import Comparison, Result
from ncc_lab.figures import SEED, mean
from ncc_lab.frame import HoldOut, Task
from ncc_lab.retrieval.methods import Representation
from ncc_lab.retrieval.metrics import Matrix, pool_scores
from ncc_lab.retrieval.pools import Build, Pool, compile_file, make_pool

SIZES = (100, 1000, None)
"""Functions of a pool, the right one among them; None stands for all of the project."""


def compare_functions(
    files: Mapping[str, Sequence[CorpusFile]],
    methods: Sequence[Representation],
    clangs: Sequence[str],
    compiler: CachingCompiler,
    abstraction: Abstraction,
    *,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Score kinds of vectors by project; queries are from -O0 and other compilers, the pool is from -O2."""
    pool_build = Build()
    queries = [Build(level="-O0"), *(Build(clang=path) for path in clangs)]
    tasks = [
        delayed(_try_to_compile)(file, build, compiler)
        for build in (pool_build, *queries)
        for some in files.values()
        for file in some
    ]
    for done, _ in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
        if progress:
            progress(f"{done} of {len(tasks)} compilations")
    results: list[Result] = []
    failures: dict[str, str] = {}
    for query in queries:
        for keep_callees in (False, True):
            pools: dict[str, Pool] = {}
            for name, some in files.items():
                made, failed = make_pool(
                    *(some, query, pool_build),
                    ir_of=lambda file, build: compile_file(file, build, compiler),
                    abstraction=abstraction,
                    keep_callees=keep_callees,
                )
                failures |= failed
                pools |= {name: made} if made else {}
            if not pools:
                reason = next(iter(failures.values()), "none has a function in both ways")
                raise InputError(f"no functions to compare: {reason}")
            title = f"{query} asks, -O2 answers, names of callees {'kept' if keep_callees else 'hidden'}"
            for representation in methods:
                results += _score(representation, pools, title, failures)
                if progress:
                    progress(f"{title}: {representation.name}")
    return Comparison(tuple(sorted(results, key=lambda result: result.protocol)))


def find_projects(projects: Sequence[str | Path]) -> dict[str, list[CorpusFile]]:
    """Return project → its files of source, each once."""
    found: dict[str, dict[str, CorpusFile]] = {}
    for project in projects:
        for file in find_files(load_recipe(project)):
            if file.attempts:
                found.setdefault(file.source, {}).setdefault(file.path, file)
    if not found:
        raise InputError("projects: expected folders of sources, or recipes of such, found no source")
    return {name: list(files.values()) for name, files in found.items()}


def _try_to_compile(file: CorpusFile, build: Build, compiler: CachingCompiler) -> None:
    with suppress(NccError):  # which is reported where the IR is asked for
        compile_file(file, build, compiler)


def _score(
    representation: Representation, pools: Mapping[str, Pool], title: str, failures: Mapping[str, str]
) -> list[Result]:
    """Return a result for each kind of function and size of pool: its rows are projects."""
    start = perf_counter()
    vectors = {name: representation.vectors(pool.units) for name, pool in pools.items()}
    seconds = perf_counter() - start
    results = []
    for whose in ("internal functions", "all functions"):
        rows = {
            name: row
            for name, pool in pools.items()
            if (row := _project_row(pool, vectors[name], internal=whose == "internal functions")) is not None
        }
        for column, size in enumerate(SIZES if rows else ()):
            values = np.stack(list(rows.values()))[:, 2 + 2 * column : 4 + 2 * column]
            if np.isfinite(values).any():
                protocol = f"{whose}, of {size or 'all'}: {title}"
                task = _task(protocol, {name: row[:2] for name, row in rows.items()}, failures)
                result = Result(
                    task=task,
                    protocol=protocol,
                    method=representation.name,
                    kind=representation.kind,
                    seeds=(SEED,),
                    predicted=values[None],
                    seconds=seconds,
                )
                results.append(result)
    return results


def _task(protocol: str, counts: Mapping[str, Floats], failures: Mapping[str, str]) -> Task[Any]:
    """Return projects as a task: its rows are projects, and what is predicted are the two figures of each."""
    names = np.array(list(counts))
    sizes = ", ".join(f"{name} {queries:.0f} of {pool:.0f}" for name, (queries, pool) in counts.items())
    return Task(
        samples=names,
        protocols={protocol: HoldOut(f"queries among all functions: {sizes}", lambda _seed: (), "project", names)},
        terms=lambda _names, rows, predicted: {
            "project": names[rows],
            "recall_at_1": predicted[:, 0],
            "mrr": predicted[:, 1],
        },
        widths=(2,),
        figures={"recall_at_1": mean("recall_at_1"), "mrr": mean("mrr")},
        perfect=np.ones((len(names), 2)),
        part="project",
        notes={"failures": dict(failures)},
    )


def _project_row(pool: Pool, vectors: Matrix, *, internal: bool) -> Floats | None:
    """Return queries, functions of the pool, and means for each of `SIZES`; None if no mistake is possible."""
    candidates = np.flatnonzero(pool.internal) if internal else np.arange(pool.num_candidates)
    position = np.full(pool.num_candidates, -1)
    position[candidates] = np.arange(len(candidates))
    queries = np.flatnonzero(position[pool.answer] >= 0)
    if len(candidates) < 2 or not len(queries):
        return None
    asked = vectors[pool.num_candidates + queries]
    scores = pool_scores(vectors[candidates], asked, position[pool.answer[queries]], SIZES)
    return np.concatenate([[len(queries), len(candidates)], scores.mean(axis=0).ravel()])
