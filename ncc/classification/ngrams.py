"""Runs of one, two and three statements, and statements with their literals, hashed into a fixed number of buckets.

Reference: Joulin et al. 2017 ("Bag of tricks for efficient text classification"), who hash runs of words; a statement
is the word here, and its literals give it a second spelling.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["hashed_ngrams"]

_LONGEST = 3
_WORD, _LITERAL, _WORD_WITH_LITERAL, _WORD_WITH_LITERALS = (np.uint64(salt) for salt in range(4, 8))
_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFTS = (np.uint64(29), np.uint64(32))

Uint64Array = NDArray[np.uint64]


def hashed_ngrams(
    words: NDArray[np.int32],
    start: NDArray[np.int64],
    literals: NDArray[np.uint32],
    literal_start: NDArray[np.int32] | NDArray[np.int64],
    buckets: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Finds the n-grams of programs that lie one after the other.

    Those are the runs of up to three words, each statement's word with all its literals together, each literal, and
    each literal with its statement's word. No run leaves its program.

    Args:
        words: (m,) int32 word of each statement.
        start: (n + 1,) offsets of the n programs' statements.
        literals: uint32 hashes, as `ncc.encoder.program.Program` holds them.
        literal_start: (m + 1,) offsets of the statements' literals.
        buckets: How many there are, at least 1.

    Returns:
        The program and the bucket of every n-gram, as often as it occurs: two int64 arrays.
    """
    programs = np.repeat(np.arange(len(start) - 1), np.diff(start))
    word = words.astype(np.uint64)
    owner = np.repeat(np.arange(len(words)), np.diff(literal_start))
    literal = literals.astype(np.uint64)
    spelled = _hash(word, _WORD_WITH_LITERALS)
    np.add.at(spelled, owner, _hash(literal, _LITERAL))  # the order of literals is no matter
    found = [
        (programs, spelled),
        (programs[owner], _hash(literal, _LITERAL)),
        (programs[owner], _hash(_hash(word, _WORD_WITH_LITERAL)[owner], literal)),
    ]
    run = _hash(word, _WORD)
    found.append((programs, run))
    for length in range(1, _LONGEST):
        run = _hash(run[:-1], word[length:])
        inside = programs[:-length] == programs[length:]
        found.append((programs[:-length][inside], run[inside]))
    bucket = np.concatenate([hashes for _, hashes in found]) % np.uint64(buckets)
    return np.concatenate([numbers for numbers, _ in found]), bucket.astype(np.int64)


def _hash(first: Uint64Array, second: Uint64Array | np.uint64) -> Uint64Array:
    """Two numbers as one, their bits well mixed; overflow is meant."""
    mixed: Uint64Array = first * _FACTORS[0] ^ (second + _FACTORS[0])
    mixed ^= mixed >> _SHIFTS[0]
    mixed *= _FACTORS[1]
    mixed ^= mixed >> _SHIFTS[1]
    return mixed
