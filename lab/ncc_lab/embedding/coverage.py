"""How many statements of a program or corpus a vocabulary has exactly, and which it misses most."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ncc.errors import InputError
from ncc.ir.frontend.options import CompileOptions
from ncc.learning.embedding.backoff import BackoffLevel
from ncc.learning.embedding.embedding import AnyEmbedding, load_embedding
from ncc.learning.embedding.vocabulary import Vocabulary
from ncc.system.files.pages import html_table
from ncc.system.files.text import align_columns
from ncc_lab.embedding.corpus_statements import count_statements


@dataclass(frozen=True)
class Miss:
    """A statement that is not a word itself.

    Attributes:
        text: The abstracted statement.
        count: Times seen.
        level: How far it had to be generalised, by the name of the `BackoffLevel`.
        fallback: The word that stands for it.
    """

    text: str
    count: int
    level: str
    fallback: str


@dataclass(frozen=True)
class Coverage:
    """What of some statements a vocabulary covers.

    Attributes:
        num_statements: Statements, each as often as seen.
        num_distinct: Different statements.
        by_level: Statements found at each level of back-off, by its name.
        num_unknown: Of these, statements for which nothing but the last word stands, which says nothing of them.
        misses: The most frequent statements that are not words themselves.
        failures: File → reason, of those that could not be read.
        by_compiler: Compiler → statements of its modules, and the share of them that are words as they stand.
    """

    num_statements: int
    num_distinct: int
    by_level: dict[str, int]
    num_unknown: int
    misses: tuple[Miss, ...]
    failures: dict[str, str] = field(default_factory=dict)
    by_compiler: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Coverage({self.num_statements} statements, {self.exact_rate:.1%} as they stand)"

    @property
    def exact_rate(self) -> float:
        """Share of statements that are words as they stand; 1 where there are none."""
        return self.by_level["exact"] / self.num_statements if self.num_statements else 1.0

    @property
    def backoff_rate(self) -> float:
        """Share of statements that are words or have a generalised form that is; 1 where there are none.

        It is 1 for every vocabulary that `build_vocabulary` made, as long as LLVM has no new opcodes.
        """
        return 1 - self.num_unknown / self.num_statements if self.num_statements else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Numbers and texts only, for JSON; rates as shares."""
        return {
            **asdict(self),
            "exact_rate": self.exact_rate,
            "backoff_rate": self.backoff_rate,
            "misses": [asdict(miss) for miss in self.misses],
        }

    def _repr_html_(self) -> str:
        levels = ((level, f"{count:,}") for level, count in self.by_level.items())
        missed = ((f"{miss.count:,}", miss.text, miss.fallback, miss.level) for miss in self.misses)
        return html_table(repr(self), ("back-off", "statements"), levels) + (
            html_table("Most frequent misses", ("seen", "statement", "stands for it", "back-off"), missed)
        )

    def to_text(self) -> str:
        """A table for people: levels, then the most frequent misses."""
        lines = [
            f"{self.num_statements:,} statements, {self.num_distinct:,} different",
            f"words as they stand: {self.exact_rate:.1%}, with back-off: {self.backoff_rate:.1%}",
        ]
        shares = {level: count / max(self.num_statements, 1) for level, count in self.by_level.items()}
        rows = [(f"  {level}", f"{count:,}", f"{shares[level]:.1%}") for level, count in self.by_level.items()]
        lines += align_columns(rows)
        if self.by_compiler:
            lines.append("words as they stand, by the compiler that made the code:")
            made = [(f"  {name}", f"{count:,}", f"{share:.1%}") for name, (count, share) in self.by_compiler.items()]
            lines += align_columns(made)
        if self.misses:
            lines.append("most frequent statements that are not words, and what stands for them:")
            missed = [(f"{miss.count:,}", f"{miss.text}  →  {miss.fallback} ({miss.level})") for miss in self.misses]
            lines += [f"  {line}" for line in align_columns(missed, left=(1,))]
        return "\n".join(lines)


def measure_coverage(statement_counts: Mapping[str, int], vocabulary: Vocabulary, *, num_misses: int = 20) -> Coverage:
    """Looks up statements and counts how far each had to be generalised."""
    if num_misses < 0:
        raise InputError(f"num_misses is {num_misses}; expected 0 or more")
    negative = next((text for text, count in statement_counts.items() if count < 0), None)
    if negative is not None:
        raise InputError(f"count of {negative!r} is {statement_counts[negative]}; expected 0 or more")
    word, level = vocabulary.encode(statement_counts)
    counts = np.fromiter(statement_counts.values(), np.int64, len(statement_counts))
    by_level = {member.name.lower(): int(counts[level == member].sum()) for member in BackoffLevel}
    unknown = (word == len(vocabulary) - 1) & (level != BackoffLevel.EXACT)
    texts = list(statement_counts)
    missed = np.flatnonzero((level != BackoffLevel.EXACT) & (counts > 0)).tolist()
    missed.sort(key=lambda at: (-int(counts[at]), texts[at]))
    misses = (
        Miss(texts[at], int(counts[at]), BackoffLevel(int(level[at])).name.lower(), vocabulary.words[word[at]])
        for at in missed[:num_misses]
    )
    return Coverage(int(counts.sum()), len(texts), by_level, int(counts[unknown].sum()), tuple(misses))


def evaluate_coverage(
    inputs: Sequence[str],
    *,
    embedding: AnyEmbedding | None = None,
    misses: int = 20,
    options: CompileOptions | None = None,
) -> Coverage:
    """Counts how many statements of code an embedding has exactly, and how far the others back off.

    Args:
        inputs: Files, folders and globs, and folders of corpora that `build_corpus` made.
        embedding: Default the one that ships with ncc.
        misses: Number of the most frequent misses to list.
        options: How source is compiled.

    Returns:
        The counts; files that could not be read are named in ``failures``.

    Raises:
        InputError: ``misses`` is negative, or a corpus was counted with another abstraction.
        AssetError: A corpus is damaged.
    """
    embedding = load_embedding(embedding)
    found = count_statements(inputs, abstraction=embedding.abstraction, options=options)
    coverage = measure_coverage(found.counts, embedding.vocabulary, num_misses=misses)
    by_compiler = {}
    for compiler, counts in sorted(found.by_compiler.items()):
        one = measure_coverage(counts, embedding.vocabulary, num_misses=0)
        by_compiler[compiler] = (one.num_statements, one.exact_rate)
    return replace(coverage, failures=found.failures, by_compiler=by_compiler)
