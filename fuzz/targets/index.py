"""Indexes: whatever their files say, functions and vectors are theirs, and no other file is shown."""

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fuzz.folders import Files, mutate_files, put, read_folder, unpack
from fuzz.targets import Target
from ncc.ir.frontend.options import CompileOptions
from ncc.tasks.search.index import Index, load_index
from ncc.tasks.search.pages import source_lines
from ncc.tasks.search.store import FileRow, Function, IndexCard, content_hash, writing
from ncc.verbs.explore.facts import Explorer

__all__ = ["TARGETS"]

_DIM = 8
_SOURCE = b"int f(int x) {\n  return x;\n}\n"


def _indexes() -> list[Files]:
    card = IndexCard(pooler_id="mean-0", pooling="mean", embedding=None, dim=_DIM, generation=1)
    with TemporaryDirectory() as folder:
        with writing(Path(folder), card) as writer:
            for path, source in (("/etc/hostname", ""), ("/dev/zero", "a.c"), ("/proc/self/mem", "../etc/passwd")):
                file = FileRow(path, "/", "0", 2, None, {source: content_hash(_SOURCE)})
                vectors = np.eye(2, _DIM, dtype=np.float16)
                writer.add(file, [Function("f", source, 1, 3, 4), Function("gé", source, 5, 6, 2)], vectors)
        return [read_folder(Path(folder))]


def _with_card(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files whose card has their sizes and hashes, as a forger would write it."""
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        card: dict[str, Any] = json.loads(files["index.json"])
        card["files"] = {
            name: [len(content), content_hash(content * 2)] for name, content in files.items() if name != "index.json"
        }
        return files | {"index.json": json.dumps(card).encode()}
    return files


def _search(data: bytes) -> None:
    index: Index = load_index(put(_with_card(unpack(data))))
    assert np.isfinite(index.vectors).all()
    index.store.nearest(np.ones((1, index.store.card.dim), np.float32), 3)
    explorer = Explorer(index, ["index"], CompileOptions(), None, None)
    json.dumps(explorer.table(), allow_nan=False)
    for row in range(min(len(index), 100)):
        assert not explorer.function(row)["code"]
        function = index.function_at(row)
        assert not source_lines(function).lines
        assert function.demangled.isprintable()


TARGETS = (Target(name="index", seeds=_indexes, mutate=mutate_files, run=_search, weight=8),)
