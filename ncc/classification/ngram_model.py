"""A linear model on the n-grams of a program, in NumPy: one byte a weight.

References: Joulin et al. 2017 (hashed n-grams, linear), Fan et al. 2008 (LIBLINEAR, which fits it).
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ncc.classification.ngrams import hashed_ngrams
from ncc.encoder.program import EncodedProgram
from ncc.errors import InputError

__all__ = ["NgramModel", "ngram_values"]

_LARGEST = 127


@dataclass(frozen=True, eq=False)
class NgramModel:
    """Margins of classes from the n-grams of `ncc.classification.ngrams.hashed_ngrams`.

    Attributes:
        weights: (buckets, num_classes) int8.
        scale: (num_classes,) float32, what the weights of a class are multiplied by.
        bias: (num_classes,) float32.
        rarity: (buckets,) float32, what counts of a bucket are multiplied by; 0 where training has it but once.
    """

    weights: NDArray[np.int8]
    scale: NDArray[np.float32]
    bias: NDArray[np.float32]
    rarity: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Checks shapes and types.

        Raises:
            InputError: They do not fit each other.
        """
        buckets, classes = self.weights.shape if self.weights.ndim == 2 else (0, 0)
        shapes = [self.scale.shape, self.bias.shape, self.rarity.shape]
        types = [str(array.dtype) for array in (self.weights, self.scale, self.bias, self.rarity)]
        if types != ["int8", *["float32"] * 3] or shapes != [(classes,), (classes,), (buckets,)] or not buckets:
            raise InputError(f"n-grams with {self.weights.shape} and {shapes}, {types}")

    @classmethod
    def rounded(cls, weights: NDArray[np.float64], bias: NDArray[np.float64], rarity: NDArray[np.float32]) -> Self:
        """Makes a model of (num_classes, buckets) weights, rounded to 1/127 of the largest of each class."""
        scale = np.maximum(np.abs(weights).max(axis=1), np.finfo(np.float32).tiny) / _LARGEST
        whole = np.round(weights / scale[:, None]).astype(np.int8)
        return cls(np.ascontiguousarray(whole.T), scale.astype(np.float32), bias.astype(np.float32), rarity)

    def scores(self, program: EncodedProgram) -> NDArray[np.float32]:
        """Margins of the classes, (num_classes,) float32."""
        start = np.array([0, len(program.words)])
        _, bucket = hashed_ngrams(program.words, start, program.literals, program.literal_start, len(self.weights))
        used, count = np.unique(bucket, return_counts=True)
        value = ngram_values(count, self.rarity[used])
        norm = np.sqrt(value @ value) or np.float32(1)
        return (value / norm) @ self.weights[used].astype(np.float32) * self.scale + self.bias


def ngram_values(count: NDArray[np.int64], rarity: NDArray[np.float32]) -> NDArray[np.float32]:
    """What stands for n-grams that occur so often in a program, before its vector is made as long as 1."""
    return ((1 + np.log(count)) * rarity).astype(np.float32)
