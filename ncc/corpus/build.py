"""Builds a corpus: files to counts, in parallel, in shards that survive a kill and add up to the same result.

Files are cut into batches in a fixed order. Each finished batch is a shard on disk; a run that starts again does the
batches that are missing and adds all shards up.
"""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from pathlib import Path

import numpy as np

from ncc.corpus.recipe import CorpusFile, Recipe, find_files
from ncc.embedding.counts import CorpusCounts, CountsBuilder, load_counts, save_counts
from ncc.errors import InputError, NccError
from ncc.frontend import compile_source
from ncc.frontend.precompiled import with_header
from ncc.graph import build_xfg, count_contexts
from ncc.ir import Abstraction, read_module
from ncc.storage import write_atomically

__all__ = ["CorpusReport", "build_corpus"]

logger = logging.getLogger(__name__)

BATCH_FILES = 64


@dataclass(frozen=True)
class CorpusReport:
    """What became of a recipe's files.

    Attributes:
        counts: the sum over all files that could be read.
        files: per source, how many files were read.
        lines: per source, lines of IR.
        failures: path → reason, for the files that could not be compiled or read.
    """

    counts: CorpusCounts
    files: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def build_corpus(
    recipe: Recipe,
    folder: str | Path,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusReport:
    """Compiles, reads and counts every file of a recipe.

    Args:
        recipe: what to read and how.
        folder: gets ``counts.*``, ``report.json`` and ``shards/``; a folder begun by the same recipe is continued.
        jobs: worker processes; default one a core. Ignored if ``executor`` is given.
        executor: any ``concurrent.futures`` executor that can see the files and the folder.
        progress: called with batches done and batches in all.

    Raises:
        InputError: no file matches, or the folder holds another recipe's corpus.
        OutputError: the folder can't be written.
    """
    folder = Path(folder)
    files = find_files(recipe)
    if not files:
        raise InputError(f"recipe {recipe.name}: no file matches")
    batches = [files[start : start + BATCH_FILES] for start in range(0, len(files), BATCH_FILES)]
    _check_plan(folder, recipe, files)
    missing = [number for number in range(len(batches)) if not _shard(folder, number, "report.json").exists()]
    done = len(batches) - len(missing)
    # an executor of the caller's stays open
    with nullcontext(executor) if executor else _processes(jobs) as pool:
        pending: set[Future[None]] = {
            pool.submit(_count_batch, batches[number], recipe, folder, number) for number in missing
        }
        try:
            for future in as_completed(pending):
                future.result()
                done += 1
                if progress:
                    progress(done, len(batches))
        except BaseException:
            for future in pending:
                future.cancel()
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
    digest = hashlib.sha256(repr((recipe.width, recipe.keep_callees, BATCH_FILES, files)).encode()).hexdigest()
    plan = folder / "plan.json"
    if plan.exists() and _planned_digest(plan) != digest:
        raise InputError(f"{folder}: holds the corpus of another recipe or of other files; give an empty folder")
    write_atomically(plan, json.dumps({"recipe": recipe.name, "files_sha256": digest}).encode())


def _planned_digest(plan: Path) -> str | None:
    try:
        return str(json.loads(plan.read_bytes())["files_sha256"])
    except (OSError, ValueError, KeyError, TypeError):  # another tool's file, or a damaged one: not this plan
        return None


def _count_batch(files: Sequence[CorpusFile], recipe: Recipe, folder: Path, number: int) -> None:
    """In a worker: one batch to one shard. The report is written last and marks the shard as whole."""
    builder = CountsBuilder(recipe.width)
    failures: dict[str, str] = {}
    read: dict[str, int] = {}
    lines: dict[str, int] = {}
    for file in files:
        try:
            num_lines = _count_file(file, recipe, builder, folder / "headers")
        except NccError as error:
            failures[file.path] = str(error)
            continue
        read[file.source] = read.get(file.source, 0) + 1
        lines[file.source] = lines.get(file.source, 0) + num_lines
    save_counts(builder.finish(), _shard(folder, number, ""))
    report = {"files": read, "lines": lines, "failures": failures}
    write_atomically(_shard(folder, number, "report.json"), json.dumps(report).encode())


def _count_file(file: CorpusFile, recipe: Recipe, builder: CountsBuilder, headers: Path) -> int:
    """Adds one file's counts; returns its lines of IR."""
    ir: str | bytes = file.path
    for attempt, (options, header) in enumerate(file.attempts):
        try:
            ir = compile_source(file.path, with_header(Path(header), options, headers) if header else options).ir
            break
        except NccError:
            if attempt == len(file.attempts) - 1:
                raise
    module = read_module(ir, name=file.path, abstraction=Abstraction(keep_callees=recipe.keep_callees))
    pairs = count_contexts(build_xfg(module), module.text_id, recipe.width)
    statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
    num_lines = module.num_lines
    builder.add(module.texts, statements, (pairs.center, pairs.context, pairs.count), num_lines=num_lines)
    return num_lines


def _merge(folder: Path, recipe: Recipe, num_batches: int) -> CorpusReport:
    builder = CountsBuilder(recipe.width)
    files: dict[str, int] = {}
    lines: dict[str, int] = {}
    failures: dict[str, str] = {}
    for number in range(num_batches):
        shard = load_counts(_shard(folder, number, ""))
        pairs = (shard.center, shard.context, shard.count)
        builder.add(shard.texts, shard.statements, pairs, num_files=shard.num_files, num_lines=shard.num_lines)
        report = json.loads(_shard(folder, number, "report.json").read_text())
        for total, part in ((files, report["files"]), (lines, report["lines"])):
            for source, count in part.items():
                total[source] = total.get(source, 0) + count
        failures |= report["failures"]
    counts = builder.finish()
    save_counts(counts, folder)
    summary = {"recipe": recipe.name, "files": files, "lines": lines, "failures": failures}
    write_atomically(folder / "report.json", json.dumps(summary, indent=1).encode())
    logger.info("corpus %s: %d files, %d failures", recipe.name, counts.num_files, len(failures))
    return CorpusReport(counts, files, lines, failures)
