"""The classifier in NumPy: an answer without importing torch, which takes longer than the answer.

It computes what `ncc.heads.program_lstm.ProgramLSTM` computes in evaluation mode.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.heads.inference import lstm_layer

__all__ = ["ClassPrediction", "ClassifierHead"]

Array = NDArray[np.float32]
_EPSILON = 1e-5


@dataclass(frozen=True)
class ClassPrediction:
    """What a classifier says of a program.

    Attributes:
        probability: (num_classes,) float64, calibrated.
        fits: False where no class fits: the best one's probability is lower than that of all but a few programs of
            known classes.
    """

    probability: NDArray[np.float64]
    fits: bool


@dataclass(frozen=True, eq=False)
class ClassifierHead:
    """A trained classifier of programs.

    Attributes:
        tensors: the network's ``state_dict`` as float32 arrays.
        row: (num_words,) int32 row of the network's vectors for each word of the embedding: those of words that no
            program of the training set used are their nearest neighbours' among those that some did.
        layers: bidirectional LSTM layers.
        classes: names of the classes.
        temperature: what scores are divided by, so that probabilities are right on programs held out.
        threshold: lowest probability of the best class at which a program is taken to be of a known class.
        longest: statements of a program that are read.
        embedding_id: fingerprint of the embedding whose vocabulary the network reads.
        about: data, command and scores, as the card in the JSON file.
    """

    tensors: dict[str, Array]
    row: NDArray[np.int32]
    layers: int
    classes: tuple[str, ...]
    temperature: float
    threshold: float
    longest: int
    embedding_id: str
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks that all tensors are there and fit each other.

        Raises:
            ValueError: one is missing, left over or of a wrong shape, or a number is out of range.
        """
        if self.layers < 1 or self.longest < 1 or not 0 < self.temperature < np.inf or not 0 <= self.threshold <= 1:
            raise ValueError("layers and longest must be 1 or more, temperature above 0, threshold in [0, 1]")
        shapes = self._shapes()
        wrong = [name for name in shapes.keys() | self.tensors.keys() if self._shape(name) != shapes.get(name)]
        if self.row.ndim != 1 or ((self.row < 0) | (self.row >= len(self.tensors["vectors"]))).any():
            wrong.append("row")
        if wrong:
            raise ValueError(f"a classifier of {self.layers} layer(s) with missing, wrong or superfluous {wrong}")

    def _shape(self, name: str) -> tuple[int, ...] | None:
        return self.tensors[name].shape if name in self.tensors else None

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """What the shapes of all tensors should be, by those of some of them."""
        (words, dim), gates = self.tensors["vectors"].shape, len(self.tensors["ahead.0.bias_ih_l0"])
        hidden, dense = gates // 4, len(self.tensors["dense.bias"])
        features, classes = 6 * hidden + 2 * dim, len(self.classes)
        shapes: dict[str, tuple[int, ...]] = {"vectors": (words, dim)}
        if "literals.weight" in self.tensors:
            shapes["literals.weight"] = (len(self.tensors["literals.weight"]), dim)
        for layer in range(self.layers):
            for way in ("ahead", "back"):
                shapes[f"{way}.{layer}.weight_ih_l0"] = (gates, 2 * hidden if layer else dim)
                shapes[f"{way}.{layer}.weight_hh_l0"] = (gates, hidden)
                shapes |= {f"{way}.{layer}.bias_{side}_l0": (gates,) for side in ("ih", "hh")}
        shapes |= {"query.weight": (1, 2 * hidden), "query.bias": (1,)}
        shapes |= {f"norm.{name}": (features,) for name in ("weight", "bias")}
        shapes |= {"dense.weight": (dense, features), "dense.bias": (dense,)}
        return shapes | {"output.weight": (classes, dense), "output.bias": (classes,)}

    @property
    def buckets(self) -> int:
        """Rows of the table that literals are hashed into; 0 where none are read."""
        return len(self.tensors["literals.weight"]) if "literals.weight" in self.tensors else 0

    def predict(
        self, words: NDArray[np.int32], literals: NDArray[np.uint32], literal_start: NDArray[np.int32]
    ) -> ClassPrediction:
        """Classifies a program.

        Args:
            words: (m,) int32 words of the embedding for the program's statements, m at least 1.
            literals: uint32 hashes of literals, as `ncc.programs.Program` holds them.
            literal_start: (m + 1,) int32 offsets of the statements' literals.
        """
        scores = self.scores(words, literals, literal_start).astype(np.float64) / self.temperature
        exponent = np.exp(scores - scores.max())
        probability = exponent / exponent.sum()
        return ClassPrediction(probability, bool(probability.max() >= self.threshold))

    def scores(self, words: NDArray[np.int32], literals: NDArray[np.uint32], literal_start: NDArray[np.int32]) -> Array:
        """The network's outputs, (num_classes,) float32; arguments as for `predict`."""
        t = self.tensors
        words = words[: self.longest]
        features = t["vectors"][self.row[words]].astype(np.float32)
        if self.buckets:
            end = int(literal_start[len(words)])
            owner = np.repeat(np.arange(len(words)), np.diff(literal_start[: len(words) + 1]))
            np.add.at(features, owner, t["literals.weight"][literals[:end] % self.buckets])
        pooled = [features.mean(axis=0), features.max(axis=0)]
        for layer in range(self.layers):
            ahead = self._layer(features, f"ahead.{layer}")
            back = self._layer(features[::-1], f"back.{layer}")[::-1]
            features = np.concatenate([ahead, back], axis=1)
        weight = np.tanh(features) @ t["query.weight"][0]
        weight = np.exp(weight - weight.max())
        pooled += [features.mean(axis=0), features.max(axis=0), weight @ features / weight.sum()]
        state = np.concatenate(pooled)
        state = (state - state.mean()) / np.sqrt(state.var() + _EPSILON) * t["norm.weight"] + t["norm.bias"]
        state = np.maximum(t["dense.weight"] @ state + t["dense.bias"], 0)
        return (t["output.weight"] @ state + t["output.bias"]).astype(np.float32)

    def _layer(self, inputs: Array, name: str) -> Array:
        matrices = [self.tensors[f"{name}.weight_{side}_l0"] for side in ("ih", "hh")]
        bias = self.tensors[f"{name}.bias_ih_l0"] + self.tensors[f"{name}.bias_hh_l0"]
        return lstm_layer(inputs, matrices[0], matrices[1], bias)
