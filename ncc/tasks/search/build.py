"""Builds or updates an index of folders: reads only files that changed, and removes those that no longer exist."""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import msgpack

from ncc.errors import COMMAND_LINE, AssetError, InputError, InputFileError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.frontend.project import own_flags
from ncc.ir.inputs import find_inputs, load_module
from ncc.learning.embedding.embedding import AnyEmbedding, l2_normalize
from ncc.learning.encoder.pooling import AnyEncoder, Pooler, load_pooler
from ncc.system.files.reading import STDIN, InputFile, read_input
from ncc.system.files.writing import folder_lock, write_atomically
from ncc.system.workers.pool import Batch, Pool
from ncc.tasks.search.index import IndexReport, functions_of, read_source
from ncc.tasks.search.store import FileRow, Function, IndexCard, Store, content_hash, writing

SHARD_FILES = 32
"""Files of a shard, the most that an interrupted run has to read again per job."""

_pooler = lru_cache(maxsize=1)(load_pooler)


def _folder_of(given: Any, own: Path) -> str | None:
    """The folder of an embedding or encoder; an object is saved into a folder of the index."""
    if given is None or isinstance(given, str | os.PathLike):
        return None if given is None else os.path.abspath(given)  # noqa: PTH100
    given.save(own)
    return own.name


class _FileFunctions(NamedTuple):
    """The content of a file, from a worker: see `FileRow`; vectors are the bytes of (n, dim) float16, of length 1."""

    functions: list[Function]
    hashes: dict[str, str]
    vectors: bytes


@dataclass(frozen=True)
class _Shard(Batch):
    """Files that are read together, and the file with their functions until the index is complete."""

    pooling: str
    embedding: str | None
    encoder: str | None
    options: CompileOptions

    def read(self, item: InputFile) -> _FileFunctions:
        """Return the functions of a file."""
        pooler = _pooler(self.pooling, self.embedding, self.encoder)
        module = load_module(item, options=replace(self.options, debug_lines=True), abstraction=pooler.abstraction)
        functions = functions_of(module)
        vectors = l2_normalize(pooler.vectors(module, range(module.num_functions))).astype("<f2")
        hashes = {}
        for source in {"", *(function.source for function in functions)}:
            with suppress(NccError, ValueError):  # it is not shown
                hashes[source] = content_hash(read_source(item.path, source, item.folder))
        return _FileFunctions(functions, hashes, vectors.tobytes())

    def write(self, outcomes: Sequence[tuple[_FileFunctions | None, str | None]]) -> None:
        write_atomically(self.file, msgpack.encode(outcomes))

    def load(self) -> list[tuple[InputFile, tuple[_FileFunctions | None, str | None]]]:
        """Return each file with its functions, or None and the reason why it failed."""
        try:
            outcomes = msgpack.decode(self.file.read_bytes(), type=list[tuple[_FileFunctions | None, str | None]])
            return list(zip(self.items, outcomes, strict=True))
        except (OSError, ValueError) as error:
            raise AssetError(f"{self.file}: is damaged ({error}); remove it to read it again") from error


def build_index(
    inputs: Sequence[str | os.PathLike[str]],
    folder: Path,
    options: CompileOptions,
    pooler: Pooler,
    models: tuple[AnyEmbedding | None, AnyEncoder | None],
    pool: Pool,
    progress: Callable[[str], None] | None,
) -> IndexReport:
    """Index every function of a code base, or update an index; `models` were passed to make the pooler."""
    roots = [os.path.abspath(one) for one in inputs]  # noqa: PTH100 - links stay as they are named
    if bad := {STDIN, ""}.intersection(os.fspath(one) for one in inputs):
        raise InputError(f"expected files and folders to index, not {bad.pop()!r}")
    found = find_inputs(roots)
    failures = {item.name: item.error for item in found if item.error}
    files = {str(item.source): item.source for item in found if isinstance(item.source, InputFile) and not item.error}
    for path in [path for path in files if path != path.encode(errors="replace").decode()]:
        failures[path] = f"{path}: its name is not UTF-8, as JSON's must be; rename it"
        del files[path]
    if not files:
        raise InputFileError(next(iter(failures.values()), "no input was given to index"))
    with folder_lock(folder, wait_s=0):
        old = Store.open(folder) if (folder / "index.json").exists() else None
        if old and old.card.pooler_id != pooler.id:
            raise InputError(
                f"{folder}: has vectors of {old.card.pooler_id}, which can't be compared with those of {pooler.id}; "
                "pass another folder"
            )
        prints = {path: fingerprint_of(file, options) for path, file in files.items()}
        kept = _rows_kept(old, files, prints, roots) if old else {}
        fresh = [file for path, file in files.items() if path not in kept]
        gone = {file.path for file in old.files} - {*kept, *files} if old else set()
        if old and not fresh and not gone:
            shutil.rmtree(folder / "parts", ignore_errors=True)  # from a build that was killed at its very end
            return IndexReport(old.card.num_functions, len(kept), 0, 0, failures)
        words = _folder_of(models[0], folder / "embedding")
        encoding = _folder_of(models[1], folder / "encoder")
        card = IndexCard(
            pooler_id=pooler.id,
            pooling=pooler.name,
            embedding=words,
            encoder=encoding,
            dim=pooler.dim,
            generation=old.card.generation + 1 if old else 1,
        )
        plan = pooler.id, [(file.path, prints[file.path]) for file in fresh], SHARD_FILES
        parts = folder / "parts" / hashlib.sha256(repr(plan).encode()).hexdigest()[:16]
        how = pooler.name, words and str(folder / words), encoding and str(folder / encoding), options
        starts = range(0, len(fresh), SHARD_FILES)
        shards = [_Shard(fresh[i : i + SHARD_FILES], parts / f"{i:08d}", options.timeout_s, *how) for i in starts]
        pool.run(shards, progress)
        with writing(folder, card) as writer:
            if old:
                for row, rows in kept.values():
                    writer.add(row, map(old.function, rows), old.vectors[rows.start : rows.stop])
            for file, (functions, reason) in chain.from_iterable(shard.load() for shard in shards):
                read = functions or _FileFunctions([], {}, b"")
                if reason:
                    failures[file.path] = reason
                row = FileRow(file.path, file.folder, prints[file.path], len(read.functions), reason, read.hashes)
                writer.add(row, read.functions, np.frombuffer(read.vectors, "<f2"))
            if not writer.num_functions:
                shutil.rmtree(folder / "parts", ignore_errors=True)  # failed files are tried again by the next run
                reasons = "".join(f"\n  {reason.partition(COMMAND_LINE)[0]}" for reason in list(failures.values())[:3])
                names = ", ".join(map(str, inputs))
                raise InputError(f"{names}: no file has a function, {len(failures)} failed{reasons}")
        shutil.rmtree(folder / "parts", ignore_errors=True)
    return IndexReport(writer.num_functions, len(kept) + len(fresh), len(fresh), len(gone), failures)


def fingerprint_of(file: InputFile, options: CompileOptions) -> str:
    """A hash of a file and of how it is read; empty if it can't be read, which is reported later."""
    try:
        how = repr((options, own_flags(file, options))).encode()
        return hashlib.sha256(how + b"\0" + read_input(file)).hexdigest()[:32]
    except NccError:
        return ""


def _rows_kept(
    old: Store, files: Mapping[str, InputFile], prints: Mapping[str, str], roots: Sequence[str]
) -> dict[str, tuple[FileRow, range]]:
    """Path → file and rows of its functions, for files of the old index that are unchanged or in other folders."""
    kept = {}
    start = 0
    for file in old.files:
        path, rows = file.path, range(start, start + file.num_functions)
        is_same = file.error is None and file.fingerprint and file.fingerprint == prints.get(path)
        is_elsewhere = not any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)
        if is_same if path in files else is_elsewhere:
            kept[path] = file, rows
        start = rows.stop
    return kept
