"""Builds a corpus: files to counts, in parallel, in shards that survive a kill and add up to the same result.

Files are cut into batches in a fixed order. Each finished batch is a shard on disk; a run that starts again does the
batches that are missing and adds all shards up.
"""

import hashlib
import json
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

import numpy as np

from ncc.corpus.compiler import Compiler
from ncc.corpus.files import CorpusFile, find_files
from ncc.corpus.recipe import Recipe
from ncc.embedding.counts import CountsBuilder, save_counts, width_folder
from ncc.embedding.merge import merge_counts
from ncc.errors import InputError, NccError, OutputError
from ncc.graph import build_xfg, count_contexts
from ncc.ir import read_module
from ncc.storage import write_atomically

__all__ = ["CorpusReport", "build_corpus"]

logger = logging.getLogger(__name__)

BATCH_FILES = 64


@dataclass(frozen=True)
class CorpusReport:
    """What became of a recipe's files.

    Attributes:
        files: per source, how many files were read.
        lines: per source, lines of IR.
        statements: per source, statements.
        pairs: per context width, ordered pairs of statements.
        num_distinct: distinct statements.
        seconds: per step (compile, read, count), summed over the workers.
        failures: path → reason, for the files that could not be compiled or read.
    """

    files: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    num_distinct: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """A table for people: a row a source, and the sums."""
        rows: list[tuple[str, ...]] = [("source", "files", "IR lines", "statements")]
        rows += [(source, *(str(part[source]) for part in self._columns())) for source in self.files]
        if len(self.files) > 1:
            rows.append(("together", *(str(sum(part.values())) for part in self._columns())))
        lines = [f"{row[0]:<16}{row[1]:>9}{row[2]:>13}{row[3]:>13}" for row in rows]
        lines.append(f"{self.num_distinct} distinct statements")
        lines += [f"{pairs} pairs within {width} hop(s)" for width, pairs in self.pairs.items()]
        counting = sum(self.seconds.get(step, 0.0) for step in ("read", "count"))
        if counting:
            speed = sum(self.lines.values()) / counting
            lines.append(f"{speed:,.0f} IR lines/s a core read and counted; seconds: {self.seconds}")
        lines.append(f"{len(self.failures)} files failed: see report.json")
        return "\n".join(lines)

    def _columns(self) -> tuple[dict[str, int], ...]:
        return self.files, self.lines, self.statements


def build_corpus(
    recipe: Recipe,
    folder: str | Path,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    ir_folder: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusReport:
    """Compiles, reads and counts every file of a recipe.

    Args:
        recipe: what to read and how.
        folder: gets ``width-N/counts.*``, ``report.json`` and ``shards/``; a folder begun by the same recipe is
            continued.
        jobs: worker processes; default one a core. Ignored if ``executor`` is given.
        executor: any ``concurrent.futures`` executor that can see the files and the folder.
        ir_folder: keeps the IR that compilers gave, and gives it back to a later build of the same files with the same
            options, so that another abstraction or width costs no compilation. Headers are not looked at.
        progress: called with batches done and batches in all.

    Raises:
        InputError: no file matches, or the folder holds another recipe's corpus.
        OutputError: the folder can't be written.
        NccError: a worker was killed.
    """
    folder = Path(folder).absolute()  # workers may stand in another folder
    ir_folder = Path(ir_folder).absolute() if ir_folder else None
    files = find_files(recipe, folder / "generated")
    if not files:
        raise InputError(f"recipe {recipe.name}: no file matches")
    batches = [files[start : start + BATCH_FILES] for start in range(0, len(files), BATCH_FILES)]
    _check_plan(folder, recipe, files)
    missing = [number for number in range(len(batches)) if not _shard(folder, number, "report.json").exists()]
    done = len(batches) - len(missing)
    # an executor of the caller's stays open
    with nullcontext(executor) if executor else _processes(jobs) as pool:
        pending: set[Future[None]] = {
            pool.submit(_count_batch, batches[number], recipe, folder, number, ir_folder) for number in missing
        }
        try:
            for future in as_completed(pending):
                future.result()
                done += 1
                if progress:
                    progress(done, len(batches))
        except BaseException as error:
            for future in pending:
                future.cancel()
            if isinstance(error, Exception) and not isinstance(error, NccError):
                reason = f"{type(error).__name__}: {error}"
                raise NccError(f"a worker ended abruptly ({reason}); start again to go on where it stopped") from error
            raise
    return _merge(folder, recipe, len(batches))


def _processes(jobs: int | None) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs or os.cpu_count(), mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """In a worker: ends it when the parent was killed, which a worker that waits for work does not notice by itself."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _shard(folder: Path, number: int, name: str) -> Path:
    return folder / "shards" / f"{number:06d}" / name


def _check_plan(folder: Path, recipe: Recipe, files: Sequence[CorpusFile]) -> None:
    """Writes down what this folder is being built from, or checks that it is the same as last time."""
    digest = hashlib.sha256(
        repr((recipe.widths, recipe.max_degree, recipe.abstraction, BATCH_FILES, files)).encode()
    ).hexdigest()
    plan = folder / "plan.json"
    if plan.exists() and _planned_digest(plan) != digest:
        raise InputError(f"{folder}: holds the corpus of another recipe or of other files; give an empty folder")
    write_atomically(plan, json.dumps({"recipe": recipe.name, "files_sha256": digest}).encode())


def _planned_digest(plan: Path) -> str | None:
    try:
        return str(json.loads(plan.read_bytes())["files_sha256"])
    except (OSError, ValueError, KeyError, TypeError):  # another tool's file, or a damaged one: not this plan
        return None


@dataclass
class _Tally:
    """What one batch comes to, as the shard's report."""

    files: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    statements: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: {"compile": 0.0, "read": 0.0, "count": 0.0})
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, report: dict[str, Any]) -> None:
        """Adds another batch's report."""
        for name in ("files", "lines", "statements"):
            getattr(self, name).update(report[name])
        for step, seconds in report["seconds"].items():
            self.seconds[step] += seconds
        self.failures |= report["failures"]


def _count_batch(
    files: Sequence[CorpusFile], recipe: Recipe, folder: Path, number: int, ir_folder: str | Path | None
) -> None:
    """In a worker: one batch to one shard. The report is written last and marks the shard as whole."""
    builders = {width: CountsBuilder(width) for width in recipe.widths}
    tally = _Tally()
    compiler = Compiler(headers=folder / "headers", kept=Path(ir_folder) if ir_folder else None)
    for file in files:
        try:
            _count_file(file, recipe, builders, compiler, tally)
        except OutputError:  # a full disk is no fault of the file
            raise
        except NccError as error:
            tally.failures[file.path] = str(error)
    for width, builder in builders.items():
        save_counts(builder.finish(), width_folder(_shard(folder, number, ""), width))
    write_atomically(_shard(folder, number, "report.json"), json.dumps(vars(tally)).encode())


def _count_file(
    file: CorpusFile, recipe: Recipe, builders: Mapping[int, CountsBuilder], compiler: Compiler, tally: _Tally
) -> None:
    """Adds one file's counts."""
    times = [time.perf_counter()]
    ir = compiler.ir_of(file)
    times.append(time.perf_counter())
    module = read_module(ir, name=file.path, abstraction=recipe.abstraction)
    graph = build_xfg(module)
    times.append(time.perf_counter())
    statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
    for width, builder in builders.items():
        pairs = count_contexts(graph, module.text_id, width, max_degree=recipe.max_degree)
        builder.add(module.texts, statements, (pairs.center, pairs.context, pairs.count), num_lines=module.num_lines)
    times.append(time.perf_counter())
    tally.files[file.source] += 1
    tally.lines[file.source] += module.num_lines
    tally.statements[file.source] += module.num_statements
    for step, seconds in zip(("compile", "read", "count"), np.diff(times).tolist(), strict=True):
        tally.seconds[step] += seconds


def _merge(folder: Path, recipe: Recipe, num_batches: int) -> CorpusReport:
    tally = _Tally()
    for number in range(num_batches):
        tally.add(json.loads(_shard(folder, number, "report.json").read_text()))
    pairs = {}
    for width in recipe.widths:
        shards = [width_folder(_shard(folder, number, ""), width) for number in range(num_batches)]
        merged = merge_counts(shards, width_folder(folder, width))
        pairs[width] = merged.num_pairs
    report = CorpusReport(
        files=dict(tally.files),
        lines=dict(tally.lines),
        statements=dict(tally.statements),
        pairs=pairs,
        num_distinct=merged.num_texts,
        seconds={step: round(seconds, 1) for step, seconds in tally.seconds.items()},
        failures=tally.failures,
    )
    summary = {"recipe": recipe.name, "abstraction": asdict(recipe.abstraction)} | asdict(report)
    write_atomically(folder / "report.json", json.dumps(summary, indent=1).encode())
    logger.info("corpus %s: %d files, %d failures", recipe.name, sum(tally.files.values()), len(tally.failures))
    return report
