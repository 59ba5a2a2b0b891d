"""How many statements of code or corpora a vocabulary has exactly, and which it misses most."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ncc.errors import InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.inputs import find_inputs, load_module
from ncc.ir.reader.abstraction import Abstraction
from ncc.learning.embedding.backoff import Backoff
from ncc.learning.embedding.counts import load_counts
from ncc.learning.embedding.train import load_abstraction
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc.system.files.text import align_columns
from ncc.system.workers.failures import summarize_failure


@dataclass(frozen=True)
class Miss:
    """A statement that is not a word itself."""

    text: str
    count: int
    level: str
    fallback: str


@dataclass(frozen=True)
class Coverage:
    """Coverage of statements by a vocabulary."""

    num_words: int
    num_statements: int
    num_distinct: int
    by_level: dict[str, int]
    num_unknown: int
    misses: tuple[Miss, ...]
    failures: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Coverage({self.num_statements} statements, {self.exact_rate:.1%} as they stand)"

    @property
    def exact_rate(self) -> float:
        """Fraction of statements that are words; 1 if there are no statements."""
        return self.by_level["exact"] / self.num_statements if self.num_statements else 1.0

    @property
    def backoff_rate(self) -> float:
        """Fraction of statements that are words or have a generalized form that is; 1 if there are no statements."""
        return 1 - self.num_unknown / self.num_statements if self.num_statements else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and texts only, for JSON; rates as fractions."""
        return {**asdict(self), "exact_rate": self.exact_rate, "backoff_rate": self.backoff_rate}

    def to_text(self) -> str:
        """Return a table for people: levels, then the most frequent misses."""
        total = max(self.num_statements, 1)
        levels = [(f"  {name}", f"{count:,}", f"{count / total:.1%}") for name, count in self.by_level.items()]
        lines = [
            f"{self.num_statements:,} statements, {self.num_distinct:,} different",
            f"words as they stand: {self.exact_rate:.1%}, with back-off: {self.backoff_rate:.1%}",
            *align_columns(levels),
        ]
        if self.misses:
            lines.append("most frequent statements that are not words, and what stands for them:")
            missed = [(f"{miss.count:,}", f"{miss.text}  →  {miss.fallback} ({miss.level})") for miss in self.misses]
            lines += [f"  {line}" for line in align_columns(missed, left=(1,))]
        return "\n".join(lines)


def measure_coverage(statement_counts: Mapping[str, int], vocabulary: Vocabulary, *, num_misses: int = 20) -> Coverage:
    """Look up statements and count how far each had to be generalized."""
    if num_misses < 0:
        raise InputError(f"num_misses is {num_misses}; expected 0 or more")
    word, level = vocabulary.encode(statement_counts)
    counts = np.fromiter(statement_counts.values(), np.int64, len(statement_counts))
    by_level = {member.name.lower(): int(counts[level == member].sum()) for member in Backoff}
    unknown = (word == len(vocabulary) - 1) & (level != Backoff.EXACT)
    texts = list(statement_counts)
    missed = np.flatnonzero((level != Backoff.EXACT) & (counts > 0)).tolist()
    missed.sort(key=lambda row: (-int(counts[row]), texts[row]))
    misses = (
        Miss(texts[row], int(counts[row]), Backoff(int(level[row])).name.lower(), vocabulary.words[word[row]])
        for row in missed[:num_misses]
    )
    return Coverage(len(vocabulary), int(counts.sum()), len(texts), by_level, int(counts[unknown].sum()), tuple(misses))


def count_statements(
    inputs: Sequence[str], abstraction: Abstraction, options: CompileOptions | None
) -> tuple[Counter[str], dict[str, str]]:
    """Count the statements of code and corpora; return also why files could not be read, by name."""
    total: Counter[str] = Counter()
    failures: dict[str, str] = {}
    for name in inputs:
        if Path(name, "report.json").is_file() and (widths := sorted(Path(name).glob("width-*"))):
            total.update(_corpus_counts(name, widths[0], abstraction))
            continue
        for item in find_inputs([str(name)]):
            try:
                if item.error:
                    raise InputError(item.error)
                module = load_module(item.source, options=options, abstraction=abstraction)
            except NccError as error:
                failures[item.name] = str(error)
                continue
            except Exception as error:  # whatever it is, it is this input's alone
                failures[item.name] = summarize_failure(item.name, error)
                continue
            seen = np.bincount(module.text_id, minlength=len(module.texts)).tolist()
            total.update(dict(zip(module.texts, seen, strict=True)))
    return total, failures


def _corpus_counts(name: str, width: Path, abstraction: Abstraction) -> dict[str, int]:
    """Return how often each statement of a corpus that `build_corpus` made occurs."""
    found = load_abstraction([name])
    if found != abstraction:
        raise InputError(f"{name}: was counted with another abstraction of statements than the embedding has")
    counts = load_counts(width)
    return dict(zip(counts.texts, counts.statements.tolist(), strict=True))
