"""All methods of a device-mapping comparison."""

from collections.abc import Callable
from functools import cache, partial
from typing import Final, get_args

import numpy as np

from ncc.arrays import Floats, Ints
from ncc.ir.reader.native import OPCODES
from ncc.ir.reader.reader import read_module
from ncc.learning.embedding.embedding import Embedding, load_embedding
from ncc.tasks.devices.devices_head import TimesHead
from ncc.tasks.devices.devices_published import launches_of, load_inputs
from ncc.tasks.devices.features import KernelInputs
from ncc.tasks.devices.fit import Model, fit_times
from ncc.tasks.devices.published import DeviceMappingSamples, load_legacy_ir
from ncc_lab.devices.controls import NUM_TREES, standard_controls
from ncc_lab.devices.mapper import MapperMethod
from ncc_lab.devices.task import DeviceMethod
from ncc_lab.peers.deeptune import DeepTune
from ncc_lab.peers.grewe import grewe
from ncc_lab.peers.inst2vec import Inst2vec, read_statements
from ncc_lab.peers.ir2vec import Encoding, function_vectors, ir2vec_trees
from ncc_lab.runs import fitted


def standard_methods(
    samples: DeviceMappingSamples, folder: str | None = None, *, num_trees: int = NUM_TREES
) -> dict[str, Callable[[], DeviceMethod]]:
    """Controls, published methods run again, and ours.

    Args:
        samples: The n samples.
        folder: Data folder; None stands for NCC_DATA, then the cache.
        num_trees: Trees of the controls' forests.

    Returns:
        Name → what makes the method, in the order of the table; some compile every kernel, so only those that are
        chosen are made.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """

    @cache
    def embedding() -> Embedding:
        return load_embedding()

    @cache
    def make_inputs() -> KernelInputs:
        return load_inputs(samples, embedding(), folder)

    def make_inst2vec() -> DeviceMethod:
        return Inst2vec(read_statements(samples, embedding(), folder), embedding())

    def make_ir2vec(encoding: Encoding) -> DeviceMethod:
        return ir2vec_trees(function_vectors(samples, embedding(), encoding, folder), encoding)

    def itself(method: DeviceMethod) -> DeviceMethod:
        return method

    controls = standard_controls(opcode_histograms(samples, folder), num_trees)
    return {
        **{control.name: partial(itself, control) for control in controls},
        "Grewe et al.": grewe,
        DeepTune.name: DeepTune,
        Inst2vec.name: make_inst2vec,
        **{f"IR2Vec {encoding}": partial(make_ir2vec, encoding) for encoding in get_args(Encoding)},
        MapperMethod.name: lambda: MapperMethod(make_inputs()),
        "ncc times": lambda: TimesMethod("ncc times", make_inputs(), "gp"),
        "ncc times, lstm": lambda: TimesMethod("ncc times, lstm", make_inputs(), "lstm"),
    }


class TimesMethod:
    """A head that predicts times, by processes as the one that ships or by LSTMs, asked for their ratio.

    Args:
        name: Of the method.
        inputs: Of the samples, in their order; see `ncc.tasks.devices.devices_published.load_inputs`.
        model: What learns.
    """

    kind: Final = "ours"
    version = "2"

    def __init__(self, name: str, inputs: KernelInputs, model: Model) -> None:
        """Keeps what is known of the kernels; nothing is fitted before `fit`."""
        self.name = name
        self.slow = model == "lstm"
        self._inputs, self._model = inputs, model
        self._head: TimesHead | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Inputs, and what learns."""
        inputs = self._inputs
        return (inputs.profile, inputs.opcodes, inputs.work, inputs.vectors, self._model)

    def fit(self, samples: DeviceMappingSamples, train_idx: Ints, rng: np.random.Generator) -> None:
        """Fits the head to some rows, forgetting what was there before."""
        table, seed = launches_of(samples).rows(train_idx), int(rng.integers(2**31))
        self._head = fit_times(table, self._inputs.rows(train_idx), model=self._model, seed=seed)

    def predict(self, samples: DeviceMappingSamples, test_idx: Ints) -> Floats:
        """Expected log(CPU time / GPU time), both ends of its 80 % interval, probability of the GPU: (m, 4)."""
        sizes = launches_of(samples).sizes[test_idx]
        answers = fitted(self._head).predict(self._inputs.rows(test_idx), sizes, "all")
        return np.array([(one.log_ratio, *one.interval, one.probability_gpu) for one in answers])


def opcode_histograms(samples: DeviceMappingSamples, folder: str | None = None) -> Floats:
    """How often each opcode occurs in each row's kernel (legacy IR): (n, num_opcodes) float64.

    Raises:
        DataError: The archive of legacy IR is missing or damaged.
    """
    legacy = load_legacy_ir(folder)
    counts = {
        name: np.bincount(read_module(text, name=name).opcode, minlength=len(OPCODES)) for name, text in legacy.items()
    }
    return np.array([counts[samples.ir_name(row)] for row in range(len(samples))], np.float64)
