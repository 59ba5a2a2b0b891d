"""The build of a corpus: files to counts, in parallel, in shards that survive a kill, with the same result.

Files are cut into batches in a fixed order. Each finished batch is a shard on disk; a resumed run does the missing
batches and sums all shards.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import convert

from ncc.errors import AssetError, InputError
from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.reader import read_module
from ncc.learning.corpus.recipe import CorpusFile, Recipe, find_files
from ncc.learning.embedding.counts import CountsBuilder, save_counts, sum_counts, width_folder
from ncc.learning.programs.ir_cache import CachingCompiler
from ncc.system.files.summaries import Summarized, Summary
from ncc.system.files.text import align_columns, pluralize
from ncc.system.files.writing import folder_lock, write_atomically
from ncc.system.workers.pool import Batch, Pool

BATCH_FILES = 64
"""Files of a shard, the most that a killed worker can lose."""


@dataclass(frozen=True)
class CorpusReport(Summarized):
    """Size of a corpus, and its failures.

    Attributes:
        files: Source → number of its files that were read.
        lines: Source → number of their lines of IR.
        statements: Source → number of their statements.
        pairs: Context width in hops → number of ordered pairs of statements.
        num_distinct: Number of distinct statements.
        failures: Path → reason.
    """

    files: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    num_distinct: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, other: "CorpusReport") -> None:
        """Add another report, except numbers of pairs and distinct statements."""
        for name in ("files", "lines", "statements"):
            total = getattr(self, name)
            for key, value in getattr(other, name).items():
                total[key] = total.get(key, 0) + value
        self.failures.update(other.failures)

    def __repr__(self) -> str:
        files, statements = sum(self.files.values()), sum(self.statements.values())
        return f"CorpusReport({files} files, {statements} statements, {len(self.failures)} failures)"

    def summary(self) -> Summary:
        """Return the sums, and the numbers of each source."""
        columns = self.files, self.lines, self.statements
        rows = [(source, *(f"{column[source]:,}" for column in columns)) for source in self.files]
        pairs = [f"{count:,} pairs within {pluralize(width, 'hop')}" for width, count in self.pairs.items()]
        return Summary(
            verdict=pluralize(sum(self.files.values()), "file"),
            interval=pluralize(sum(self.statements.values()), "statement"),
            confidence=f"{len(self.failures):,} failed",
            details=[
                ("sources", align_columns([("source", "files", "IR lines", "statements"), *rows])),
                ("counts", [f"{self.num_distinct:,} distinct statements", *pairs]),
                ("failed", "see report.json" if self.failures else ""),
            ],
        )


@dataclass(frozen=True)
class _Shard(Batch):
    """Files of a recipe that are counted into one shard, a folder whose report is written last."""

    recipe: Recipe
    compiler: CachingCompiler

    @cached_property
    def builders(self) -> dict[int, CountsBuilder]:
        """Counts of a worker, by context width."""
        return {width: CountsBuilder(width) for width in self.recipe.widths}

    def read(self, item: CorpusFile) -> CorpusReport:
        """Add one file's counts; one that fails adds nothing."""
        module = read_module(self.compiler.ir_of(item), name=item.path, abstraction=self.recipe.abstraction)
        graph = build_xfg(module)
        statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
        contexts = [
            count_contexts(graph, module.text_id, width, max_degree=self.recipe.max_degree) for width in self.builders
        ]
        for builder, pairs in zip(self.builders.values(), contexts, strict=True):
            columns = (pairs.center, pairs.context, pairs.count)
            builder.add(module.texts, statements, columns, num_lines=module.num_lines)
        return CorpusReport(
            files={item.source: 1},
            lines={item.source: module.num_lines},
            statements={item.source: module.num_statements},
        )

    def write(self, outcomes: Sequence[tuple[CorpusReport | None, str | None]]) -> None:
        """Write the shard; the report has the reasons of failed files."""
        report = CorpusReport()
        for item, (counted, reason) in zip(self.items, outcomes, strict=True):
            report.add(counted or CorpusReport(failures={item.path: str(reason)}))
        for width, builder in self.builders.items():
            save_counts(builder.finish(), width_folder(self.file.parent, width))
        write_atomically(self.file, json.dumps(asdict(report)).encode())

    def report(self) -> CorpusReport:
        """Read the shard's report."""
        try:
            content = json.loads(self.file.read_bytes())
            if content.keys() != CorpusReport.__dataclass_fields__.keys():
                raise ValueError("unexpected fields")
            return convert(content, CorpusReport, str_keys=True)
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            shard = self.file.parent
            raise AssetError(f"{self.file}: is damaged ({error!r}); remove {shard} to count it again") from error


def count_recipe(
    recipe: Recipe, folder: Path, compiler: CachingCompiler, pool: Pool, progress: Callable[[str], None] | None
) -> CorpusReport:
    """Compile, read and count every file of a recipe."""
    files = find_files(recipe)
    if not files:
        folders = ", ".join(dict.fromkeys(source.folder for source in recipe.sources))
        raise InputError(f"{recipe.name}: no source file in {folders} matches")
    # compilers end after their own time limit, for each attempt and its header
    seconds = max(sum(options.timeout_s * (1 + bool(header)) for options, header in file.attempts) for file in files)
    shards = []
    for index, start in enumerate(range(0, len(files), BATCH_FILES)):
        path = folder / "shards" / f"{index:06d}" / "report.json"
        shards.append(_Shard(files[start : start + BATCH_FILES], path, seconds, recipe, compiler))
    with folder_lock(folder, wait_s=0):
        _check_plan(folder, recipe, files)
        pool.run(shards, progress)
        return _merge(folder, recipe, shards)


def _check_plan(folder: Path, recipe: Recipe, files: Sequence[CorpusFile]) -> None:
    """Record the recipe of this folder, or check that it is the one recorded."""
    identity = (recipe.widths, recipe.max_degree, recipe.abstraction, BATCH_FILES, files)
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()
    plan = folder / "plan.json"
    if plan.exists():
        try:
            planned = json.loads(plan.read_bytes())["files_sha256"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # damaged, or from another tool
            planned = None
        if planned != digest:
            raise InputError(f"{folder}: has the corpus of another recipe or of other files; pass an empty folder")
    write_atomically(plan, json.dumps({"recipe": recipe.name, "files_sha256": digest}).encode())


def _merge(folder: Path, recipe: Recipe, shards: Sequence[_Shard]) -> CorpusReport:
    """Write the sums of all shards' counts and reports."""
    report = CorpusReport()
    for shard in shards:
        report.add(shard.report())
    num_distinct = 0
    for width in recipe.widths:
        counts = sum_counts(width_folder(shard.file.parent, width) for shard in shards)
        save_counts(counts, width_folder(folder, width))
        report.pairs[width], num_distinct = int(counts.matrix.sum()), len(counts.texts)
    report = replace(report, num_distinct=num_distinct)
    summary = {"recipe": recipe.name, "abstraction": asdict(recipe.abstraction)} | asdict(report)
    write_atomically(folder / "report.json", json.dumps(summary, indent=1).encode())
    return report
