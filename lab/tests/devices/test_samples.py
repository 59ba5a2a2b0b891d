"""Tables of device mapping samples, invented and published."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError, InputError
from tests.rooms import DeviceMappingSamples, load_legacy_ir, read_table
from tests.rooms import devices_load_samples as load_samples
from tests.support.datasets import needs

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
        (",void B(),[2]", "", "row 1 .*too few cells"),
        (ROWS, "", "no rows"),
        (HEADER + ROWS, "", "missing column benchmark, .*found none"),
    ],
)
def test_malformed_table_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = HEADER + ROWS
    assert text.replace(old, new) != text
    with pytest.raises(DataError, match=rf"table\.csv: {message}"):
        read(tmp_path, text.replace(old, new))


def test_missing_table_names_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cgo17-amd\.csv: missing"):
        load_samples("amd", tmp_path)
    with pytest.raises(InputError, match="platform is 'intel'; expected one of amd, nvidia"):
        load_samples("intel", tmp_path)  # type: ignore[arg-type]


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
