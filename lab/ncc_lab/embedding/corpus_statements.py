"""Statements of code and of built corpora, with how often each occurs; coverage is measured on these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import find_inputs, load_module
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.counts import load_counts
from ncc.learning.embedding.train import load_abstraction
from ncc.system.workers.failures import summarize_failure


@dataclass(frozen=True)
class StatementCounts:
    """Abstracted statements and how often each was seen.

    Attributes:
        counts: Of all inputs.
        by_compiler: Compiler that a module names → those of its modules.
        failures: Input → reason, of those that could not be read.
    """

    counts: Counter[str] = field(default_factory=Counter)
    by_compiler: dict[str, Counter[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


def count_statements(
    inputs: Sequence[str], *, abstraction: Abstraction | None = None, options: CompileOptions | None = None
) -> StatementCounts:
    """Counts the statements of files, folders and globs, and of folders that `build_corpus` made."""
    abstraction = abstraction or Abstraction()
    result = StatementCounts()
    for name in inputs:
        widths = sorted(Path(name).glob("width-*")) if Path(name, "report.json").is_file() else []
        if widths:
            found = load_abstraction([name])
            if found != abstraction:
                raise InputError(f"{name}: was counted with {found}; the embedding has {abstraction}")
            counts = load_counts(widths[0])
            result.counts.update(dict(zip(counts.texts, counts.statements.tolist(), strict=True)))
            continue
        for item in find_inputs([str(name)]):
            try:
                if item.error:
                    raise InputError(item.error)
                module = load_module(item.source, options=options, abstraction=abstraction)
            except NccError as error:
                result.failures[item.name] = str(error)
                continue
            except Exception as error:  # whatever it is, it is this input's alone
                result.failures[item.name] = summarize_failure(item.name, error)
                continue
            seen = np.bincount(module.text_id, minlength=len(module.texts)).tolist()
            statements = dict(zip(module.texts, seen, strict=True))
            result.counts.update(statements)
            if module.compiler:
                result.by_compiler.setdefault(module.compiler, Counter()).update(statements)
    return result
