"""The LSTM and its heads in NumPy, because importing torch takes longer than the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ncc.arrays import Floats32, Ints, Ints32
from ncc.errors import AssetError, InputError
from ncc.learning.encoder.config import EncoderConfig, Pooling
from ncc.learning.heads.files import ModelFormat, Stored, fingerprint
from ncc.learning.programs.table import EncodedProgram
from ncc.system.files.hub import Shareable

Shapes = dict[str, tuple[int, ...]]

MaxLength = Annotated[int, Meta(ge=1, le=1 << 20)]

_EPSILON = 1e-5

MAX_LENGTH = 768
"""Maximum number of a program's statements that a network reads."""


@dataclass(frozen=True, eq=False)
class NumpyEncoder:
    """A trained `ncc.learning.encoder.network.Encoder`, without the vectors of statements."""

    tensors: dict[str, Floats32]  # weights by torch's names
    config: EncoderConfig

    def __post_init__(self) -> None:
        config, dim = self.config, self.dim
        if config.layers > len(self.tensors):  # before shapes of all layers are computed
            raise InputError(f"the encoder has {config.layers} layers, more than arrays")
        gates, states = 4 * config.hidden, config.num_states
        shapes: Shapes = {"literals.weight": (config.buckets, dim)} if config.buckets else {}
        for layer in range(config.layers):
            for direction in ("ahead", "back") if config.bidirectional else ("ahead",):
                name = f"{direction}.{layer}"
                shapes[f"{name}.weight_ih_l0"] = (gates, states if layer else dim)
                shapes[f"{name}.weight_hh_l0"] = (gates, config.hidden)
                shapes |= {f"{name}.bias_{side}_l0": (gates,) for side in ("ih", "hh")}
        if "attention" in config.pooling:
            shapes |= {"query.weight": (1, states), "query.bias": (1,)}
        _check_shapes(self.tensors, shapes)

    @property
    def dim(self) -> int:
        """Number of dimensions of its input vectors."""
        return int(self.tensors["ahead.0.weight_ih_l0"].shape[1])

    @property
    def vector_size(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return self.config.vector_size(self.dim)

    def encode(
        self, vectors: Floats32, literals: NDArray[np.uint32] | None = None, literal_start: Ints32 | None = None
    ) -> Floats32:
        """The (vector_size,) vector of (time, dim) statements, with (time + 1,) offsets of their literals."""
        features = vectors
        if self.config.buckets and literals is not None and literal_start is not None:
            features = vectors.copy()
            statement = np.repeat(np.arange(len(vectors)), np.diff(literal_start))
            table = self.tensors["literals.weight"]
            np.add.at(features, statement, table[literals[: literal_start[-1]] % self.config.buckets])
        pooled = [features.mean(axis=0), features.max(axis=0)] if self.config.pool_inputs else []
        for layer in range(self.config.layers):
            states = [self._run_layer(features, f"ahead.{layer}")]
            if self.config.bidirectional:
                states.append(self._run_layer(features[::-1], f"back.{layer}")[::-1])
            features = np.concatenate(states, axis=1)
        return np.concatenate([*pooled, *(self._pool(kind, features) for kind in self.config.pooling)])

    def _run_layer(self, inputs: Floats32, name: str) -> Floats32:
        """One direction of one LSTM layer, from the state 0: (time, hidden) float32 states."""
        weight_ih, weight_hh, *biases = (
            self.tensors[f"{name}.{part}_l0"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        driven = inputs @ weight_ih.T + (biases[0] + biases[1])
        recurrent = np.ascontiguousarray(weight_hh.T)
        hidden = len(recurrent)
        state, cell = np.zeros(hidden, np.float32), np.zeros(hidden, np.float32)
        states = np.empty((len(inputs), hidden), np.float32)
        for step, drive in enumerate(driven):  # torch's order of gates: input, forget, candidate, output
            gates = drive + state @ recurrent
            opening = (0.5 * (1.0 + np.tanh(0.5 * gates))).astype(np.float32)
            candidate = np.tanh(gates[2 * hidden : 3 * hidden])
            cell = opening[hidden : 2 * hidden] * cell + opening[:hidden] * candidate
            state = opening[3 * hidden :] * np.tanh(cell)
            states[step] = state
        return states

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
    """A trained `ncc.learning.encoder.network.Head` in evaluation mode."""

    tensors: dict[str, Floats32]  # weights by torch's names; those for training alone may be missing
    vector_size: int  # dimensions of the vectors that it reads

    def __post_init__(self) -> None:
        (dense, features), outputs = self.tensors["dense.weight"].shape, self.num_outputs
        norms = ["weight", "bias", *(["running_mean", "running_var"] if self._over_batch else [])]
        shapes: Shapes = {f"norm.{name}": (features,) for name in norms}
        shapes |= {"dense.weight": (dense, features), "dense.bias": (dense,)}
        shapes |= {"output.weight": (outputs, dense), "output.bias": (outputs,)}
        _check_shapes(self.tensors, shapes)
        if features < self.vector_size:
            raise InputError(f"the head reads {features} features; expected at least the encoder's {self.vector_size}")
        if self._over_batch and not (self.tensors["norm.running_var"] >= 0).all():
            raise InputError("a variance is below 0")

    @property
    def num_outputs(self) -> int:
        """Outputs for each sample."""
        return len(self.tensors["output.bias"])

    @property
    def num_auxiliary(self) -> int:
        """Number of auxiliary inputs beside the encoder's vector."""
        return int(self.tensors["dense.weight"].shape[1]) - self.vector_size

    @property
    def _over_batch(self) -> bool:
        return "norm.running_mean" in self.tensors

    def outputs(self, vector: Floats32, auxiliary: Floats32 | None = None) -> Floats32:
        """(samples, num_outputs) for a (vector_size,) vector and (samples, num_auxiliary) auxiliary numbers, if any."""
        t = self.tensors
        features = vector[None, :]
        if auxiliary is not None:
            features = np.concatenate([features.repeat(len(auxiliary), axis=0), auxiliary], axis=1)
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
        if self.head.vector_size != self.encoder.vector_size:
            raise InputError(f"the head reads vectors of {self.head.vector_size}; expected {self.encoder.vector_size}")

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats32], config: EncoderConfig) -> Self:
        """Make the network from the arrays of ``EncoderNetwork.to_arrays``."""
        head = {name: array for name, array in arrays.items() if name.startswith(("norm.", "dense.", "output."))}
        rest = {name: array for name, array in arrays.items() if name not in head and name != "vectors"}
        encoder = NumpyEncoder(rest, config)
        return cls(encoder, NumpyHead(head, encoder.vector_size))


def distinct_sequences(sequences: Sequence[NDArray[Any]]) -> tuple[list[NDArray[Any]], Ints]:
    """Distinct sequences in order of appearance, and the (n,) index of each sequence among them."""
    distinct = {sequence.tobytes(): sequence for sequence in sequences}
    index = {key: i for i, key in enumerate(distinct)}
    return list(distinct.values()), np.array([index[sequence.tobytes()] for sequence in sequences], np.int64)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """One or more networks that differ only in their seeds, on an embedding's vectors of statements."""

    members: tuple[NumpyNetwork, ...]

    def __post_init__(self) -> None:
        parts = [(each.encoder, each.head) for each in self.members]
        sizes = {(one.dim, one.vector_size, head.num_outputs, head.num_auxiliary) for one, head in parts}
        if len(sizes) != 1:
            raise InputError(f"networks have sizes {sizes or 'none'}; expected equal ones")

    def rescaled(self, mean: Floats32, scale: Floats32) -> Self:
        """The same networks with outputs scaled to `mean` + `scale` × outputs, (num_outputs,) float32 each."""
        members = []
        for member in self.members:
            weight, bias = (member.head.tensors[f"output.{name}"] for name in ("weight", "bias"))
            changed = {"output.weight": weight * scale[:, None], "output.bias": bias * scale + mean}
            members.append(replace(member, head=replace(member.head, tensors=member.head.tensors | changed)))
        return replace(self, members=tuple(members))

    def encode(self, vectors: Floats32) -> Floats32:
        """The members' vectors of one sequence, (members, vector_size) float32, from its statements' (time, dim)."""
        for dim in {member.encoder.dim for member in self.members} - {vectors.shape[1]}:
            raise AssetError(
                f"the head's networks read vectors of {dim} dimensions, but the embedding's have {vectors.shape[1]}; "
                "its file is damaged"
            )
        return np.stack([member.encoder.encode(vectors) for member in self.members])

    def outputs(self, encoded: Floats32, auxiliary: Floats32 | None = None) -> Floats32:
        """The members' outputs for vectors from `encode`: (members, samples, num_outputs) float32."""
        pairs = zip(self.members, encoded, strict=True)
        return np.stack([member.head.outputs(vector, auxiliary) for member, vector in pairs])


@dataclass(frozen=True, eq=False)
class ProgramNetwork:
    """A trained network on programs, with vectors of the statements in the training set."""

    network: NumpyNetwork
    vectors: Floats32  # (rows, dim)
    row: Ints32  # (num_words,) row of `vectors` for each word of the embedding: its own, or the nearest word's
    max_length: MaxLength = MAX_LENGTH  # maximum number of a program's statements that are read

    def __post_init__(self) -> None:
        if self.vectors.shape[1:] != (self.network.encoder.dim,) or not self.vectors.size:
            raise InputError(f"vectors have shape {self.vectors.shape}; the encoder reads {self.network.encoder.dim}")
        if self.row.ndim != 1 or not self.row.size or not 0 <= self.row.min() <= self.row.max() < len(self.vectors):
            raise InputError(f"row has shape {self.row.shape}, or a value outside of {len(self.vectors)} vectors")
        if self.network.head.num_auxiliary:
            raise InputError(f"the head takes {self.network.head.num_auxiliary} auxiliary numbers; expected none")

    def scores(self, program: EncodedProgram) -> Floats32:
        """The network's outputs, (num_outputs,) float32."""
        words = program.words[: self.max_length]
        start = program.literal_start[: len(words) + 1]
        vector = self.network.encoder.encode(self.vectors[self.row[words]], program.literals, start)
        return np.asarray(self.network.head.outputs(vector)[0])


@dataclass(frozen=True, eq=False)
class LSTMEncoder(Shareable):
    """A contrastively trained encoder in NumPy."""

    _noun = "encoder"

    vectors: Annotated[Floats32, Stored("f2")]  # (num_words, statement_dim) of an embedding, as they were trained
    encoder: NumpyEncoder
    projection: Floats32  # (dim, encoder.vector_size), the last layer
    max_length: MaxLength  # maximum number of statements that it reads, from the start
    embedding_id: str
    card: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.vectors.shape[1:] != (self.encoder.dim,) or self.projection.shape[1:] != (self.encoder.vector_size,):
            raise InputError(f"shapes {self.vectors.shape} and {self.projection.shape} don't fit the LSTM")

    def _save(self, folder: Path) -> None:
        LSTM_FORMAT.save(self, folder)

    def __repr__(self) -> str:
        return f"LSTMEncoder({len(self.vectors)} statements, {self.encoder.config.hidden} units → {self.dim})"

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of all weights."""
        tensors = [tensor for _, tensor in sorted(self.encoder.tensors.items())]
        halves = self.vectors.astype(np.float16)  # as stored
        return fingerprint((self.encoder.config, self.max_length), halves, self.projection, *tensors)

    @property
    def dim(self) -> int:
        """Number of dimensions of the vectors that it makes."""
        return len(self.projection)

    def encode(
        self, words: NDArray[np.integer], literals: NDArray[np.uint32], literal_start: NDArray[np.integer]
    ) -> Floats32:
        """The (dim,) vector of length 1 of code of (m,) words, with (m + 1,) offsets of their literals."""
        start = np.asarray(literal_start[: self.max_length + 1], np.int32)
        vector = self.projection @ self.encoder.encode(self.vectors[words[: self.max_length]], literals, start)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)


LSTM_FORMAT: ModelFormat[LSTMEncoder] = ModelFormat("LSTM encoder", 3, LSTMEncoder, "ncc train encoder", "lstm")


def _check_shapes(tensors: Mapping[str, Floats32], shapes: Shapes) -> None:
    """Raise if arrays are missing, superfluous or of a wrong shape."""
    names = shapes.keys() | tensors.keys()
    wrong = sorted(n for n in names if n not in shapes or n not in tensors or tensors[n].shape != shapes[n])
    if wrong:
        raise InputError(f"the network has missing, wrong or superfluous arrays: {wrong}")
