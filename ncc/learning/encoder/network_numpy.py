"""The LSTM encoder and its head in NumPy, because importing torch takes longer than the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints32
from ncc.errors import AssetError, InputError
from ncc.learning.encoder.config import EncoderConfig, Pooling

Shapes = dict[str, tuple[int, ...]]

_EPSILON = 1e-5
_HEAD = ("norm.", "dense.", "output.", "code_output.")


@dataclass(frozen=True, eq=False)
class NumpyEncoder:
    """A trained `ncc.learning.encoder.network.Encoder`, without the vectors of statements.

    Attributes:
        tensors: What was learnt, by torch's names, float32.
        config: Sizes and parts.
    """

    tensors: dict[str, Floats32]
    config: EncoderConfig

    def __post_init__(self) -> None:
        """Checks that all tensors are there and fit each other."""
        if self.config.layers > len(self.tensors):  # before a shape is worked out for every layer
            raise InputError(f"an encoder of {self.config.layers} layers")
        _check_shapes(self.tensors, self._shapes())

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it reads."""
        return int(self.tensors["ahead.0.weight_ih_l0"].shape[1])

    @property
    def vector_size(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.config.vector_size(self.dim)

    def _shapes(self) -> Shapes:
        """What the shapes of all tensors should be, by the sizes and the first of them."""
        config, dim = self.config, self.dim
        gates, states = 4 * config.hidden, config.num_states
        shapes: Shapes = {"literals.weight": (config.buckets, dim)} if config.buckets else {}
        for layer in range(config.layers):
            for way in ("ahead", "back") if config.bidirectional else ("ahead",):
                shapes[f"{way}.{layer}.weight_ih_l0"] = (gates, states if layer else dim)
                shapes[f"{way}.{layer}.weight_hh_l0"] = (gates, config.hidden)
                shapes |= {f"{way}.{layer}.bias_{side}_l0": (gates,) for side in ("ih", "hh")}
        if "attention" in config.pooling:
            shapes |= {"query.weight": (1, states), "query.bias": (1,)}
        return shapes

    def encode(
        self,
        vectors: Floats32,
        literals: NDArray[np.uint32] | None = None,
        literal_start: Ints32 | None = None,
    ) -> Floats32:
        """The vector of one sequence, (vector_size,) float32.

        Args:
            vectors: (time, dim) float32 of its statements, time at least 1.
            literals: uint32 hashes, as `ProgramTable` holds them; None where there are none.
            literal_start: (time + 1,) int32 offsets of the statements' literals.
        """
        features = vectors
        if self.config.buckets and literals is not None and literal_start is not None:
            features = vectors.copy()
            owner = np.repeat(np.arange(len(vectors)), np.diff(literal_start))
            table = self.tensors["literals.weight"]
            np.add.at(features, owner, table[literals[: literal_start[-1]] % self.config.buckets])
        pooled = [features.mean(axis=0), features.max(axis=0)] if self.config.pool_inputs else []
        for layer in range(self.config.layers):
            ahead = self._layer(features, f"ahead.{layer}")
            if self.config.bidirectional:
                back = self._layer(features[::-1], f"back.{layer}")[::-1]
                features = np.concatenate([ahead, back], axis=1)
            else:
                features = ahead
        return np.concatenate([*pooled, *(self._pool(kind, features) for kind in self.config.pooling)])

    def _layer(self, inputs: Floats32, name: str) -> Floats32:
        matrices = [self.tensors[f"{name}.weight_{side}_l0"] for side in ("ih", "hh")]
        bias = self.tensors[f"{name}.bias_ih_l0"] + self.tensors[f"{name}.bias_hh_l0"]
        return _lstm_layer(inputs, matrices[0], matrices[1], bias)

    def _pool(self, kind: Pooling, features: Floats32) -> Floats32:
        if kind == "mean":
            return np.asarray(features.mean(axis=0))
        if kind == "max":
            return np.asarray(features.max(axis=0))
        if kind == "last":  # the other direction ends where the sequence begins
            hidden = self.config.hidden
            return np.concatenate([features[-1, :hidden], features[0, hidden:]])
        weight = np.tanh(features) @ self.tensors["query.weight"][0]
        weight = np.exp(weight - weight.max())
        return np.asarray(weight @ features / weight.sum())


@dataclass(frozen=True, eq=False)
class NumpyHead:
    """A trained `ncc.learning.encoder.network.Head` in evaluation mode.

    Attributes:
        tensors: What was learnt, by torch's names, float32; what was there for training alone may be missing.
        vector_size: Number of dimensions of the vectors that it reads.
    """

    tensors: dict[str, Floats32]
    vector_size: int

    def __post_init__(self) -> None:
        """Checks that all tensors are there and fit each other."""
        (dense, features), outputs = self.tensors["dense.weight"].shape, self.num_outputs
        norms = ["weight", "bias", *(["running_mean", "running_var"] if self._over_batch else [])]
        shapes: Shapes = {f"norm.{name}": (features,) for name in norms}
        shapes |= {"dense.weight": (dense, features), "dense.bias": (dense,)}
        shapes |= {"output.weight": (outputs, dense), "output.bias": (outputs,)}
        _check_shapes(self.tensors, shapes)
        if features < self.vector_size:
            raise InputError(f"a head on {features} features, of which {self.vector_size} are the encoder's")
        if self._over_batch and not (self.tensors["norm.running_var"] >= 0).all():
            raise InputError("a variance is below 0")

    @property
    def num_outputs(self) -> int:
        """Outputs for each sample."""
        return len(self.tensors["output.bias"])

    @property
    def num_auxiliary(self) -> int:
        """Numbers that it takes beside the encoder's vector."""
        return int(self.tensors["dense.weight"].shape[1]) - self.vector_size

    @property
    def _over_batch(self) -> bool:
        return "norm.running_mean" in self.tensors

    def outputs(self, vector: Floats32, auxiliary: Floats32 | None = None) -> Floats32:
        """Outputs for one sequence under several auxiliary inputs: (samples, num_outputs) float32.

        Args:
            vector: (vector_size,) float32, from `NumpyEncoder.encode`.
            auxiliary: (samples, num_auxiliary) float32, standardised as in training; None stands for one sample.
        """
        t = self.tensors
        features = vector[None, :]
        if auxiliary is not None:
            features = np.concatenate([np.broadcast_to(vector, (len(auxiliary), len(vector))), auxiliary], axis=1)
        if self._over_batch:
            scale = t["norm.weight"] / np.sqrt(t["norm.running_var"] + _EPSILON)
            features = (features - t["norm.running_mean"]) * scale + t["norm.bias"]
        else:
            mean, variance = features.mean(axis=1, keepdims=True), features.var(axis=1, keepdims=True)
            features = (features - mean) / np.sqrt(variance + _EPSILON) * t["norm.weight"] + t["norm.bias"]
        state = np.maximum(features @ t["dense.weight"].T + t["dense.bias"], 0)
        return (state @ t["output.weight"].T + t["output.bias"]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class NumpyNetwork:
    """A trained `ncc.learning.encoder.network.EncoderNetwork`, without the vectors of statements."""

    encoder: NumpyEncoder
    head: NumpyHead

    def __post_init__(self) -> None:
        """Check that the head reads the encoder's vectors."""
        if self.head.vector_size != self.encoder.vector_size:
            raise InputError(f"a head on vectors of {self.head.vector_size}, not of {self.encoder.vector_size}")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats32], config: EncoderConfig) -> Self:
        """Takes what ``EncoderNetwork.to_arrays`` gave; of the outputs those that are for training alone are left out.

        Raises:
            InputError: A tensor is missing, left over or of a wrong shape.
        """
        head = {name: array for name, array in arrays.items() if name.startswith(_HEAD)}
        encoder = NumpyEncoder(
            {name: array for name, array in arrays.items() if name not in head and name != "vectors"}, config
        )
        kept = {name: array for name, array in head.items() if not name.startswith("code_output.")}
        return cls(encoder, NumpyHead(kept, encoder.vector_size))

    @property
    def tensors(self) -> dict[str, Floats32]:
        """All that was learnt, by torch's names."""
        return self.encoder.tensors | self.head.tensors


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Networks that were trained alike but for their seeds, on vectors of statements that are not theirs.

    Attributes:
        members: One or more.
    """

    members: tuple[NumpyNetwork, ...]

    def rescaled(self, mean: Floats32, scale: Floats32) -> Self:
        """The same networks, whose outputs are `mean` + `scale` × what they were, (num_outputs,) float32 each."""

        def rescale(member: NumpyNetwork) -> NumpyNetwork:
            tensors = dict(member.head.tensors)
            tensors["output.weight"] = tensors["output.weight"] * scale[:, None]
            tensors["output.bias"] = tensors["output.bias"] * scale + mean
            return replace(member, head=replace(member.head, tensors=tensors))

        return replace(self, members=tuple(rescale(member) for member in self.members))

    def encode(self, vectors: Floats32) -> Floats32:
        """The members' vectors of one sequence, (members, vector_size) float32, from its statements' (time, dim).

        Raises:
            AssetError: They read vectors of another number of dimensions.
        """
        for dim in {member.encoder.dim for member in self.members} - {vectors.shape[1]}:
            raise AssetError(
                f"the head's networks read vectors of {dim} dimensions, but the embedding's have {vectors.shape[1]}; "
                "its file is damaged"
            )
        return np.stack([member.encoder.encode(vectors) for member in self.members])

    def outputs(self, encoded: Floats32, auxiliary: Floats32 | None = None) -> Floats32:
        """What the members say of a sequence that `encode` encoded: (members, samples, num_outputs) float32."""
        pairs = zip(self.members, encoded, strict=True)
        return np.stack([member.head.outputs(vector, auxiliary) for member, vector in pairs])


def _check_shapes(tensors: Mapping[str, Floats32], shapes: Shapes) -> None:
    """Names what is missing, left over or of a wrong shape."""
    names = shapes.keys() | tensors.keys()
    wrong = sorted(n for n in names if n not in shapes or n not in tensors or tensors[n].shape != shapes[n])
    if wrong:
        raise InputError(f"a network with missing, wrong or superfluous {wrong}")


def _lstm_layer(inputs: Floats32, weight_ih: Floats32, weight_hh: Floats32, bias: Floats32) -> Floats32:
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


def _sigmoid(x: Floats32) -> Floats32:
    return (0.5 * (1.0 + np.tanh(0.5 * x))).astype(np.float32)
