"""`MapperHead` and its parts: covariances, processes, calibration, and what missing inputs do."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from ncc.devices.head import Calibration, Process, Term, describe_kernel, standardise, summarise
from ncc.errors import InputError
from ncc.ir import OPCODES, read_module
from ncc.kernels import FEATURE_NAMES, profile_kernel

SIZES = [None, 0, 1e3, 1e6, 1e12]


def _standard_blocks(kernel_inputs, rows, seed=3):
    raw = kernel_inputs(rows, seed).blocks(*np.exp(np.random.default_rng(seed).uniform(2, 16, (2, rows))))
    scale = {name: columns.std(axis=0) for name, columns in raw.items()}
    return standardise(raw, {name: columns.mean(axis=0) for name, columns in raw.items()}, scale)


@pytest.mark.parametrize(
    "term",
    [
        Term(1.0, {"profile": 1.0}, 2.0),
        Term(2.5, {"embedding": 0.8, "data": 0.2}, 1.0),
        Term(0.1, {"data": 0.5, "shape": 0.5}, 0.2),
    ],
)
def test_covariances_are_symmetric_and_positive_definite(kernel_inputs, term):
    blocks = _standard_blocks(kernel_inputs, 40)
    covariance = term.covariance(blocks, blocks)
    assert covariance.shape == (40, 40)
    assert covariance == pytest.approx(covariance.T, abs=1e-12)
    assert np.linalg.eigvalsh(covariance).min() > 0
    # rounding makes distances of 0 as large as the root of the machine's precision
    assert np.diag(covariance) == pytest.approx(term.variance, rel=1e-5)
    assert covariance.max() <= term.variance
    assert covariance.min() > 0


def test_covariances_fall_to_one_in_e_over_a_length():
    term = Term(3.0, {"a": 0.75, "b": 0.25}, 2.0)
    origin = {"a": np.zeros((1, 2)), "b": np.zeros((1, 1))}
    # (0.75 · mean(4, 0) + 0.25 · 10) = 4: a distance of 2
    other = {"a": np.array([[2.0, 0.0]]), "b": np.array([[np.sqrt(10.0)]])}
    assert term.covariance(origin, other) == pytest.approx(3 * np.exp(-1))


def test_a_process_of_little_noise_passes_through_its_training_rows(kernel_inputs):
    blocks = _standard_blocks(kernel_inputs, 25)
    target = np.random.default_rng(0).normal(size=25)
    terms = (Term(1.0, {"profile": 1.0}, 2.0), Term(1.0, {"opcodes": 1.0}, 1.0))
    covariance = sum(term.covariance(blocks, blocks) for term in terms)
    for noise, tolerance in ((1e-8, 1e-4), (1.0, None)):
        weights = cho_solve(cho_factor(covariance + noise * np.eye(25)), target - target.mean())
        said = Process(terms, float(target.mean()), weights).predict(blocks, blocks)
        if tolerance:
            assert said == pytest.approx(target, abs=tolerance)
        else:  # noise draws answers to the mean
            assert said.std() < 0.8 * target.std()


def test_a_process_says_its_mean_far_from_all_that_it_knows(kernel_inputs):
    blocks = _standard_blocks(kernel_inputs, 5)
    far = {name: columns[:1] + 1e4 for name, columns in blocks.items()}
    process = Process((Term(1.0, {"profile": 1.0}, 2.0),), -0.4, np.ones(5))
    assert process.predict(far, blocks) == pytest.approx([-0.4], abs=1e-9)


def test_a_column_that_was_constant_in_training_does_not_matter(mapper_head, kernel_inputs):
    head, inputs = mapper_head(), kernel_inputs()
    column = FEATURE_NAMES.index("depth")
    scale = {name: columns.copy() for name, columns in head.scale.items()}
    for name, number in (("profile", 3), ("shape", 1)):
        assert inputs.blocks(np.ones(1), np.ones(1))[name][0, number] == inputs.profile[0, column]
        scale[name][number] = 0
    blocks = standardise(inputs.blocks(np.ones(1), np.ones(1)), head.mean, scale)
    assert blocks["profile"][0, 3] == blocks["shape"][0, 1] == 0
    assert all(np.isfinite(columns).all() for columns in blocks.values())
    # where all of a block was constant, it does not matter either
    silent = replace(head, scale={name: np.zeros_like(columns) for name, columns in head.scale.items()})
    assert silent.predict(inputs, 1e3, 64) == silent.predict(kernel_inputs(seed=8), 1e9, 1)


def test_rows_do_not_influence_each_other(mapper_head, kernel_inputs):
    head, inputs = mapper_head(), kernel_inputs(9)
    transfer, group = np.exp(np.random.default_rng(5).uniform(2, 16, (2, 9)))
    score = head.score(inputs, transfer, group)
    order = np.random.default_rng(6).permutation(9)
    assert head.score(inputs.rows(order), transfer[order], group[order]) == pytest.approx(score[order], abs=1e-9)
    alone = [head.score(inputs.rows(np.array([i])), transfer[[i]], group[[i]])[0] for i in range(9)]
    assert alone == pytest.approx(score.tolist(), abs=1e-9)


def test_a_score_is_the_mean_of_what_the_processes_say_in_their_units(mapper_head, kernel_inputs):
    head, inputs = mapper_head(), kernel_inputs()
    sizes = np.array([1e5]), np.array([64.0])
    blocks = standardise(inputs.blocks(*sizes), head.mean, head.scale)
    said = [process.predict(blocks, head.training)[0] for process in head.processes]
    assert head.score(inputs, *sizes) == pytest.approx([(said[0] / 0.8 + said[1] / 1.3) / 2])


@pytest.mark.parametrize("transfer", SIZES)
@pytest.mark.parametrize("wgsize", [None, 64])
def test_an_answer_does_not_contradict_itself(mapper_head, kernel_inputs, transfer, wgsize):
    for seed in range(5):
        answer = mapper_head().predict(kernel_inputs(seed=seed), transfer, wgsize)
        low, high = answer.interval
        assert low <= answer.log_ratio <= high
        assert low < high
        assert 0 < answer.probability_gpu < 1
        assert (answer.probability_gpu > 0.5) == (answer.log_ratio > 0)


@pytest.mark.parametrize("location", [-0.2, 0.0, 1e-12, 0.2])
@pytest.mark.parametrize("samples", [np.full(50, -1.0), np.full(50, 1.0), np.linspace(-1, 1, 50)])
def test_the_expected_ratio_names_the_device_whatever_was_drawn(location, samples):
    answer = summarise(location, samples)
    assert (answer.probability_gpu > 0.5) == (location > 0)
    assert answer.interval[0] <= location <= answer.interval[1]
    assert 0 < answer.probability_gpu < 1


def test_a_summary_is_of_the_samples():
    samples = np.linspace(-1, 3, 1001)
    answer = summarise(1.0, samples)
    assert answer.log_ratio == 1.0
    assert answer.interval == pytest.approx((-0.6, 2.6))
    assert answer.probability_gpu == pytest.approx(0.75, abs=2e-3)


def test_calibration_puts_the_errors_of_near_scores_around_the_expected_value():
    score = np.linspace(-1, 1, 500)
    # errors are small for the CPU and large for the GPU
    errors = np.where(np.arange(500) % 2, 1.0, -1.0) * np.where(score < 0, 0.1, 2.0)
    calibration = Calibration(score, 3 * score + errors, 3.0)
    location, drawn = calibration.apply(np.array([-0.8, 0.0, 0.8, 50.0, -50.0]))
    assert location == pytest.approx([-2.4, 0.0, 2.4, 150.0, -150.0])
    assert drawn.shape == (5, 100)
    spread = np.abs(drawn - location[:, None]).mean(axis=1)
    assert spread == pytest.approx([0.1, 1.05, 2.0, 2.0, 0.1], abs=0.05)


@pytest.mark.parametrize(("known", "neighbours"), [(1, 1), (29, 29), (31, 30), (200, 40)])
def test_calibration_does_with_as_many_scores_as_there_are(known, neighbours):
    calibration = Calibration(np.linspace(-1, 1, known), np.zeros(known), 1.0)
    _, drawn = calibration.apply(np.array([-9.0, 0.3, 9.0]))
    assert drawn.shape == (3, neighbours)
    assert np.isfinite(drawn).all()


def test_missing_inputs_are_averaged_over_the_reference(mapper_head, kernel_inputs):
    head, inputs = mapper_head(), kernel_inputs()
    each = [head.predict(inputs, *row).log_ratio for row in head.reference.tolist()]
    assert head.predict(inputs).log_ratio == pytest.approx(np.mean(each))
    by_transfer = [head.predict(inputs, transfer, 64).log_ratio for transfer in head.reference[:, 0].tolist()]
    assert head.predict(inputs, None, 64).log_ratio == pytest.approx(np.mean(by_transfer))
    by_group = [head.predict(inputs, 1e5, group).log_ratio for group in head.reference[:, 1].tolist()]
    assert head.predict(inputs, 1e5).log_ratio == pytest.approx(np.mean(by_group))
    assert len({round(value, 9) for value in (*each, *by_transfer, *by_group)}) > len(each)


def test_missing_inputs_leave_room_for_all_that_they_may_be(mapper_head, kernel_inputs):
    head, inputs = mapper_head(), kernel_inputs()
    ends = np.array([head.predict(inputs, *row).interval for row in head.reference.tolist()])
    low, high = head.predict(inputs).interval
    # a mixture's quantile lies between those of its parts
    assert ends[:, 0].min() <= low <= ends[:, 0].max()
    assert ends[:, 1].min() <= high <= ends[:, 1].max()


def test_a_reference_of_one_row_is_that_row(mapper_head, kernel_inputs):
    head = mapper_head(reference=1)
    inputs = kernel_inputs()
    assert head.predict(inputs) == head.predict(inputs, *head.reference[0].tolist())


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("name", ["transfer", "wgsize"])
def test_inputs_that_can_not_be_are_refused(mapper_head, kernel_inputs, name, value):
    given = {"transfer": {"transfer_bytes": value}, "wgsize": {"wgsize": value}}[name]
    expected = {"transfer": r"bytes; expected 0 to 1e\+15", "wgsize": "work-items; expected a whole number from 1 to"}
    with pytest.raises(InputError, match=f"{name} is {value} {expected[name]}"):
        mapper_head().predict(kernel_inputs(), **given)


# ---- what is known of a kernel

MODULE = b"""
declare i64 @get_global_id(i32)
define float @twice(float %x) {
  %y = fadd float %x, %x
  ret float %y
}
define float @unused(float %x) {
  %y = fdiv float %x, 3.0
  ret float %y
}
define spir_kernel void @k(float addrspace(1)* %a, i32 %n) {
  %i = call i64 @get_global_id(i32 0)
  %p = getelementptr float, float addrspace(1)* %a, i64 %i
  %v = load float, float addrspace(1)* %p
  %w = call float @twice(float %v)
  store float %w, float addrspace(1)* %p
  ret void
}
"""


@pytest.fixture
def module():
    return read_module(MODULE)


def test_a_kernel_is_described_with_what_it_calls(module):
    vectors = np.arange(module.num_statements)[:, None] * np.array([[1.0, -2.0]])
    inputs = describe_kernel(module, 2, vectors)
    assert len(inputs) == 1
    assert np.array_equal(inputs.profile[0], profile_kernel(module, 2).features)
    counts = dict(zip(OPCODES, inputs.opcodes[0].tolist(), strict=True))
    assert (counts["fadd"], counts["fdiv"], counts["load"], counts["ret"], counts["call"]) == (1, 0, 1, 2, 2)
    used = [0, 1, 2, *range(6, 13)]  # the function that is not called lies between
    assert inputs.vectors[0] == pytest.approx(vectors[used].mean(axis=0))


def test_statements_that_are_left_out_are_not_described(module):
    vectors = np.eye(module.num_statements)
    whole, none, rest = (describe_kernel(module, 2, vectors, without) for without in (set[int](), set[int](), {1}))
    for name in ("profile", "opcodes", "vectors"):
        assert np.array_equal(getattr(whole, name), getattr(none, name))
    assert whole.vectors[0, 1] > 0
    assert rest.vectors[0, 1] == 0
    gone = whole.opcodes[0] - rest.opcodes[0]
    assert [(OPCODES[i], gone[i]) for i in np.flatnonzero(gone)] == [("fadd", 1)]
    flops = FEATURE_NAMES.index("once_flops")
    assert whole.profile[0, flops] == pytest.approx(np.log1p(1))
    assert rest.profile[0, flops] == 0


def test_rows_are_taken_and_repeated(kernel_inputs):
    inputs = kernel_inputs(4)
    some = inputs.rows(np.array([2, 0]))
    assert np.array_equal(some.opcodes, inputs.opcodes[[2, 0]])
    often = inputs.repeat(3)
    assert len(often) == 3
    assert (often.vectors == inputs.vectors[0]).all()


def test_blocks_say_how_work_grows_with_data(kernel_inputs):
    inputs = kernel_inputs(3)
    transfer, group = np.array([0.0, 1e3, 1e9]), np.array([1.0, 64.0, 256.0])
    blocks = inputs.blocks(transfer, group)
    dims, depth = (inputs.profile[:, FEATURE_NAMES.index(name)] for name in ("dimensions", "depth"))
    assert np.array_equal(blocks["data"], np.log1p(np.stack([transfer, group], axis=1)))
    assert np.array_equal(blocks["shape"], np.stack([dims, depth], axis=1))
    assert blocks["growth"][:, 1] == pytest.approx((dims + depth) * np.log1p(transfer))
    assert blocks["opcodes"] == pytest.approx(np.log1p(inputs.opcodes))
    assert blocks["embedding"] is inputs.vectors
    assert all(len(columns) == 3 and np.isfinite(columns).all() for columns in blocks.values())
