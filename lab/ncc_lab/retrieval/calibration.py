"""Calibrates similarities on functions known to be the same or different; made the calibrations that ship with ncc.

    python -m ncc_lab.retrieval.calibration sources -o calibration.json

The same function compiled at several levels is a true pair, different functions are false ones.
`ncc.tasks.search.calibration` has what follows from the counts; the file belongs into `ncc/assets/search`, under the ID
of the pooler.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats32, Ints
from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import find_inputs, load_module
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import l2_normalize
from ncc.learning.encoder.pooling import Pooler, load_pooler
from ncc.system.files.text import command_line
from ncc.system.files.writing import check_writable, write_atomically
from ncc.tasks.search.calibration import FORMAT_VERSION, Calibration

_GRID = np.append(1.0 - np.geomspace(2.0, 1e-4, 255), 1.0)
_TILE = 2048


def calibrate(
    inputs: Sequence[str],
    *,
    levels: Sequence[str] = ("1", "2", "s"),
    pooler: Pooler | None = None,
    min_statements: int = 10,
    **about: Any,
) -> Calibration:
    """Calibrate similarities on the functions of source that nothing was trained on."""
    if len(set(levels)) < 2:
        raise InputError(f"levels are {', '.join(levels)}; expected two or more different ones")
    pooler = pooler or load_pooler(None, None, None)
    at_level: list[dict[tuple[str, str], tuple[Floats32, int]]] = [{} for _ in levels]
    files = find_inputs(inputs)
    num_failed = 0
    for file in files:
        try:
            if file.error:
                raise InputError(file.error)
            builds = [
                load_module(
                    file.source, options=replace(CompileOptions(), optimization=level), abstraction=pooler.abstraction
                )
                for level in levels
            ]
        except NccError:
            num_failed += 1
            continue
        for functions, module in zip(at_level, builds, strict=True):
            functions.update(_functions(module, pooler, min_statements))
    names = sorted(set.intersection(*(set(functions) for functions in at_level)))
    vectors = [np.array([functions[name][0] for name in names]) for functions in at_level]
    texts = np.array([[functions[name][1] for name in names] for functions in at_level])
    card = {"levels": list(levels), "min_statements": min_statements, "num_files": len(files) - num_failed}
    return fit_calibration(pooler.id, vectors, texts, **card, **about)


def fit_calibration(pooler_id: str, vectors: Sequence[Floats32], text: Ints | None = None, **about: Any) -> Calibration:
    """Count how similar pairs of the same function are, and pairs of different ones."""
    if len(vectors) < 2 or min(map(len, vectors)) < 2:
        raise InputError(
            f"{min(map(len, vectors), default=0)} functions in {len(vectors)} builds; expected two or more of each"
        )
    count = len(vectors[0])
    label = np.arange(len(vectors) * count).reshape(-1, count) if text is None else text
    edges = np.append(_GRID, np.inf)
    same, other = np.zeros(len(_GRID), np.int64), np.zeros(len(_GRID), np.int64)
    for a, b in combinations_with_replacement(range(len(vectors)), 2):
        if a != b:
            same += np.histogram((vectors[a] * vectors[b]).sum(axis=1), edges)[0]
        for start in range(0, count, _TILE):
            rows = np.arange(start, min(start + _TILE, count))
            similarity = vectors[a][rows] @ vectors[b].T
            excluded = (rows[:, None] == np.arange(count)) | (label[a][rows, None] == label[b])
            other += np.histogram(np.clip(similarity[~excluded], -1, 1), edges)[0]
    same_tail, other_tail = (np.cumsum(counts[::-1])[::-1] for counts in (same, other))
    return Calibration(
        pooler_id=pooler_id,
        similarity=tuple(np.round(_GRID, 6).tolist()),
        true_positive_rate=tuple(np.round(same_tail / same.sum(), 9).tolist()),
        false_positive_rate=tuple(((other_tail + 0.5) / (other.sum() + 1)).tolist()),
        about={"num_functions": count, "same_pairs": int(same.sum()), "other_pairs": int(other.sum()), **about},
    )


def _functions(module: Module, pooler: Pooler, min_statements: int) -> dict[tuple[str, str], tuple[Floats32, int]]:
    """Return (file, function) → its vector and a hash of its statements."""
    functions = np.flatnonzero(np.diff(module.function_start) >= min_statements).tolist()
    vectors = l2_normalize(pooler.vectors(module, functions))
    rows = {}
    for function, vector in zip(functions, vectors, strict=True):
        start, end = module.function_start[function : function + 2].tolist()
        text = "\n".join(map(module.statement_text, range(start, end)))
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
        rows[module.name, module.function_names[function]] = vector, digest
    return rows


def main() -> None:
    """Calibrate and write the file."""
    parser = argparse.ArgumentParser(prog="python -m ncc_lab.retrieval.calibration", description=calibrate.__doc__)
    parser.add_argument("inputs", nargs="+", metavar="FOLDER", help="source that nothing was trained on")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE.json")
    parser.add_argument("--levels", default="1,2,s", help="optimization levels, separated by commas")
    parser.add_argument("--pooling", help="what makes the vectors, as for ncc embed")
    parser.add_argument("--embedding", metavar="FOLDER")
    parser.add_argument("--encoder", metavar="FOLDER")
    args = parser.parse_args()
    try:
        check_writable(args.output)
        pooler = load_pooler(args.pooling, args.embedding, args.encoder)
        made = calibrate(args.inputs, levels=args.levels.split(","), pooler=pooler, command=command_line())
        text = json.dumps({"format_version": FORMAT_VERSION, **vars(made)})
        write_atomically(args.output, f"{text}\n".encode())
    except NccError as error:
        raise SystemExit(str(error)) from error
    pairs = f"{made.about['same_pairs']} pairs of the same function, {made.about['other_pairs']} of others"
    print(f"{made.pooler_id}: {pairs}")


if __name__ == "__main__":
    main()
