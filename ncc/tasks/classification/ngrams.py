"""A linear model on the n-grams of a program, in NumPy, with one byte per weight.

N-grams are runs of one, two and three statements, and statements with their literals, hashed into a fixed number of
buckets.

References: Joulin et al. 2017 ("Bag of tricks for efficient text classification"), who hash runs of words; a statement
is the word here, and its literals give it a second spelling. Fan et al. 2008 (LIBLINEAR, which fits it).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats, Floats32, Ints, Ints32
from ncc.errors import InputError
from ncc.learning.encoder.hashing import mixed
from ncc.learning.programs.table import EncodedProgram

_LARGEST = 127
_LONGEST = 3
_WORD, _LITERAL, _WORD_WITH_LITERAL, _WORD_WITH_LITERALS = (np.uint64(salt) for salt in range(4, 8))

Uint64Array = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """Margins of classes from the n-grams of `hashed_ngrams`.

    Attributes:
        weights: (buckets, num_classes) int8.
        scale: (num_classes,) float32, what the weights of a class are multiplied by.
        bias: (num_classes,) float32.
        rarity: (buckets,) float32, what counts of a bucket are multiplied by; 0 where training has it but once.
    """

    weights: NDArray[np.int8]
    scale: Floats32
    bias: Floats32
    rarity: Floats32

    def __post_init__(self) -> None:
        """Checks shapes and types."""
        buckets, classes = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        shapes = [self.scale.shape, self.bias.shape, self.rarity.shape]
        types = [str(array.dtype) for array in (self.weights, self.scale, self.bias, self.rarity)]
        if types != ["int8", *["float32"] * 3] or shapes != [(classes,), (classes,), (buckets,)] or not buckets:
            raise InputError(f"n-grams with {self.weights.shape} and {shapes}, {types}")

    @classmethod
    def rounded(cls, weights: Floats, bias: Floats, rarity: Floats32) -> Self:
        """Makes a model of (num_classes, buckets) weights, rounded to 1/127 of the largest of each class."""
        scale = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _LARGEST
        whole = np.round(weights / scale[:, None]).astype(np.int8)
        return cls(np.ascontiguousarray(whole.T), scale.astype(np.float32), bias.astype(np.float32), rarity)

    def scores(self, program: EncodedProgram) -> Floats32:
        """Margins of the classes, (num_classes,) float32."""
        start = np.array([0, len(program.words)])
        _, bucket = hashed_ngrams(program.words, start, program.literals, program.literal_start, len(self.weights))
        used, count = np.unique(bucket, return_counts=True)
        value = ngram_values(count, self.rarity[used])
        norm = np.sqrt(value @ value) or np.float32(1)
        return (value / norm) @ self.weights[used].astype(np.float32) * self.scale + self.bias


def ngram_values(count: Ints, rarity: Floats32) -> Floats32:
    """What stands for n-grams that occur so often in a program, before its vector is made as long as 1."""
    return ((1 + np.log(count)) * rarity).astype(np.float32)


def hashed_ngrams(
    words: Ints32,
    start: Ints,
    literals: NDArray[np.uint32],
    literal_start: Ints32 | Ints,
    buckets: int,
) -> tuple[Ints, Ints]:
    """Finds the n-grams of programs that lie one after the other.

    Those are the runs of up to three words, each statement's word with all its literals together, each literal, and
    each literal with its statement's word. No run leaves its program.

    Args:
        words: (m,) int32 word of each statement.
        start: (n + 1,) offsets of the n programs' statements.
        literals: uint32 hashes, as `ncc.learning.programs.table.ProgramTable` holds them.
        literal_start: (m + 1,) offsets of the statements' literals.
        buckets: How many there are, at least 1.

    Returns:
        The program and the bucket of every n-gram, as often as it occurs: two int64 arrays.
    """
    programs = np.repeat(np.arange(len(start) - 1), np.diff(start))
    word = words.astype(np.uint64)
    owner = np.repeat(np.arange(len(words)), np.diff(literal_start))
    literal = literals.astype(np.uint64)
    spelled = mixed(word, _WORD_WITH_LITERALS)
    np.add.at(spelled, owner, mixed(literal, _LITERAL))  # the order of literals is no matter
    found = [
        (programs, spelled),
        (programs[owner], mixed(literal, _LITERAL)),
        (programs[owner], mixed(mixed(word, _WORD_WITH_LITERAL)[owner], literal)),
    ]
    run = mixed(word, _WORD)
    found.append((programs, run))
    for length in range(1, _LONGEST):
        run = mixed(run[:-1], word[length:])
        inside = programs[:-length] == programs[length:]
        found.append((programs[:-length][inside], run[inside]))
    bucket = np.concatenate([hashes for _, hashes in found]) % np.uint64(buckets)
    return np.concatenate([numbers for numbers, _ in found]), bucket.astype(np.int64)
