"""The trainable LSTM in torch: statement vectors and literals → LSTM layers → pooling → vector → a head.

Of what ships, the classifier is one (`ncc.learning.encoder.network_numpy`); it answers by
`ncc.learning.encoder.network_numpy`.

References: Ben-Nun et al. 2018, section 5 (two LSTM layers, batch normalization, Dense(32), Dense(n)); attention as in
Lin et al. 2017 ("A structured self-attentive sentence embedding"), with one query; gates that begin by remembering:
Tallec and Ollivier, "Can recurrent neural networks warp time?", ICLR 2018. Mean, maximum and literals are ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

from ncc.arrays import Floats32
from ncc.learning.encoder.config import EncoderConfig, HeadConfig, Pooling


class Encoder(nn.Module):
    """Vectors ⊕ literals → LSTM layers → pooling → a vector for each sequence."""

    def __init__(self, vectors: Floats32, config: EncoderConfig) -> None:
        """Make an encoder on (num_words, dim) float32 vectors, which are copied."""
        super().__init__()
        self.config = config
        dim = vectors.shape[1]
        self.vectors = nn.Parameter(torch.tensor(vectors), requires_grad=config.train_vectors)
        self.literals = nn.EmbeddingBag(config.buckets, dim, mode="sum") if config.buckets else None
        if self.literals is not None:
            nn.init.normal_(self.literals.weight, std=dim**-0.5 / 2)
        sizes = [dim] + [config.num_states] * (config.layers - 1)
        self.ahead = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in sizes)
        back = sizes if config.bidirectional else []
        self.back = nn.ModuleList(nn.LSTM(size, config.hidden, batch_first=True) for size in back)
        if config.memory is not None:
            for layer in (*self.ahead, *self.back):
                _remember(layer, config.memory)
        self.query = nn.Linear(config.num_states, 1) if "attention" in config.pooling else None
        self.dropout, self.last_dropout = nn.Dropout(config.dropout), nn.Dropout(config.last_dropout)

    def forward(self, words: Tensor, lengths: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
        """Vectors of sequences, (batch, ``config.vector_size(dim)``) float32."""
        inside = places_inside(words, lengths)
        features = statement_features(self, words, literals, literal_start)
        pooled = [*pool_inputs(self.config, features, inside)]
        for number, ahead in enumerate(self.ahead):
            if number:
                features = self.dropout(features)
            features = run_layer(ahead, self.back[number] if self.back else None, features, inside, lengths)
        features = self.last_dropout(features)
        return torch.cat([*pooled, *pool_states(self.config, self.query, features, inside, lengths)], dim=1)


class Head(nn.Module):
    """A sequence's vector ⊕ auxiliary numbers → normalization → dense layer → outputs."""

    def __init__(self, vector_size: int, num_outputs: int, num_auxiliary: int, config: HeadConfig) -> None:
        """Make a head on vectors of so many dimensions, and on numbers that the caller standardized."""
        super().__init__()
        num_features = vector_size + num_auxiliary
        self.norm = nn.BatchNorm1d(num_features) if config.norm == "batch" else nn.LayerNorm(num_features)
        self.dropout, self.dense_dropout = nn.Dropout(config.dropout), nn.Dropout(config.dense_dropout)
        self.dense = nn.Linear(num_features, config.dense)
        self.output = nn.Linear(config.dense, num_outputs)
        self.code_output = nn.Linear(vector_size, num_outputs) if config.code_outputs else None

    def forward(self, vector: Tensor, auxiliary: Tensor | None = None) -> Tensor:
        """Outputs, (samples, num_outputs) float32, then those of the vector alone where the head has them.

        Args:
            vector: (samples, vector_size) float32.
            auxiliary: (samples, num_auxiliary) float32; None where there are none.
        """
        features = vector if auxiliary is None else torch.cat([vector, auxiliary], dim=1)
        state = torch.relu(self.dense(self.dropout(self.norm(features))))
        outputs: Tensor = self.output(self.dense_dropout(state))
        return outputs if self.code_output is None else torch.cat([outputs, self.code_output(vector)], dim=1)


class EncoderNetwork(nn.Module):
    """The encoder with a head: what is trained for a task."""

    def __init__(
        self,
        vectors: Floats32,
        num_outputs: int,
        encoder: EncoderConfig,
        head: HeadConfig,
        num_auxiliary: int = 0,
    ) -> None:
        """Make a network on (num_words, dim) float32 vectors; the other arguments are those of its two parts."""
        super().__init__()
        self.encoder = Encoder(vectors, encoder)
        self.head = Head(encoder.vector_size(vectors.shape[1]), num_outputs, num_auxiliary, head)

    def forward(
        self,
        words: Tensor,
        lengths: Tensor,
        literals: Tensor,
        literal_start: Tensor,
        auxiliary: Tensor | None = None,
        owner: Tensor | None = None,
    ) -> Tensor:
        """Outputs of samples that may share a sequence, as `Head` gives them; arguments as in `SequenceBatch`."""
        vector = self.encoder(words, lengths, literals, literal_start)
        return self.head(vector if owner is None else vector[owner], auxiliary)

    def to_arrays(self) -> dict[str, Floats32]:
        """All that was learnt, as float32 arrays by the names that files and the network in NumPy have for it."""
        return {
            name.split(".", 1)[1]: tensor.detach().cpu().numpy().astype(np.float32)
            for name, tensor in self.state_dict().items()
            if tensor.is_floating_point()  # batch normalization counts its batches
        }

    def load_arrays(self, arrays: Mapping[str, Floats32]) -> None:
        """Go on from what `to_arrays` gave."""
        state = self.state_dict()
        known = {name: arrays[name.split(".", 1)[1]] for name in state if state[name].is_floating_point()}
        self.load_state_dict(state | {name: torch.tensor(array) for name, array in known.items()})


def statement_features(encoder: Encoder, words: Tensor, literals: Tensor, literal_start: Tensor) -> Tensor:
    """What the first layer reads, (batch, time, dim) float32: vectors of statements and sums of their literals'."""
    share = encoder.config.word_dropout if encoder.training else 0.0
    features = _partly_hidden(nn.functional.embedding(words, encoder.vectors), share)
    if encoder.literals is not None:
        found = encoder.literals(literals, literal_start)[: words.numel()]  # without what pads batches
        features = features + _partly_hidden(found.view_as(features), share)
    return features


def _partly_hidden(features: Tensor, share: float) -> Tensor:
    """Features with those of a share of the statements 0, drawn anew."""
    return features * (torch.rand_like(features[:, :, :1]) >= share) if share else features


def places_inside(words: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time) bool: which places are before their sequence's end."""
    return torch.arange(words.shape[1], device=words.device)[None, :] < lengths[:, None]


def run_layer(ahead: nn.Module, back: nn.Module | None, features: Tensor, inside: Tensor, lengths: Tensor) -> Tensor:
    """(batch, time, num_states) outputs of a layer that reads each sequence from its start, or from both of its ends.

    Each direction runs forward over its own copy: what comes behind a sequence's end then reaches neither, and no
    packing is needed, which costs ten times as long on a CPU.
    """
    one: Tensor
    if back is None:
        one, _ = ahead(features)
        return one
    time = torch.arange(inside.shape[1], device=inside.device)[None, :]
    flip = torch.where(inside, lengths[:, None] - 1 - time, 0)
    with _beside(features):
        one, _ = ahead(features)
    other, _ = back(_gather(features, flip))
    if features.is_cuda:
        torch.cuda.current_stream().wait_stream(_side_stream(features.device))
        one.record_stream(torch.cuda.current_stream())
    return torch.cat([one, _gather(other, flip)], dim=2)


@contextmanager
def _beside(features: Tensor) -> Iterator[None]:
    """What a GPU is told inside, it does beside what it is told afterwards: one direction alone leaves it half idle.

    Autograd does the same in backward.
    """
    if not features.is_cuda:
        yield
        return
    side = _side_stream(features.device)
    side.wait_stream(torch.cuda.current_stream())
    features.record_stream(side)
    with torch.cuda.stream(side):
        yield


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


def _gather(features: Tensor, index: Tensor) -> Tensor:
    return features.gather(1, index[:, :, None].expand(-1, -1, features.shape[2]))


def pool_inputs(config: EncoderConfig, features: Tensor, inside: Tensor) -> Sequence[Tensor]:
    """Mean and maximum over time of what the first layer reads, where the configuration asks for them."""
    return (_mean(features, inside), _highest(features, inside)) if config.pool_inputs else ()


def pool_states(
    config: EncoderConfig, query: nn.Module | None, features: Tensor, inside: Tensor, lengths: Tensor
) -> list[Tensor]:
    """What is made of the last layer's (batch, time, num_states) outputs: (batch, num_states) for each pooling."""

    def pool(kind: Pooling) -> Tensor:
        if kind == "mean":
            return _mean(features, inside)
        if kind == "max":
            return _highest(features, inside)
        if kind == "last":
            last = features[torch.arange(len(features), device=features.device), lengths - 1]
            # the other direction ends where the sequence begins
            hidden = config.hidden
            return torch.cat([last[:, :hidden], features[:, 0, hidden:]], dim=1) if config.bidirectional else last
        assert query is not None
        found = query(torch.tanh(features)).squeeze(2).masked_fill(~inside, -torch.inf)
        return (found.softmax(dim=1)[:, :, None] * features).sum(dim=1)

    return [pool(kind) for kind in config.pooling]


def _mean(features: Tensor, inside: Tensor) -> Tensor:
    return (features * inside[:, :, None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)


def _highest(features: Tensor, inside: Tensor) -> Tensor:
    return features.masked_fill(~inside[:, :, None], -torch.inf).amax(dim=1)


def _remember(layer: nn.Module, memory: int) -> None:
    """Set the gates' biases so that units keep their state for 1 to `memory` steps: chrono initialization."""
    biases, others = layer.get_parameter("bias_ih_l0"), layer.get_parameter("bias_hh_l0")
    hidden = len(biases) // 4
    with torch.no_grad():
        forget = torch.empty(hidden).uniform_(1, memory - 1).log()
        others.zero_()
        biases.zero_()
        biases[:hidden] = -forget  # the input gate; torch keeps input, forget, cell and output in this order
        biases[hidden : 2 * hidden] = forget
