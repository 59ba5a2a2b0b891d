"""The LSTM head's forward pass in NumPy: an answer without importing torch, which takes longer than the answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NumpyLSTMHead", "lstm_layer"]

Array = NDArray[np.float32]


def _sigmoid(x: Array) -> Array:
    return (0.5 * (1.0 + np.tanh(0.5 * x))).astype(np.float32)


def lstm_layer(inputs: Array, weight_ih: Array, weight_hh: Array, bias: Array) -> Array:
    """One direction of one LSTM layer, from the state 0: (time, hidden) float32 states.

    Args:
        inputs: (time, dim) float32.
        weight_ih: (4 * hidden, dim) float32, in torch's order of gates: input, forget, candidate, output.
        weight_hh: (4 * hidden, hidden) float32.
        bias: (4 * hidden,) float32, both of torch's together.
    """
    driven = inputs @ weight_ih.T + bias
    recurrent = np.ascontiguousarray(weight_hh.T)
    hidden = len(recurrent)
    state, cell = np.zeros(hidden, np.float32), np.zeros(hidden, np.float32)
    out = np.empty((len(inputs), hidden), np.float32)
    for step, drive in enumerate(driven):
        gates = drive + state @ recurrent
        opening = _sigmoid(gates)
        candidate = np.tanh(gates[2 * hidden : 3 * hidden])
        cell = opening[hidden : 2 * hidden] * cell + opening[:hidden] * candidate
        state = opening[3 * hidden :] * np.tanh(cell)
        out[step] = state
    return out


@dataclass(frozen=True)
class NumpyLSTMHead:
    """A trained `LSTMHead` in evaluation mode.

    Attributes:
        tensors: The head's ``state_dict`` as float32 arrays.
        layers: LSTM layers.
    """

    tensors: dict[str, Array]
    layers: int

    def __post_init__(self) -> None:
        """Checks that all tensors are there and fit each other.

        Raises:
            ValueError: One is missing, left over or of a wrong shape.
        """
        shapes = self._shapes()
        wrong = [
            name for name, shape in shapes.items() if name not in self.tensors or self.tensors[name].shape != shape
        ]
        wrong += [name for name in self.tensors if name.startswith("lstm.") and name not in shapes]
        if wrong:
            raise ValueError(f"an LSTM head of {self.layers} layer(s) with missing, wrong or superfluous {wrong}")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """What the shapes of all tensors should be, by those of some of them."""
        (gates, dim), (dense, features) = (self.tensors[name].shape for name in ("lstm.weight_ih_l0", "dense.weight"))
        hidden, outputs = gates // 4, len(self.tensors["output.bias"])
        shapes: dict[str, tuple[int, ...]] = {"dense.weight": (dense, features), "dense.bias": (dense,)}
        shapes |= {"output.weight": (outputs, dense), "output.bias": (outputs,)}
        shapes |= {f"norm.{name}": (features,) for name in ("weight", "bias", "running_mean", "running_var")}
        for layer in range(self.layers):
            shapes[f"lstm.weight_ih_l{layer}"] = (4 * hidden, hidden if layer else dim)
            shapes[f"lstm.weight_hh_l{layer}"] = (4 * hidden, hidden)
            shapes |= {f"lstm.bias_{side}_l{layer}": (4 * hidden,) for side in ("ih", "hh")}
        return shapes

    def encode(self, vectors: Array) -> Array:
        """Last state, mean and maximum over time of one sequence of vectors: (3 * hidden,) float32.

        Args:
            vectors: (time, dim) float32, time at least 1.
        """
        out = vectors
        for layer in range(self.layers):
            out = self._layer(out, layer)
        return np.concatenate([out[-1], out.mean(axis=0), out.max(axis=0)])

    def _layer(self, inputs: Array, layer: int) -> Array:
        bias = self.tensors[f"lstm.bias_ih_l{layer}"] + self.tensors[f"lstm.bias_hh_l{layer}"]
        return lstm_layer(
            inputs, self.tensors[f"lstm.weight_ih_l{layer}"], self.tensors[f"lstm.weight_hh_l{layer}"], bias
        )

    def outputs(self, encoded: Array, auxiliary: Array) -> Array:
        """Outputs for one encoded sequence under several auxiliary inputs: (samples, num_outputs) float32.

        Args:
            encoded: (3 * hidden,) float32 from `encode`.
            auxiliary: (samples, num_auxiliary) float32, standardised as in training.
        """
        t = self.tensors
        features = np.concatenate([np.broadcast_to(encoded, (len(auxiliary), len(encoded))), auxiliary], axis=1)
        scale = t["norm.weight"] / np.sqrt(t["norm.running_var"] + 1e-5)
        features = (features - t["norm.running_mean"]) * scale + t["norm.bias"]
        hidden = np.maximum(features @ t["dense.weight"].T + t["dense.bias"], 0)
        return (hidden @ t["output.weight"].T + t["output.bias"]).astype(np.float32)
