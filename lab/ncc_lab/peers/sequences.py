"""Published networks on a kernel's words: DeepTune on tokens of the source, inst2vec on statements of the IR.

Two LSTM layers over the words, then numbers beside them. Departures from the published programs, none of which gives
them less to learn from:

- outputs are a softmax, not sigmoids under a cross-entropy that expects probabilities that add up to 1;
- transfer and work-group size are standardized on the training rows; the programs feed them raw to a batch
  normalization, which does the same except for its lag;
- padding is not read; the programs read it as words before the first;
- the learning rate is higher, warmed up and decays to 0, or 50 epochs would not do to learn the training rows;
- rows whose kernels read the same are next to each other in batches, so that most of the 247 distinct sequences run
  through the LSTM once an epoch in place of 680;
- in thread coarsening the text is that of the row's own kernel, and where training has rows of several devices, one
  model learns them all, with the device as an input.

References: Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, sections 3 and 5; Ben-Nun et
al., Neural Code Comprehension, NeurIPS 2018, section 6.2, which takes the network over.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn

from ncc.arrays import Floats, Floats32, Ints
from ncc.errors import InputError, check_positive
from ncc.ir.reader.reader import read_module
from ncc.learning.data.registry import Folder
from ncc.learning.embedding.embedding import Embedding
from ncc.learning.encoder.batches import SequenceData, Sequences, network_outputs
from ncc.learning.encoder.config import EncoderConfig, HeadConfig
from ncc.learning.encoder.network import EncoderNetwork, fit_network
from ncc.learning.encoder.network_numpy import distinct_sequences
from ncc.learning.training.config import TrainingConfig
from ncc.tasks.coarsening.train import FACTORS
from ncc.tasks.devices.train import load_legacy_ir
from ncc_lab.coarsening.coarsening import device_inputs
from ncc_lab.coarsening.samples import CoarseningSamples
from ncc_lab.devices.samples import DeviceMappingSamples
from ncc_lab.frame import Method, Samples, Subset

Words = Ints
"""A kernel as row numbers of the vectors of its words, in order, (time,)."""

S = TypeVar("S", bound=Samples)

ReadWords = Callable[[S, Ints], Sequence[Words]]
"""From a table and rows to the words of each row's kernel; every one has at least one."""

_CODE_LOSS_WEIGHT = 0.2
"""Of the loss of outputs that know the words alone, as published."""
_DIM = 64
"""Of DeepTune's vectors on device mapping, as published."""

# the words of OpenCL C that kernels are made of; everything else is spelled
_OPENCL = """
__kernel kernel __global global __local local __constant constant __private private __attribute__ reqd_work_group_size
__read_only read_only __write_only write_only inline static const volatile restrict unsigned signed struct union enum
typedef void bool char uchar short ushort int uint long ulong float double half size_t
char2 char4 uchar2 uchar4 uchar8 uchar16 short2 short4 ushort2 ushort4 int2 int3 int4 int8 int16 uint2 uint3 uint4 uint8
uint16 long2 ulong2 float2 float3 float4 float8 float16 double2 double4 double8 image2d_t image3d_t sampler_t
if else for while do switch case default break continue return goto sizeof true false
get_global_id get_local_id get_group_id get_global_size get_local_size get_num_groups get_work_dim get_global_offset
barrier mem_fence CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE read_imagef read_imagei read_imageui write_imagef
atomic_add atomic_sub atomic_inc atomic_dec atomic_xchg atomic_cmpxchg atomic_min atomic_max atomic_and atomic_or
atom_add atom_inc atom_xchg atom_cmpxchg async_work_group_copy wait_group_events prefetch select clamp mix step dot
cross length distance normalize min max abs fabs fmin fmax fma mad mad24 mul24 mul_hi mad_hi sqrt rsqrt native_sqrt
native_rsqrt native_divide native_recip native_exp native_log native_sin native_cos exp exp2 exp10 log log2 log10 pow
powr pown sin cos tan asin acos atan atan2 sinh cosh tanh floor ceil round trunc rint fmod remainder hypot ldexp isnan
isinf sign rotate popcount convert_float convert_int convert_uint convert_float4 convert_int4 convert_uint4
convert_uchar4 as_float as_int as_uint vload4 vstore4 #pragma unroll OPENCL EXTENSION enable cl_khr_fp64 #define
#ifdef #ifndef #else #endif #if #undef
"""
_INDENT = "  "


@dataclass(frozen=True, kw_only=True)
class RecurrentTraining:
    """Size of the network, how many words it reads from the end, and how it is trained."""

    hidden: int
    max_length: int
    train_vectors: bool
    loop: TrainingConfig

    def __post_init__(self) -> None:
        check_positive(max_length=self.max_length)


class _WithCodeOutput(EncoderNetwork):
    """A network that has as many outputs again, which depend on the words alone."""

    def __init__(self, vectors: Floats32, num_outputs: int, encoder: EncoderConfig, *more: Any) -> None:
        super().__init__(vectors, num_outputs, encoder, *more)
        self.code_output = nn.Linear(encoder.vector_size(vectors.shape[1]), num_outputs)

    def forward(self, *batch: Tensor) -> Tensor:
        vector = self.encoder(*batch[:4])[batch[5]]
        return torch.cat([self.head(vector, batch[4]), self.code_output(vector)], dim=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Recurrent(Generic[S]):
    """A network that reads a kernel as a sequence of words and predicts its class.

    Attributes:
        training: Sizes and options.
        num_classes: Classes.
        learn_words: From a table, training rows and a generator to the words' first vectors, (words, dim) float32, and
            what reads words.
        inputs: From a table and training rows to numbers beside the words, (n, k).
        labels: From a table to the classes, (n,) int64; those of hidden rows do not matter.
        initialize: Sets a new network's first weights.
        code_outputs: Whether outputs that depend on the words alone are trained as well.
    """

    training: RecurrentTraining
    num_classes: int
    learn_words: Callable[[S, Ints, np.random.Generator], tuple[Floats32, ReadWords[S]]]
    inputs: Callable[[S, Ints], Floats]
    labels: Callable[[S], Ints]
    initialize: Callable[[EncoderNetwork], None]
    code_outputs: bool = False

    def fit(
        self, table: S, train: Ints, rng: np.random.Generator
    ) -> tuple[EncoderNetwork, Callable[[S, Ints], SequenceData]]:
        """Return a network trained on some rows, and what makes its inputs of any rows."""
        vectors, read_words = self.learn_words(table, train, rng)
        inputs, labels = self.inputs(table, train).astype(np.float32), self.labels(table)

        def data_of(table: S, rows: Ints) -> SequenceData:
            words = [sequence[-self.training.max_length :] for sequence in read_words(table, rows)]
            sequences, owner = distinct_sequences(words)
            return SequenceData(Sequences.of(sequences), labels[rows], auxiliary=inputs[rows], owner=owner, noise=0.1)

        encoder = EncoderConfig(hidden=self.training.hidden, train_vectors=self.training.train_vectors)
        kind = _WithCodeOutput if self.code_outputs else EncoderNetwork

        def make() -> EncoderNetwork:
            network = kind(vectors, self.num_classes, encoder, HeadConfig(), inputs.shape[1])
            self.initialize(network)
            return network

        def loss(output: Tensor, target: Tensor) -> Tensor:
            total = nn.functional.cross_entropy(output[:, : self.num_classes], target)
            if self.code_outputs:
                code_loss = nn.functional.cross_entropy(output[:, self.num_classes :], target)
                total = total + _CODE_LOSS_WEIGHT * code_loss
            return total

        data = data_of(table, train)
        return fit_network(make, data, loss, self.training.loop, int(rng.integers(2**31))), data_of

    def predict(self, train: Subset[S], test: Subset[S], rng: np.random.Generator) -> Floats:
        """Return the probability of each class, (m, num_classes) float64."""
        network, data_of = self.fit(train.table, train.rows, rng)
        outputs = network_outputs(network, data_of(test.table, test.rows))[:, : self.num_classes]
        return np.asarray(softmax(outputs.astype(np.float64), axis=1))


# --- words of source texts -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SourceVocabulary:
    """Tokens of some source texts: OpenCL's own words as a whole, the longest that fits first, all else by characters.

    Reference: Cummins et al. 2017, section 3.2 (sequence encoder).
    """

    tokens: tuple[str, ...]

    @staticmethod
    def of(sources: Iterable[str]) -> "SourceVocabulary":
        """Return the tokens that some texts are made of."""
        pattern = _longest_first([*_OPENCL.split(), _INDENT])
        return SourceVocabulary(tuple(sorted({token for source in sources for token in pattern.findall(source)})))

    def __len__(self) -> int:
        return len(self.tokens) + 1

    def encode(self, source: str) -> Words:
        """Return the numbers of a text's tokens, (time,) int64."""
        number = {token: i for i, token in enumerate(self.tokens)}
        found = _longest_first([token for token in self.tokens if len(token) > 1]).findall(source)
        return np.array([number.get(token, len(self.tokens)) for token in found], dtype=np.int64)

    def read(self, samples: DeviceMappingSamples | CoarseningSamples, rows: Ints) -> list[Words]:
        """Return the tokens of some rows' sources."""
        sources = samples.source[rows].tolist()
        encoded = {source: self.encode(source) for source in set(sources)}
        return [encoded[source] for source in sources]


def _longest_first(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of some words, the longest that fits, or any one character."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join([*map(re.escape, ordered), "."]), re.DOTALL)


def _learn_tokens(dim: int, tokens: tuple[str, ...] | None = None) -> Callable[..., tuple[Floats32, ReadWords[Any]]]:
    """Return what takes given tokens, or those of the training rows' sources, and draws their first vectors.

    The original took the tokens of all rows.
    """

    def learn(samples: Any, train: Ints, rng: np.random.Generator) -> tuple[Floats32, ReadWords[Any]]:
        vocabulary = SourceVocabulary(tokens) if tokens else SourceVocabulary.of(set(samples.source[train]))
        return rng.uniform(-0.05, 0.05, (len(vocabulary), dim)).astype(np.float32), vocabulary.read

    return learn


# --- device mapping --------------------------------------------------------------------------------------------------


def _on_devices(training: RecurrentTraining, learn_words: Any) -> Recurrent[DeviceMappingSamples]:
    def sizes(samples: DeviceMappingSamples, train: Ints) -> Floats:
        raw = np.stack([samples.transfer_bytes, samples.wgsize], axis=1)
        return np.asarray((raw - raw[train].mean(axis=0)) / np.maximum(raw[train].std(axis=0), 1e-9))

    def initialize(network: EncoderNetwork) -> None:
        """Draw first weights as Keras does; that gates begin by keeping their state matters over long sequences."""
        for name, tensor in network.named_parameters():
            if "weight_hh" in name:
                nn.init.orthogonal_(tensor)
            elif "weight_ih" in name or name.endswith(("dense.weight", "output.weight")):
                nn.init.xavier_uniform_(tensor)
            elif "bias" in name:
                nn.init.zeros_(tensor)
                if "bias_ih" in name:
                    nn.init.ones_(tensor[training.hidden : 2 * training.hidden])  # the forget gate's

    return Recurrent(
        training=training,
        num_classes=2,
        learn_words=learn_words,
        inputs=sizes,
        labels=lambda samples: samples.is_gpu.astype(np.int64),
        initialize=initialize,
        code_outputs=True,
    )


def _device_method(name: str, network: Recurrent[DeviceMappingSamples], key: Any) -> Method[DeviceMappingSamples]:
    def predict(
        train: Subset[DeviceMappingSamples], test: Subset[DeviceMappingSamples], rng: np.random.Generator
    ) -> Floats:
        return network.predict(train, test, rng)[:, 1] - 0.5

    return Method(name, "published", predict, (asdict(network.training), key), version="3", is_slow=True)


def deeptune_training() -> RecurrentTraining:
    """Return the published size, epochs and batches, over the last 256 tokens (published: 1,024).

    On four published folds 512 and 1,024 tokens came out no better, and took two and four times as long.
    """
    loop = TrainingConfig(epochs=50, batch_size=64, learning_rate=5e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=64, max_length=256, train_vectors=True, loop=loop)


def deeptune(training: RecurrentTraining | None = None) -> Method[DeviceMappingSamples]:
    """Return DeepTune: vectors of 64 dimensions, trained with two LSTM(64) layers, over the source's tokens."""
    return _device_method("DeepTune", _on_devices(training or deeptune_training(), _learn_tokens(_DIM)), None)


def inst2vec_training() -> RecurrentTraining:
    """Return the published size and epochs, over the last 128 statements (published: all, up to 1,505).

    55% of the rows have no more, and 512 gained nothing where they were tried, on two published folds. Batches are of
    32 rows (published: 64), which is more steps an epoch at no cost.
    """
    loop = TrainingConfig(epochs=50, batch_size=32, learning_rate=2e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=200, max_length=128, train_vectors=False, loop=loop)


def inst2vec(
    statements: list[Words], embedding: Embedding, training: RecurrentTraining | None = None
) -> Method[DeviceMappingSamples]:
    """Return inst2vec's mapper: LSTM(200) twice on rows of the embedding scaled to length 1 and frozen."""
    # of the embedding's thousands of vectors only those that occur travel with the method to other processes
    used, numbers = np.unique(np.concatenate(statements), return_inverse=True)
    ends = np.cumsum([len(sequence) for sequence in statements])
    words = np.split(numbers.astype(np.int64), ends[:-1])
    vectors = embedding.vectors[used]
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))

    def learn(
        samples: DeviceMappingSamples, _train: Ints, _rng: np.random.Generator
    ) -> tuple[Floats32, ReadWords[DeviceMappingSamples]]:
        if len(words) != len(samples):
            raise InputError(f"statements: expected {len(samples)} sequences, found {len(words)}")
        return vectors, lambda _samples, rows: [words[row] for row in rows.tolist()]

    return _device_method("inst2vec", _on_devices(training or inst2vec_training(), learn), (words, vectors))


def read_statements(samples: DeviceMappingSamples, embedding: Embedding, folder: Folder = None) -> list[Words]:
    """Read each row's legacy IR as rows of an embedding: all statements of the file, in order, as in the original.

    Rows of one source text all get what the first of them is compiled to. NPB compiles its data sizes in, so that one
    kernel comes in up to five texts; in all but 15 of the 247 sources these differ in nothing but the sizes of arrays,
    flags and alignments, and training on one of them takes half as long.
    """
    legacy = load_legacy_ir(folder)
    known: dict[str, Words] = {}
    for row, source in enumerate(samples.source.tolist()):
        if source not in known:
            name = samples.ir_name(row)
            module = read_module(legacy[name], name=name, abstraction=embedding.abstraction)
            known[source] = embedding.look_up(module.texts).word[module.text_id].astype(np.int64)
    return [known[source] for source in samples.source.tolist()]


# --- thread coarsening -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """The parts that transfer from one task to another: the tokens, their vectors and the LSTM layers."""

    tokens: tuple[str, ...]
    tensors: dict[str, Floats32]


def pretrain_language_model(
    samples: DeviceMappingSamples, seed: int = 204, training: RecurrentTraining | None = None
) -> LanguageModel:
    """Train DeepTune on all rows of device mapping, and return what can be transferred.

    Some kernels of thread coarsening come from the suites that device mapping has as well. Their texts are seen here,
    as in the original, but no answer of thread coarsening.
    """
    tokens = SourceVocabulary.of(set(samples.source)).tokens
    deeptune = _on_devices(training or deeptune_training(), _learn_tokens(_DIM, tokens))
    network, _ = deeptune.fit(samples, np.arange(len(samples)), np.random.default_rng(seed))
    return LanguageModel(tokens, {name: one.numpy().copy() for name, one in network.encoder.state_dict().items()})


def coarsening_training(hidden: int = 64, loop: TrainingConfig | None = None) -> RecurrentTraining:
    """Return the published size, epochs and learning rate, over the last 1,024 tokens.

    All training rows are one batch: the published 64 is more than the 16 rows that a device has for training.
    """
    loop = loop or TrainingConfig(epochs=50, batch_size=128, learning_rate=1e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=hidden, max_length=1024, train_vectors=True, loop=loop)


def coarsening_deeptune(
    start: LanguageModel | None = None, training: RecurrentTraining | None = None
) -> Method[CoarseningSamples]:
    """Return DeepTune trained from scratch, or DeepTune-TL, which starts from a language model."""
    options = training or coarsening_training()

    def initialize(network: EncoderNetwork) -> None:
        """Let gates begin by keeping their state, as in the original's library: it matters over hundreds of tokens."""
        with torch.no_grad():
            for layer in network.encoder.ahead:
                layer.get_parameter("bias_ih_l0")[options.hidden : 2 * options.hidden] += 1.0
        if start:
            tensors = {name: torch.from_numpy(array.copy()) for name, array in start.tensors.items()}
            network.encoder.load_state_dict(tensors)

    network = Recurrent[CoarseningSamples](
        training=options,
        num_classes=len(FACTORS),
        learn_words=_learn_tokens(options.hidden, start.tokens if start else None),
        inputs=lambda samples, _train: device_inputs(samples),
        labels=lambda samples: samples.best,
        initialize=initialize,
    )
    key = asdict(options), start and (start.tokens, start.tensors)
    return Method("DeepTune-TL" if start else "DeepTune", "published", network.predict, key, "3", is_slow=True)
