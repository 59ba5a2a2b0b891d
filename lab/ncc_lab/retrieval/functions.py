"""``ncc evaluate functions``: does a function compiled differently find itself among all of its project?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ncc.arrays import Floats
from ncc.errors import InputError, NccError
from ncc.learning.corpus.files import CorpusFile, find_files
from ncc.learning.corpus.recipe import Recipe, load_recipe
from ncc.learning.data.registry import cache_folder
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.learning.heads.figures import Estimate, estimate
from ncc.learning.programs.kept import Compiler
from ncc.system.files.writing import check_folder
from ncc_lab.evaluation import Comparison, Score, choose_methods
from ncc_lab.report.table import Column, Table, score_row, table_of
from ncc_lab.retrieval.methods import Representation, all_representations
from ncc_lab.retrieval.metrics import Matrix, pool_scores
from ncc_lab.retrieval.pools import Build, Pool, compile_file, make_pool

SIZES = (100, 1000, None)
"""Functions of a pool, the right one among them; None stands for all of the project."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FunctionMetrics:
    """How well functions find themselves: means over projects.

    Attributes:
        recall: For each of `SIZES`, share of functions whose nearest is right; None where no project is as large.
        reciprocal_rank: The same for 1 over the rank of the right one.
        projects: Project → its functions that were queries, how many it has, and its recall among all of them.
    """

    recall: tuple[Estimate | None, ...]
    reciprocal_rank: tuple[Estimate | None, ...]
    projects: Mapping[str, tuple[int, int, float]]


@dataclass(frozen=True, eq=False, repr=False)
class FunctionComparison(Comparison[FunctionMetrics]):
    """Scores of ways to make vectors, and what they were measured on.

    Attributes:
        failures: File → reason, of those that can't be compiled or read in one of the ways.
    """

    title = "Finding the same function again"
    introduction = (
        "Every function of a project asks for itself, compiled in another way; how often is the nearest right?"
    )
    failures: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The same as of every comparison, with how many files there were no functions of."""
        return {"failures": self.failures} | super().to_dict()

    def describe(self, score: Score[FunctionMetrics]) -> dict[str, Any]:
        """Figures for each size of the pool, "100", "1000" and "all", with intervals over projects."""
        found: dict[str, Any] = {}
        for title, values in (("recall_at_1", score.metrics.recall), ("mrr", score.metrics.reciprocal_rank)):
            for size, value in zip(SIZES, values, strict=True):
                if value:
                    found.setdefault(str(size or "all"), {})[title] = value.value
                    found[str(size or "all")][f"{title}_interval"] = [value.low, value.high]
        projects = {
            name: {"queries": queries, "pool": pool, "recall_at_1": recall}
            for name, (queries, pool, recall) in score.metrics.projects.items()
        }
        return {"pools": found, "projects": projects}

    def table(self, scores: Sequence[Score[FunctionMetrics]]) -> Table:
        """Return the scores of one way to ask."""
        columns: list[Column[Score[FunctionMetrics]]] = []
        for group, name, marked in (("recall at 1", "recall", True), ("reciprocal rank", "reciprocal_rank", False)):
            for number, size in enumerate(SIZES):
                pick = partial(_pick, name, number)
                columns.append(Column(f"of {size:,}" if size else "of all", pick, "%", is_ranked=marked, group=group))
        projects = scores[0].metrics.projects
        counts = ", ".join(f"{name} {queries} of {pool}" for name, (queries, pool, _) in projects.items())
        caption = f"{scores[0].protocol}; queries among all functions: {counts}; intervals over projects"
        return table_of(caption, columns, scores, row=score_row)


def _pick(name: str, number: int, score: Score[FunctionMetrics]) -> Estimate | None:
    return getattr(score.metrics, name)[number]


def evaluate_functions(
    projects: Sequence[str | Path],
    *,
    method: Sequence[str] | None = None,
    clang: Sequence[str] | None = None,
    embedding: AnyEmbedding | None = None,
    seed: int = 204,
    jobs: int = 1,
    ir: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> FunctionComparison:
    """Measures whether a function's vector finds the same function, compiled differently, in its project.

    The pool is a project compiled at -O2 by the bundled clang; the queries are its functions at -O0, and those of other
    compilers at -O2. The project's identifiers and strings are removed; tables with and without the names of external
    callees follow each other.

    Args:
        projects: Recipes of corpora, each source a project, and folders of sources, each a project.
        method: As for `evaluate_retrieval`.
        clang: Further compilers, whose -O2 asks as well.
        embedding: Vectors of statements; default those that ship with ncc.
        seed: Of the encoder that is not trained.
        jobs: Files compiled at a time.
        ir: Folder that keeps the compiled IR; default one in the user's cache.
        progress: Called with lines of text.

    Returns:
        Scores of every method, with 95 % intervals over projects.

    Raises:
        InputError: There is no such project or method, or no project has two functions to tell apart.
        OutputError: A folder can't be written.
    """
    embedding = load_embedding(embedding)
    known = all_representations(embedding, seed)
    chosen = choose_methods(method or ("*",), [one.name for one in known])
    kept = Path(ir) if ir else cache_folder() / "functions"
    check_folder(kept)
    compiler = Compiler(cache_folder() / "headers", kept)
    files = _files_of([load_recipe(project) for project in projects])
    pool = Build()
    queries = [Build(level="-O0"), *(Build(clang=path) for path in clang or ())]
    _compile_all([file for some in files.values() for file in some], [pool, *queries], compiler, jobs, progress)
    scores: list[Score[FunctionMetrics]] = []
    failures: dict[str, str] = {}
    for query in queries:
        for keep_callees in (False, True):
            pools: dict[str, Pool] = {}
            for name, some in files.items():
                made, failed = make_pool(
                    some,
                    query,
                    pool,
                    ir_of=lambda file, build: compile_file(file, build, compiler),
                    abstraction=embedding.abstraction,
                    keep_callees=keep_callees,
                )
                failures |= failed
                pools |= {name: made} if made else {}
            if not pools:
                reason = next(iter(failures.values()), "none has a function in both ways")
                raise InputError(f"no functions to compare: {reason}")
            names = "kept" if keep_callees else "hidden"
            title = f"{query} asks, -O2 answers, names of callees {names}"
            scores += _score_all([one for one in known if one.name in chosen], pools, title, progress)
    return FunctionComparison(tuple(sorted(scores, key=lambda score: score.protocol)), failures)


def _files_of(recipes: Sequence[Recipe]) -> dict[str, list[CorpusFile]]:
    """Project → its files of source, each once."""
    found: dict[str, dict[str, CorpusFile]] = {}
    for recipe in recipes:
        for file in find_files(recipe):
            if file.attempts:
                found.setdefault(file.source, {}).setdefault(file.path, file)
    if not found:
        raise InputError("projects: expected folders of sources, or recipes of such, found no source")
    return {name: list(files.values()) for name, files in found.items()}


def _compile_all(
    files: Sequence[CorpusFile],
    builds: Sequence[Build],
    compiler: Compiler,
    jobs: int,
    progress: Callable[[str], None] | None,
) -> None:
    """Has all IR in the folder that keeps it."""
    tasks = [(file, build) for build in builds for file in files]
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_try_to_compile)(file, build, compiler) for file, build in tasks
    )
    for done, _ in enumerate(results, 1):
        if progress:
            progress(f"{done} of {len(tasks)} compilations")


def _try_to_compile(file: CorpusFile, build: Build, compiler: Compiler) -> None:
    try:
        compile_file(file, build, compiler)
    except NccError:
        return  # which is told where the IR is asked for


def _score_all(
    methods: Sequence[Representation],
    pools: Mapping[str, Pool],
    title: str,
    progress: Callable[[str], None] | None,
) -> list[Score[FunctionMetrics]]:
    scores = []
    for method in methods:
        begin = perf_counter()
        vectors = {name: method.vectors(pool.units) for name, pool in pools.items()}
        seconds = perf_counter() - begin
        for whose in ("internal functions", "all functions"):
            found = {
                name: row
                for name, pool in pools.items()
                if (row := _project_row(pool, vectors[name], internal=whose == "internal functions")) is not None
            }
            if found:
                scores.append(_score(method, f"{whose}: {title}", found, seconds))
                if progress:
                    progress(f"{scores[-1].protocol}: {method.name}")
    return scores


def _project_row(pool: Pool, vectors: Matrix, *, internal: bool) -> Floats | None:
    """Queries, functions of the pool, and means over queries for each of `SIZES`; None where nobody can be mistaken."""
    candidates = np.flatnonzero(pool.internal) if internal else np.arange(pool.num_candidates)
    place = np.full(pool.num_candidates, -1)
    place[candidates] = np.arange(len(candidates))
    queries = np.flatnonzero(place[pool.answer] >= 0)
    if len(candidates) < 2 or not len(queries):
        return None
    asked = vectors[pool.num_candidates + queries]
    found = pool_scores(vectors[candidates], asked, place[pool.answer[queries]], SIZES)
    return np.concatenate([[len(queries), len(candidates)], found.mean(axis=0).ravel()])


def _score(
    method: Representation, protocol: str, found: Mapping[str, Floats], seconds: float
) -> Score[FunctionMetrics]:
    rows = np.stack(list(found.values()))
    values = rows[:, 2:].reshape(len(rows), len(SIZES), 2)

    def mean(column: Floats) -> Estimate | None:
        there = np.flatnonzero(np.isfinite(column))
        if not len(there):
            return None
        terms = np.stack([column[there], np.ones(len(there))], axis=1)
        return estimate(terms[None], there, lambda sums: sums[..., :1] / sums[..., 1:])[0]

    def metrics(values: Floats) -> FunctionMetrics:
        recall, rank = (tuple(mean(column) for column in values[:, :, kind].T) for kind in range(2))
        of_all = {
            name: (int(row[0]), int(row[1]), float(value))
            for (name, row), value in zip(found.items(), values[:, -1, 0], strict=True)
        }
        return FunctionMetrics(recall=recall, reciprocal_rank=rank, projects=of_all)

    return Score(
        method=method.name,
        kind=method.kind,
        protocol=protocol,
        num_samples=int(rows[:, 0].sum()),
        interval_unit="project",
        num_groups=len(rows),
        metrics=metrics(values),
        oracle=metrics(np.where(np.isnan(values), np.nan, 1.0)),
        predicted=values[None],
        seconds=seconds,
    )
