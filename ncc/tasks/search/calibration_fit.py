"""``ncc train calibration``: the same functions at several optimisation levels, against different ones."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ncc.arrays import Floats32
from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import expand_inputs, load_module
from ncc.ir.reader.module import Module
from ncc.learning.embedding.embedding import AnyEmbedding, normalised
from ncc.learning.encoder.encoders import AnyEncoder
from ncc.learning.encoder.pooling import Pooler, load_pooler
from ncc.system.files.writing import check_writable
from ncc.tasks.search.calibration import Calibration, fit_calibration, save_calibration

Place = str | os.PathLike[str]
Functions = dict[tuple[str, str], tuple[Floats32, int]]


def train_calibration(
    inputs: Place | Sequence[Place],
    output: Place | None = None,
    *,
    levels: Sequence[str] = ("1", "2", "s"),
    options: CompileOptions | None = None,
    pooling: str | Pooler | None = None,
    embedding: AnyEmbedding | None = None,
    encoder: AnyEncoder | None = None,
    min_statements: int = 10,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Calibration:
    """Calibrates similarities on pairs of the same function at several levels and of different ones.

    Args:
        inputs: Folders and files of source that nothing was trained on.
        output: File that gets the calibration, as JSON.
        levels: Of optimisation, two or more.
        options: How source is compiled, but for the level.
        pooling: How functions get vectors; as for `ncc.embed`.
        embedding: As for `ncc.embed`.
        encoder: As for `ncc.embed`.
        min_statements: Functions that are smaller at a level are left out.
        about: What else its file should say, such as the command.
        progress: Called with a line of text after each file.

    Returns:
        The calibration, for `ncc.load_index`.

    Raises:
        InputError: There are fewer than two levels, or than two functions at all of them.
        OutputError: The file can't be written.
    """
    inputs = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    check_writable(None if output is None else Path(output))
    if len(set(levels)) < 2:
        raise InputError(f"levels are {', '.join(levels)}; expected two or more different ones")
    pooler = load_pooler(pooling, embedding, encoder)
    at_level: list[Functions] = [{} for _ in levels]
    found = expand_inputs([os.fspath(one) for one in inputs])
    failed = 0
    for number, item in enumerate(found, 1):
        try:
            if item.error:
                raise InputError(item.error)
            compiled = [
                load_module(
                    item.source,
                    options=replace(options or CompileOptions(), optimization=level),
                    abstraction=pooler.abstraction,
                )
                for level in levels
            ]
        except NccError:
            failed += 1
            continue
        for functions, module in zip(at_level, compiled, strict=True):
            functions.update(_functions(module, pooler, min_statements))
        if progress:
            progress(f"{number} of {len(found)} files")
    names = sorted(set.intersection(*(set(functions) for functions in at_level)))
    if len(names) < 2:
        raise InputError(
            f"{len(names)} functions are there at all levels; expected two or more ({failed} files failed)"
        )
    vectors = [np.stack([functions[name][0] for name in names]) for functions in at_level]
    text = np.array([[functions[name][1] for name in names] for functions in at_level])
    card = {"levels": list(levels), "min_statements": min_statements, "num_files": len(found) - failed}
    made = fit_calibration(pooler.id, vectors, text, **card, **(about or {}))
    if output is not None:
        save_calibration(made, Path(output))
    return made


def _functions(module: Module, pooler: Pooler, min_statements: int) -> Functions:
    """(file, function) → its vector and a number of its statements' text."""
    sizes = np.diff(module.function_start)
    numbers = np.flatnonzero(sizes >= min_statements).tolist()
    vectors = normalised(pooler.vectors(module, numbers))
    functions: Functions = {}
    for number, vector in zip(numbers, vectors, strict=True):
        start, end = module.function_start[number : number + 2].tolist()
        text = "\n".join(map(module.statement_text, range(start, end)))
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7])
        functions[module.name, module.function_names[number]] = vector, digest
    return functions
