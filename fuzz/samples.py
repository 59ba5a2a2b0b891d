"""Small models of every kind that ncc writes, with weights drawn at random: what the fuzzer starts from."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ncc.ir.graph.contexts import count_contexts
from ncc.ir.graph.xfg import build_xfg
from ncc.ir.reader.native import OPCODES
from ncc.ir.reader.reader import read_module
from ncc.kernels.work import FEATURE_NAMES
from ncc.learning.embedding.counts import CorpusCounts, CountsBuilder
from ncc.learning.embedding.embedding import Embedding, l2_normalize
from ncc.learning.embedding.vocabulary import Vocabulary, build_vocabulary
from ncc.learning.encoder.config import EncoderConfig, program_encoder
from ncc.learning.encoder.linear import LinearEncoder
from ncc.learning.encoder.network_numpy import Ensemble, NumpyNetwork, ProgramNetwork
from ncc.learning.encoder.patterns import PatternCounts, count_patterns
from ncc.learning.heads.columns import standardize
from ncc.learning.heads.trees import Boosted
from ncc.learning.programs.table import EncodedProgram
from ncc.tasks.classification.head import ClassifierHead
from ncc.tasks.classification.ngrams import NgramModel
from ncc.tasks.coarsening.head import LineHead, LSTMHead
from ncc.tasks.devices.features import CODE, LAUNCH, TERMS, WORK_WIDTH, KernelFeatures, launch_columns
from ncc.tasks.devices.head import LEVELS, Errors, Expert, TimesHead
from ncc.tasks.devices.models import MAX_STANDARD, PRIORS, GaussianProcess, LSTMTimes, MachineModel

__all__ = [
    "DIM",
    "ROOT",
    "classifier_head",
    "coarsening_head",
    "corpus_counts",
    "encoded_program",
    "kernel_inputs",
    "lstm_coarsening_head",
    "lstm_times_head",
    "pattern_counts",
    "small_embedding",
    "small_encoder",
    "times_head",
]

ROOT = Path(__file__).parents[1]
DIM = 6
_WORDS, _CLASSES, _BUCKETS = 40, 3, 50


def corpus_counts(*names: str, width: int = 2) -> CorpusCounts:
    """Counts of some of the IR files of the tests."""
    builder = CountsBuilder(width)
    for name in names or ("saxpy.clang22.ll",):
        module = read_module(ROOT / "tests" / "data" / "ir" / name)
        pairs = count_contexts(build_xfg(module), module.text_id, width)
        statements = np.bincount(module.text_id, minlength=len(module.texts)).astype(np.int64)
        triple = (pairs.center, pairs.context, pairs.count)
        builder.add(module.texts, statements, triple, num_lines=module.num_lines)
    return builder.finish()


def small_embedding(seed: int = 0, min_count: int = 3) -> Embedding:
    """Random vectors for the statements of a fixture."""
    counts = corpus_counts()
    vocabulary = build_vocabulary(dict(zip(counts.texts, counts.statements.tolist(), strict=True)), min_count)
    vocabulary = Vocabulary(vocabulary.words, vocabulary.counts)
    vectors = np.random.default_rng(seed).normal(size=(len(vocabulary), DIM)).astype(np.float16)
    return Embedding(vocabulary, l2_normalize(vectors.astype(np.float32)), card={"note": "random"})


def pattern_counts(name: str = "saxpy.clang22.ll") -> PatternCounts:
    """The patterns of an IR file of the tests, all functions in one bag."""
    module = read_module(ROOT / "tests" / "data" / "ir" / name)
    return count_patterns(module, np.zeros(len(module.function_node), np.int64))


def small_encoder(seed: int = 8) -> LinearEncoder:
    """A linear encoder that knows the patterns of `pattern_counts`; half of its directions tell classes apart."""
    rng = np.random.default_rng(seed)
    keys = np.unique(pattern_counts().key)
    return LinearEncoder(
        pattern_ids=keys,
        idf=rng.uniform(0.5, 2.0, len(keys)).astype(np.float32),
        weights=rng.integers(-127, 128, (len(keys), DIM)).astype(np.int8),
        scale=rng.uniform(0.001, 0.01, len(keys)).astype(np.float32),
        center=rng.normal(size=DIM).astype(np.float32),
        anchors=l2_normalize(rng.normal(size=(_CLASSES, DIM // 2)).astype(np.float32)),
        num_classes=DIM // 2,
        common_component_weight=0.2,
        sharpness=10.0,
        level_norms={"module": 0.9, "function": 0.3},
        card={"command": "drawn at random"},
    )


def kernel_inputs(rows: int = 1, seed: int = 7, dim: int = DIM) -> KernelFeatures:
    """Invented kernels."""
    rng = np.random.default_rng(seed)
    sequences = np.empty(rows, object)
    sequences[:] = [np.ones((5, dim), np.float32)] * rows
    return KernelFeatures(
        rng.uniform(0, 4, (rows, len(FEATURE_NAMES))),
        rng.poisson(3, (rows, len(OPCODES))).astype(np.float64),
        rng.uniform(0, 20, (rows, WORK_WIDTH)),
        np.tile(np.log([4096.0, 2.0**20]), (rows, 1)),
        sequences,
    )


def times_head(seed: int = 3, kernels: int = 4) -> TimesHead:
    """A head of times of two devices: smooth for one source of invented kernels, a tree for each device for another."""
    rng = np.random.default_rng(seed)
    inputs, sizes = kernel_inputs(kernels, seed), np.exp(rng.uniform(4, 16, (kernels, 3))).round()
    columns = launch_columns(inputs, sizes)
    low, high = columns[:, :3].min(axis=0), columns[:, :3].max(axis=0)
    seen = columns[:, : CODE.stop]
    mean, scale, weights = seen.mean(axis=0), seen.std(axis=0), rng.normal(0, 0.3, (kernels, 2))
    smooth = GaussianProcess(mean, scale, standardize(seen, mean, scale, MAX_STANDARD), weights, np.array([1.0, 0.2]))
    trees = Boosted(
        base=np.array([1.0, -0.1]),
        root=np.array([0, 3]),
        target=np.array([0, 1]),
        column=np.array([0, -1, -1, 7, -1, -1]),
        threshold=np.array([9.0, 0, 0, 1.5, 0, 0]),
        right=np.array([2, 0, 0, 5, 0, 0]),
        value=np.array([0, -2.0, 2.0, 0, -0.5, 0.5]),
    )
    errors = [Errors(wide * LEVELS, np.array([wide, 2 * wide]), slope, 0.8) for wide, slope in ((0.3, 1.0), (2.0, 0.5))]
    names = tuple(f"k{number}.cl:k" for number in range(kernels))
    experts = tuple(
        Expert(source, model, names, columns[:, CODE], low, high, errors[0], errors[1], 0.2, 0.9, (0.3, 0.6))
        for source, model in (("one", smooth), ("other", trees))
    )
    machine = MachineModel(np.log(list(PRIORS.values()))[:, TERMS["code"]], 0.5)
    return TimesHead(("CPU", "GPU"), experts, machine, errors[1], 64.0, "none", {"data": "random"})


def coarsening_head(seed: int = 0) -> LineHead:
    """Lines for two devices."""
    rng = np.random.default_rng(seed)
    return LineHead(
        devices=("one", "other"),
        factors=(1, 2, 4, 8),
        offset=rng.normal(0, 0.3, (3, 4)),
        slope=rng.normal(0, 0.1, (3, 4)),
        interval_quantiles=np.array([0.8, 1.2]),
        card={"note": "random"},
    )


def _ensemble(rng: np.random.Generator, num_outputs: int, num_auxiliary: int) -> Ensemble:
    """Two networks of two units on vectors of `DIM` dimensions."""
    config = EncoderConfig(hidden=2, layers=1, pooling=("last", "mean"))
    hidden, dense, features = config.hidden, 3, config.vector_size(DIM) + num_auxiliary
    shapes: dict[str, tuple[int, ...]] = {
        "ahead.0.weight_ih_l0": (4 * hidden, DIM),
        "ahead.0.weight_hh_l0": (4 * hidden, hidden),
        "ahead.0.bias_ih_l0": (4 * hidden,),
        "ahead.0.bias_hh_l0": (4 * hidden,),
        **{f"norm.{name}": (features,) for name in ("weight", "bias", "running_mean", "running_var")},
        "dense.weight": (dense, features),
        "dense.bias": (dense,),
        "output.weight": (num_outputs, dense),
        "output.bias": (num_outputs,),
    }
    members = []
    for _ in range(2):
        arrays = {name: rng.uniform(0.1, 1, shape).astype(np.float32) for name, shape in shapes.items()}
        members.append(NumpyNetwork.from_arrays(arrays, config))
    return Ensemble(tuple(members))


def lstm_times_head(seed: int = 5) -> TimesHead:
    """A head of times of two networks that read invented kernels."""
    head, width = times_head(), len(LAUNCH)
    reader = LSTMTimes(_ensemble(np.random.default_rng(seed), 2, width), np.full(width, 2.0), np.ones(width))
    expert = replace(head.experts[0], model=reader)
    return replace(head, experts=(expert,), embedding_id=small_embedding().fingerprint)


def lstm_coarsening_head(seed: int = 6) -> LSTMHead:
    """Two networks for two devices."""
    return LSTMHead(
        ensemble=_ensemble(np.random.default_rng(seed), 3, 2),
        devices=("one", "other"),
        factors=(1, 2, 4, 8),
        interval_quantiles=np.array([0.8, 1.2]),
        embedding_id=small_embedding().fingerprint,
        card={"note": "random"},
    )


def classifier_head(seed: int = 0) -> ClassifierHead:
    """A classifier of three classes with one layer of two units, for the words of `small_embedding`."""
    rng = np.random.default_rng(seed)
    dim, hidden, dense, words = 4, 2, 3, len(small_embedding().vocabulary)
    shapes: dict[str, tuple[int, ...]] = {"vectors": (_WORDS, dim), "literals.weight": (7, dim)}
    for way in ("ahead", "back"):
        shapes[f"{way}.0.weight_ih_l0"] = (4 * hidden, dim)
        shapes[f"{way}.0.weight_hh_l0"] = (4 * hidden, hidden)
        shapes |= {f"{way}.0.bias_{side}_l0": (4 * hidden,) for side in ("ih", "hh")}
    features = 6 * hidden + 2 * dim
    shapes |= {
        "query.weight": (1, 2 * hidden),
        "query.bias": (1,),
        "norm.weight": (features,),
        "norm.bias": (features,),
    }
    shapes |= {"dense.weight": (dense, features), "dense.bias": (dense,)}
    shapes |= {"output.weight": (_CLASSES, dense), "output.bias": (_CLASSES,)}
    tensors = {name: rng.normal(0, 0.5, shape).astype(np.float16).astype(np.float32) for name, shape in shapes.items()}
    weights = rng.normal(size=(_CLASSES, _BUCKETS))
    rarity = rng.uniform(0, 2, _BUCKETS).astype(np.float32)
    sizes = program_encoder(hidden, layers=1, buckets=7)
    row = rng.integers(0, _WORDS, words).astype(np.int32)
    return ClassifierHead(
        network=ProgramNetwork(NumpyNetwork.from_arrays(tensors, sizes), tensors["vectors"], row, 20),
        ngrams=NgramModel.rounded(weights, rng.normal(size=_CLASSES), rarity),
        ngram_weight=0.5,
        classes=("1", "2", "3"),
        temperature=1.3,
        threshold=0.4,
        embedding_id=small_embedding().fingerprint,
        levels=("-O1", "-O3"),
        card={"data": "random"},
    )


def encoded_program(num_words: int, length: int = 5, seed: int = 3) -> EncodedProgram:
    """A random program in an embedding of `num_words` words, with one literal per statement."""
    rng = np.random.default_rng(seed)
    return EncodedProgram(
        rng.integers(0, num_words, length).astype(np.int32),
        rng.integers(0, 2**32, length, dtype=np.uint32),
        np.arange(length + 1, dtype=np.int32),
    )
