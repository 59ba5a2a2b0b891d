"""Device mapping: tables, folds, what choices are worth, controls, and the comparison of all methods."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from lab.tests.rooms import DEVICE_PROTOCOLS, DEVICE_UNITS, device_controls, device_splits, device_terms
from ncc.errors import DataError, InputError
from ncc_lab import Comparison, Method, Runs, Subset, compare, device_mapping, evaluate_devmap
from tests.rooms import DeviceMappingSamples, load_legacy_ir, read_table
from tests.support.datasets import needs
from tests.support.refuses import refuses

SMALL = 20
TRAIN, TEST = np.arange(16), np.arange(16, 24)
NUM_FOLDS = {"published": 4, "kernel": 4, "application": 4, "suite": 3}


def fit_rows(
    method: Method[Any],
    samples: DeviceMappingSamples,
    train: np.ndarray,
    test: np.ndarray,
    seed: int = 0,
) -> np.ndarray:
    return np.asarray(method.predict(Subset(samples, train), Subset(samples, test), np.random.default_rng(seed)))


def control(name: str, **options: Any) -> Method[DeviceMappingSamples]:
    return next(method for method in device_controls(num_trees=SMALL, **options) if method.name == name)


def run(samples: DeviceMappingSamples, *methods: Method[Any], protocol: str = "suite", **options: Any) -> Comparison:
    return compare(device_mapping(samples), methods, [protocol], **options)


@pytest.mark.parametrize("protocol", DEVICE_PROTOCOLS)
def test_every_row_is_tested_once_and_groups_stay_together(toy: DeviceMappingSamples, protocol: str) -> None:
    folds = list(device_splits(toy, protocol, num_folds=4))
    assert len(folds) == NUM_FOLDS[protocol]
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(24))
    names = toy.groups(DEVICE_UNITS[protocol])
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(24))
        assert protocol == "published" or not set(names[train]) & set(names[test])


@pytest.mark.parametrize("protocol", DEVICE_PROTOCOLS)
def test_folds_of_groups_come_from_the_seed_and_others_are_fixed(toy: DeviceMappingSamples, protocol: str) -> None:
    ten = dataclasses.replace(toy, application=toy.benchmark)  # the toy's applications are too few for ten folds
    folds = device_mapping(ten).protocols[protocol].folds
    first, again, other = ([test.tolist() for _, test in folds(seed)] for seed in (1, 1, 2))
    fixed = protocol in ("published", "suite")
    assert first == again
    assert (first == other) == fixed
    assert first == [test.tolist() for _, test in device_splits(ten, protocol, 204 if fixed else 1)]


def test_published_is_the_papers_split(toy: DeviceMappingSamples) -> None:
    expected = StratifiedKFold(n_splits=4, shuffle=True, random_state=204).split(toy.counts, toy.is_gpu)
    for (train, test), there in zip(device_splits(toy, "published", num_folds=4), expected, strict=True):
        assert np.array_equal(train, there[0])
        assert np.array_equal(test, there[1])


def test_impossible_splits_are_refused(toy: DeviceMappingSamples) -> None:
    with refuses(InputError, "random", "published"):
        device_splits(toy, "random")
    with refuses(InputError, "10", "6"):
        device_splits(toy, "application")


def test_leakage_is_what_rows_share(toy: DeviceMappingSamples) -> None:
    twin = toy.source.copy()
    twin[8] = twin[0]  # another kernel, application and suite, the same text
    text = b"; ModuleID = 'k%d'\nsource_filename = \"k%d\"\ndefine void @k%d() {\n}\n"
    ir = [text % ((row,) * 3) for row in range(24)]
    ir[8] = ir[0].replace(b'k0"', b'other"')
    transfer, wgsize = np.arange(24.0), np.arange(24.0)
    transfer[[0, 8, 16]], wgsize[[0, 8]] = 99.0, 77.0  # one row of each suite
    samples = dataclasses.replace(toy, source=twin, transfer_bytes=transfer, wgsize=wgsize)
    always = control("always CPU")
    (leak,) = compare(device_mapping(samples, ir), [always], ["suite"]).leakage.to_dict("records")
    shared = {name.removeprefix("shared_"): count for name, count in leak.items() if name.startswith("shared_")}
    # rows 0 and 1 have the text of row 8 too: all three have a twin in training
    expected = {"kernel": 0, "source": 3, "ir": 2, "transfer": 3, "auxiliary": 2, "application": 0, "suite": 0}
    assert shared == expected
    assert (leak["platform"], leak["num_test_rows"]) == ("toy", 24)


# CPU times 8, 1, 1, 1 and GPU times 1, 2, 4, 1.25: the GPU is faster in the first row only
LOG_RATIO = np.log([8.0, 1 / 2, 1 / 4, 1 / 1.25])


@pytest.mark.parametrize("sign", [1, -1])
def test_choices_by_hand(toy: DeviceMappingSamples, sign: int) -> None:
    samples = dataclasses.replace(toy, log_ratio=np.concatenate([sign * LOG_RATIO, np.zeros(20)]))
    found = device_terms(samples, np.arange(4), sign * np.array([[1.0], [1.0], [-1.0], [-1.0]]))
    assert found["right"].tolist() == [True, False, True, True]
    assert np.exp(found["log_share"]) == pytest.approx([1, 0.5, 1, 1])
    # the static choice is the device that is faster in three rows
    assert found["speedup"] == pytest.approx([8, 1 / 2, 1, 1])


def test_intervals_count_with_their_ends(toy: DeviceMappingSamples) -> None:
    truth = toy.log_ratio[:, None]
    found = device_terms(toy, np.arange(24), np.hstack([truth, truth - 1, truth, np.full((24, 1), 0.5)]))
    assert found["is_covered"].all()
    assert found["probability"].tolist() == [0.5] * 24


@pytest.mark.parametrize(
    ("columns", "noun"),
    [((0.1,), "1 or 3 or 4"), ((0.1, 0.2), "median"), ((-0.1, -0.05), "median"), ((-0.1, 0.1, 1.5), "probabilities")],
)
def test_unusable_predictions_are_refused(toy: DeviceMappingSamples, columns: tuple[float, ...], noun: str) -> None:
    answer = np.concatenate([[0.0], columns])
    oracle: Method[Any] = Method("oracle", "control", lambda _train, test, _rng: np.tile(answer, (len(test), 1)))
    with refuses(InputError, "oracle", noun):
        run(toy, oracle)


def test_constants_and_majority(toy: DeviceMappingSamples) -> None:
    assert (fit_rows(control("always GPU"), toy, TRAIN, TEST) > 0).all()
    assert (fit_rows(control("always CPU"), toy, TRAIN, TEST) < 0).all()
    majority = control("majority")
    assert (fit_rows(majority, toy, np.flatnonzero(toy.is_gpu)[:3], TEST) > 0).all()
    assert (fit_rows(majority, toy, np.flatnonzero(~toy.is_gpu)[:3], TEST) < 0).all()
    assert (fit_rows(majority, toy, np.array([0, 1]), TEST) == 0).all()  # a tie: CPU


def test_trees_learn_what_their_features_tell(toy: DeviceMappingSamples) -> None:
    histograms = np.random.default_rng(5).poisson(3.0, size=(len(toy), 6)).astype(np.float64)
    hidden = toy.without_answers(TEST)
    trees = device_controls(histograms, SMALL)[3:]
    assert len(trees) == 8
    for method in trees:
        predicted = fit_rows(method, hidden, TRAIN, TEST)
        # transfer size decides in the toy, and every one of them knows it
        assert ((predicted > 0) == toy.is_gpu[TEST]).mean() >= 0.75, method.name
    ratios = fit_rows(control("auxiliary only (log_ratio)"), hidden, TRAIN, TEST)
    np.testing.assert_allclose(ratios, toy.log_ratio[TEST], atol=0.1)
    for label in (True, False):  # one class in training
        rows = np.flatnonzero(toy.is_gpu == label)[:4]
        assert ((fit_rows(control("auxiliary only (label)"), toy, rows, TEST) > 0) == label).all()


def test_random_vectors_recognize_kernels_and_are_drawn_anew_for_every_seed(toy: DeviceMappingSamples) -> None:
    # nothing but the kernel tells these labels, so only a vector per kernel can recall them
    flat = dataclasses.replace(toy, transfer_bytes=np.ones(24), is_gpu=np.arange(24) // 2 % 2 == 0)
    rows, vectors = np.arange(0, 24, 2), control("random vector per kernel + auxiliary (label)")
    recalled = fit_rows(vectors, flat, rows, rows + 1)
    assert ((recalled > 0) == flat.is_gpu[rows + 1]).mean() >= 0.9
    assert np.ptp(fit_rows(control("auxiliary only (label)"), flat, rows, rows + 1)) == 0
    first, again, other = (fit_rows(vectors, toy, TRAIN, TEST, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


IR = b"define void @f(ptr %0) {\n  store i32 0, ptr %0, align 4\n  ret void\n}\n"


@pytest.fixture
def tables(toy: DeviceMappingSamples, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy in place of the published tables, with one text of IR for all kernels of a suite."""

    def load(platform: str, folder: str | None) -> DeviceMappingSamples:
        assert folder == "data"
        return dataclasses.replace(toy, platform=platform)

    texts = {toy.ir_name(row): IR.replace(b"@f", f"@{toy.suite[row]}".encode()) for row in range(24)}
    monkeypatch.setattr("ncc_lab.devices.samples.load_samples", load)
    for place in ("ncc.tasks.devices.train", "ncc_lab.devices.samples"):
        monkeypatch.setattr(f"{place}.load_legacy_ir", lambda folder: texts)


@pytest.mark.usefixtures("tables")
def test_chosen_methods_are_compared(toy: DeviceMappingSamples, tmp_path: Path) -> None:
    lines: list[str] = []
    runs = Runs(seed=3, seeds=2, trees=5, cache=tmp_path, data="data")
    found = evaluate_devmap(protocol="suite", method=("auxiliary*", "major*"), runs=runs, progress=lines.append)
    names = ["majority", "auxiliary only (label)", "auxiliary only (log_ratio)"]
    assert [(one.task.platform, one.method) for one in found.results] == [
        (platform, name) for platform in ("amd", "nvidia") for name in names
    ]
    figures = json.loads(json.dumps(found.to_dict()))["protocols"]["suite/nvidia"]
    assert figures["static_choice"] == "CPU"
    assert figures["oracle"]["geomean_speedup"] == pytest.approx(np.exp(0.35))
    assert figures["methods"]["majority"]["coverage"] is None
    assert lines[-1] == "nvidia, 18 of 18: suite, auxiliary only (log_ratio), seed 4, fold 3"
    assert len(list(tmp_path.iterdir())) == 2 * 18


HEADER = (
    ",benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,wgsize,"
    "oracle,runtime_cpu,runtime_gpu,src,seq\n"
)
ROWS = (
    '0,npb-3.3-BT-x_solve1,A,1,2,3,4,5,6,2048,64,GPU,3.0,1.5,"kernel\nvoid A()",[1]\n'
    "1,amd-app-sdk-3.0-Reduction-reduce,default,1,2,3,4,5,0,512,32,CPU,0.5,2.0,void B(),[2]\n"
)
Published = Callable[[str], DeviceMappingSamples]


def read(folder: Path, text: str) -> DeviceMappingSamples:
    (folder / "table.csv").write_text(text, encoding="utf-8")
    return read_table(folder / "table.csv", "amd")


def test_table_as_arrays(tmp_path: Path) -> None:
    samples = read(tmp_path, HEADER + ROWS)
    assert len(samples) == 2
    assert samples.suite.tolist() == ["npb", "amd"]
    assert samples.application.tolist() == ["npb BT", "amd Reduction"]
    assert samples.source.tolist() == ["kernel\nvoid A()", "void B()"]
    assert samples.counts.tolist() == [[1, 2, 3, 4, 5, 6, 2048, 64], [1, 2, 3, 4, 5, 0, 512, 32]]
    assert samples.transfer_bytes.tolist() == [2048, 512]
    assert samples.wgsize.tolist() == [64, 32]
    np.testing.assert_allclose(samples.log_ratio, [np.log(2), -np.log(4)])
    assert samples.is_gpu.tolist() == [True, False]
    assert [samples.ir_name(row) for row in (0, 1)] == [
        "npb-3.3-BT-x_solve1_A.ll",
        "amd-app-sdk-3.0-Reduction-reduce.ll",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",wgsize", ",size", "missing column wgsize; found .*size"),
        ("GPU,3.0", "CPU,3.0", r"row 0 \(of 2, from 0\): the oracle is not the faster device"),
        ("CPU,0.5", "TPU,0.5", "row 1 .*the oracle must be CPU or GPU"),
        ("0.5,2.0", "0.5,0.0", "row 1 .*runtimes must be positive"),
        ("2048", "lots", "row 0 .*transfer is 'lots'; expected a number from 0"),
        ("2048", "nan", "row 0 .*transfer is 'nan'; expected a number from 0"),
        ("amd-app-sdk-3.0-Reduction-reduce", "reduce", "row 1 .*expected SUITE-VERSION-APPLICATION-KERNEL"),
    ],
)
def test_malformed_table_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = HEADER + ROWS
    assert text.replace(old, new) != text
    with pytest.raises(DataError, match=rf"table\.csv: {message}"):
        read(tmp_path, text.replace(old, new))


def test_answers_are_hidden_in_a_copy(toy: DeviceMappingSamples) -> None:
    rows = np.array([0, 3])
    before = toy.log_ratio.copy()
    hidden = toy.without_answers(rows)
    for name in ("runtime_cpu_ms", "runtime_gpu_ms", "log_ratio"):
        assert np.flatnonzero(np.isnan(getattr(hidden, name))).tolist() == [0, 3]
    assert not hidden.is_gpu[rows].any()
    assert np.array_equal(hidden.is_gpu[4:], toy.is_gpu[4:])
    assert np.array_equal(toy.log_ratio, before)


def test_groups(toy: DeviceMappingSamples) -> None:
    sizes = [len(np.unique(toy.groups(unit))) for unit in ("kernel", "application", "suite")]
    assert sizes == [12, 6, 3]
    with pytest.raises(InputError, match="no grouping 'row'"):
        toy.groups("row")  # type: ignore[arg-type]


@pytest.mark.parametrize(("platform", "num_gpu"), [("amd", 280), ("nvidia", 387)])
def test_published_tables(published: Published, platform: str, num_gpu: int) -> None:
    samples = published(platform)
    assert len(samples) == 680
    assert len(np.unique(samples.benchmark)) == 256
    assert len(np.unique(samples.application)) == 71
    suites = dict(zip(*np.unique(samples.suite, return_counts=True), strict=True))
    assert suites == {
        "amd": 16, "npb": 527, "nvidia": 12, "parboil": 19, "polybench": 27, "rodinia": 31, "shoc": 48,
    }  # fmt: skip
    assert samples.is_gpu.sum() == num_gpu


def test_published_tables_have_the_same_rows(published: Published) -> None:
    amd, nvidia = published("amd"), published("nvidia")
    assert np.array_equal(amd.benchmark, nvidia.benchmark)
    assert np.array_equal(amd.dataset, nvidia.dataset)
    assert (amd.transfer_bytes != nvidia.transfer_bytes).sum() == 226
    assert (amd.wgsize != nvidia.wgsize).sum() == 42


def test_every_row_has_its_ir(published: Published) -> None:
    samples = published("amd")
    needs("legacy_ir", "devmap")
    texts = load_legacy_ir()
    names = {samples.ir_name(row) for row in range(len(samples))}
    assert len(texts) == 669
    assert names == set(texts)
    assert all(b"define" in text for text in texts.values())
