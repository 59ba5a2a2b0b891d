"""Thread coarsening: its table of times, and heads of lines and of networks: what they learn, answer and refuse."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import ncc
from ncc.errors import AssetError, DataError, InputError
from tests.rooms import (
    DEVICES,
    FACTORS,
    CoarseningSamples,
    CoarseningTimes,
    Embedding,
    EncoderConfig,
    HeadConfig,
    LineHead,
    LSTMCoarseningTraining,
    TrainingConfig,
    Vocabulary,
    compile_source,
    complete_log_speedups,
    divergent_share,
    fit_coarsening_lstm,
    fit_line,
    load_coarsening_head,
    read_coarsening_times,
    read_module,
)
from tests.support.refuses import refuses
from tests.support.text import cases

OPENCL = ncc.CompileOptions(language="opencl")
STRAIGHT = b"__kernel void scale(__global float *x) { x[get_global_id(0)] *= 2.0f; }"


def test_an_answer_names_the_feature_that_it_is_of() -> None:
    (line,) = ncc.predict_coarsening(STRAIGHT, options=OPENCL)
    assert line.features_used == {"divergent_share": 0.0}
    assert "divergent_share = 0" in line.warnings[0]


def test_lines_are_least_squares_shrunk_and_drawn_together(toy: CoarseningSamples) -> None:
    even = np.array([int(name[1:]) % 2 == 0 for name in toy.kernel])
    runtime = toy.runtime.copy()
    runtime[toy.device == "Tahiti", 1] *= np.exp(-0.4)
    fitted = fit_line(replace(toy, runtime=runtime), even.astype(float), np.arange(len(toy)))
    log_gain, log_loss = np.log(1.3), np.log(0.7)
    middle, shrunk = (log_gain + log_loss) / 2, 8 / (8 + 3) * (log_loss - log_gain)
    # a quarter of a device's own line, three quarters of that of all; Tahiti alone has 0.4 more
    assert fitted.offset[:, 1] - (middle - shrunk / 2) == pytest.approx([0.075, 0.075, 0.075, 0.175, 0.1])
    assert fitted.slope[:, 1] == pytest.approx([shrunk] * 5)
    assert (fitted.devices, fitted.factors) == (DEVICES, FACTORS)
    assert not fit_line(toy, np.ones(len(toy)), np.arange(len(toy))).slope.any()  # the share never varies


def test_what_ships_is_what_the_command_makes(published: CoarseningSamples, published_ir: dict[str, bytes]) -> None:
    shipped, made = load_coarsening_head(), ncc.train_coarsening()
    for name in ("offset", "slope", "interval_quantiles"):
        np.testing.assert_allclose(getattr(shipped, name), getattr(made, name), rtol=1e-9, atol=1e-12)
    assert shipped.card == made.card | {"command": shipped.card["command"]}


@pytest.mark.parametrize(("name", "pays"), [("sgemm", True), ("floydWarshall", True), ("spmv", False)])
def test_it_says_the_same_of_published_ir_and_of_source(
    name: str, pays: bool, published: CoarseningSamples, published_ir: dict[str, bytes]
) -> None:
    source = str(published.source[published.kernel == name][0])
    # the IR that it was trained on is LLVM 5's for a CPU; what users have is that of their own source
    shipped = load_coarsening_head()
    assert isinstance(shipped, LineHead)
    for ir in (published_ir[name], compile_source(source.encode(), OPENCL).ir):
        share = divergent_share(read_module(ir))
        answers = [shipped.speedups(share, device) for device in (*DEVICES, None)]
        assert [speedups.argmax() > 0 for speedups in answers] == [pays] * 5


DECLARED = "declare i64 @_Z13get_global_idj(i32)\ndeclare i64 @_Z15get_global_sizej(i32)\n"
OTHER = "define void @other() {\nentry:\n  ret void\n}\n"


@pytest.mark.parametrize(("kernel", "share"), cases("divergence.txt"))
def test_statements_that_not_all_threads_run_are_weighted_by_loops(kernel: str, share: str) -> None:
    module = read_module(f"{DECLARED}{OTHER}{kernel}\n".encode())
    assert divergent_share(module, 0) == 0
    assert divergent_share(module) == pytest.approx(float(Fraction(share)))


HEADER = "kernel,cf,runtime_Fermi,runtime_Kepler,runtime_Cypress,runtime_Tahiti\n"
# not in the order of names, and not as many lines for each: a line's number tells nothing
TIMES = "zeta,1,8,8,8,8\nzeta,2,4,4,4,16\nzeta,4,,2,8,16\nalpha,1,10,10,10,10\n"


def test_rows_are_pairs_of_kernel_and_device(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEADER + TIMES)
    times = read_coarsening_times(tmp_path / "table.csv")
    assert times.kernel.tolist() == ["alpha"] * 4 + ["zeta"] * 4
    assert times.device.tolist() == [*DEVICES, *DEVICES]
    np.testing.assert_array_equal(times.runtime[4], [8, 4, *[np.nan] * 4])
    np.testing.assert_array_equal(times.runtime[5], [8, 4, 2, *[np.nan] * 3])


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        ("_Kepler", "_Keeper", ("column runtime_Kepler",)),
        ("zeta,2", "zeta,3", ("zeta at factor 3", "1, 2, 4, 8, 16, 32")),
        ("zeta,2", "zeta,1", ("zeta at factor 1", "once")),
        ("alpha,1,10", "alpha,1,ten", ("row 3", "runtime_Fermi", "ten")),
        ("alpha,1,10", "alpha,1,-1", ("row 3", "runtime_Fermi", "-1")),
        ("alpha,1,10", "alpha,1,0", ("alpha", "above 0")),
        ("alpha,1", "alpha,2", ("alpha", "factor 1")),
    ],
)
def test_a_malformed_table_is_refused(tmp_path: Path, old: str, new: str, nouns: tuple[str, ...]) -> None:
    path, text = tmp_path / "table.csv", HEADER + TIMES
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with refuses(DataError, path, *nouns):
        read_coarsening_times(path)


def test_curves_are_followed_down_and_never_up() -> None:
    doublings = np.arange(6.0)
    parabola = 0.5 * doublings - 0.2 * doublings**2
    runtime = np.stack([np.exp(-parabola), 2.0 ** -np.arange(6.0), np.full(6, np.nan)])
    runtime[:2, 4:] = np.nan
    curves = complete_log_speedups(runtime)
    np.testing.assert_allclose(curves[0], parabola, atol=1e-12)
    np.testing.assert_allclose(curves[1] / np.log(2), [0, 1, 2, 3, 3, 3], atol=1e-12)
    assert np.isnan(curves[2]).all()


SMALL = LSTMCoarseningTraining(
    members=2,
    encoder=EncoderConfig(hidden=6, layers=1, pooling=("mean", "max")),
    head=HeadConfig(dense=8),
    loop=TrainingConfig(epochs=60, batch_size=16, learning_rate=2e-2),
)
SHORT = replace(SMALL, members=1, loop=replace(SMALL.loop, epochs=1))
KERNEL = b"""define spir_kernel void @k(ptr addrspace(1) %p) {
  %x = load float, ptr addrspace(1) %p, align 4
  store float %x, ptr addrspace(1) %p, align 4
  ret void
}
"""
EMBEDDING = Embedding(
    Vocabulary(tuple(f"word {i}" for i in range(8)), np.arange(8)),
    np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32),
)


def _fit(training: LSTMCoarseningTraining, rows: range, seed: int, embedding: Embedding = EMBEDDING) -> tuple:
    """A head that learned from some rows of twelve kernels, whose first word says whether to coarsen; and all words."""
    number = np.arange(12).repeat(len(DEVICES))
    rng = np.random.default_rng(1)
    words = [np.array([kernel % 2, *rng.integers(2, 8, 4 + kernel % 3)]) for kernel in range(12)]
    times = CoarseningTimes(
        kernel=np.array([f"k{kernel}" for kernel in number]),
        device=np.tile(DEVICES, 12),
        runtime=np.exp(np.where(number[:, None] % 2 == 0, -0.2, 0.2) * np.log2(FACTORS)),
    )
    words = [words[kernel] for kernel in number]
    head = fit_coarsening_lstm(times, words, embedding, training, np.random.default_rng(seed), np.array(rows))
    return head, words


@pytest.fixture(scope="module")
def fitted() -> tuple:
    return _fit(SMALL, range(16, 48), 0)


def test_networks_learn_which_kernels_gain(fitted: tuple) -> None:
    head, words = fitted
    found = np.stack([head.speedups(EMBEDDING.vectors[word]) for word in words[:16]])
    assert (found[:, 0] == 1).all()
    assert (found.argmax(axis=1) > 0).tolist() == ([True] * 4 + [False] * 4) * 2


def test_the_seed_decides() -> None:
    first, same, other = (_fit(SHORT, range(48), seed)[0].speedups(EMBEDDING.vectors) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_all_devices_together_are_their_geometric_mean(fitted: tuple) -> None:
    head, _ = fitted
    each = np.stack([head.speedups(EMBEDDING.vectors, device) for device in DEVICES])
    assert head.speedups(EMBEDDING.vectors) == pytest.approx(np.exp(np.log(each).mean(axis=0)))
    with refuses(InputError, "none", "Fermi"):
        head.speedups(EMBEDDING.vectors, "none")


def test_an_answer_comes_from_the_head_that_is_given(fitted: tuple, tmp_path) -> None:
    with refuses(AssetError, "embedding"):
        ncc.predict_coarsening(KERNEL, head=fitted[0])
    head, _ = _fit(SHORT, range(8), 0, ncc.load_embedding())
    head.save(tmp_path)
    given, saved = (ncc.predict_coarsening(KERNEL, head=each, device="Fermi") for each in (head, tmp_path))
    assert given[0].speedups == pytest.approx(saved[0].speedups, rel=0.01)  # weights are kept in half the bits
    assert given[0].speedups[1] == 1
    assert (given[0].features_used, given[0].warnings) == ({}, ())
