"""The network of `ncc.encoder.program_lstm.ProgramLSTM` in NumPy, in evaluation mode.

An answer without importing torch, which takes longer than the answer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ncc.encoder.encoded_program import EncodedProgram
from ncc.encoder.inference import lstm_layer

__all__ = ["ProgramNetwork"]

Array = NDArray[np.float32]
_EPSILON = 1e-5


@dataclass(frozen=True, eq=False)
class ProgramNetwork:
    """A trained network.

    Attributes:
        tensors: The network's ``state_dict`` as float32 arrays.
        row: (num_words,) int32 row of the network's vectors for each word of the embedding: those of words that no
            program of the training set used are their nearest neighbours' among those that some did.
        layers: Bidirectional LSTM layers.
        longest: Statements of a program that are read.
    """

    tensors: dict[str, Array]
    row: NDArray[np.int32]
    layers: int
    longest: int

    def __post_init__(self) -> None:
        """Checks that all tensors are there and fit each other.

        Raises:
            ValueError: One is missing, left over or of a wrong shape, or a number is out of range.
        """
        if self.layers < 1 or self.longest < 1:
            raise ValueError("layers and longest must be 1 or more")
        shapes = self._shapes()
        wrong = [name for name in shapes.keys() | self.tensors.keys() if self._shape(name) != shapes.get(name)]
        if self.row.ndim != 1 or ((self.row < 0) | (self.row >= len(self.tensors["vectors"]))).any():
            wrong.append("row")
        if wrong:
            raise ValueError(f"a network of {self.layers} layer(s) with missing, wrong or superfluous {wrong}")

    @property
    def num_classes(self) -> int:
        """Outputs."""
        return len(self.tensors["output.bias"])

    @property
    def hidden(self) -> int:
        """Units of each direction of each layer."""
        return len(self.tensors["ahead.0.bias_ih_l0"]) // 4

    @property
    def dense(self) -> int:
        """Units of the layer before the classes."""
        return len(self.tensors["dense.bias"])

    def _shape(self, name: str) -> tuple[int, ...] | None:
        return self.tensors[name].shape if name in self.tensors else None

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """What the shapes of all tensors should be, by those of some of them."""
        (words, dim), hidden, dense = self.tensors["vectors"].shape, self.hidden, self.dense
        gates, features, classes = 4 * hidden, 6 * hidden + 2 * dim, self.num_classes
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

    def scores(self, program: EncodedProgram) -> Array:
        """The network's outputs, (num_classes,) float32."""
        t = self.tensors
        words, literals, literal_start = program
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
