"""DeepTune: an LSTM over the tokens of the source text, with an embedding learned jointly.

Reference: Cummins et al., End-to-End Deep Learning of Optimization Heuristics, PACT 2017, section 3.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ncc.arrays import Floats32, Ints
from ncc.learning.training.config import TrainingConfig
from ncc_lab.devices.samples import DeviceMappingSamples
from ncc_lab.peers.recurrent import DeviceRecurrentMethod, RecurrentTraining, Words

_DIM = 64

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


@dataclass(frozen=True)
class SourceVocabulary:
    """Tokens of some source texts: OpenCL's own words as a whole, the longest that fits first, all else by characters.

    Reference:
        Cummins et al., PACT 2017, section 3.2 (sequence encoder).
    """

    tokens: tuple[str, ...]

    @staticmethod
    def of(sources: Iterable[str]) -> "SourceVocabulary":
        """Return the tokens that some texts are made of."""
        pattern = _longest_first([*_OPENCL.split(), _INDENT])
        return SourceVocabulary(tuple(sorted({token for source in sources for token in pattern.findall(source)})))

    def __len__(self) -> int:
        return len(self.tokens) + 1

    def encode_all(self, sources: Sequence[str]) -> list[Words]:
        """Return the numbers of several texts' tokens."""
        encoded = {source: self.encode(source) for source in set(sources)}
        return [encoded[source] for source in sources]

    def encode(self, source: str) -> Words:
        """Return the numbers of a text's tokens, (time,) int64."""
        number = {token: i for i, token in enumerate(self.tokens)}
        unknown = len(self.tokens)
        found = _longest_first([token for token in self.tokens if len(token) > 1]).findall(source)
        return np.array([number.get(token, unknown) for token in found], dtype=np.int64)


def _longest_first(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of some words, the longest that fits, or any one character."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return re.compile("|".join([*map(re.escape, ordered), "."]), re.DOTALL)


def deeptune_training() -> RecurrentTraining:
    """Return the published size, epochs and batches, over the last 256 tokens (published: 1,024).

    On four published folds 512 and 1,024 tokens came out no better, and took two and four times as long.
    """
    loop = TrainingConfig(epochs=50, batch_size=64, learning_rate=5e-3, weight_decay=0.0)
    return RecurrentTraining(hidden=64, longest=256, train_vectors=True, loop=loop)


class DeepTune(DeviceRecurrentMethod):
    """DeepTune: vectors of 64 dimensions, trained with two LSTM(64) layers, over the source's tokens.

    The vocabulary is that of the training rows; the original took that of all rows.
    """

    name = "DeepTune"

    def __init__(self, training: RecurrentTraining | None = None) -> None:
        super().__init__(training or deeptune_training())
        self._vocabulary = SourceVocabulary(())

    def learn_words(self, samples: DeviceMappingSamples, train_idx: Ints, rng: np.random.Generator) -> Floats32:
        """Take the tokens of the training rows' sources as vocabulary, and draw first vectors."""
        self._vocabulary = SourceVocabulary.of(set(samples.source[train_idx]))
        return rng.uniform(-0.05, 0.05, (len(self._vocabulary), _DIM)).astype(np.float32)

    def read_words(self, samples: DeviceMappingSamples, rows: Ints) -> list[Words]:
        """Return the tokens of some rows' sources."""
        return self._vocabulary.encode_all(samples.source[rows].tolist())
