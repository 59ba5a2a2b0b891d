"""Tables of one's own: read, refused with what is wrong, and learnt from."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import ncc
from ncc.errors import DataError
from tests.rooms import coarsening_read_times as read_times

STRAIGHT = "__kernel void k{}(__global float *a) {{ int i = get_global_id(0); a[i] = a[i] * {}.0f + {}; }}\n"
BRANCHES = (
    "__kernel void k{}(__global float *a) {{ int i = get_global_id(0);"
    " if (a[i] > 0) {{ for (int k = 0; k < i % {}; k++) a[i] = sqrt(a[i]) + {}; }} }}\n"
)


def _write(path, rows):
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture
def rows(tmp_path):
    """Five kernels that gain and five that branch and lose, on two devices, one of which gains more."""
    found = []
    for number in range(10):
        branches = number % 2
        (tmp_path / f"k{number}.cl").write_text((BRANCHES if branches else STRAIGHT).format(number, number + 2, number))
        for device, gain in (("old", 0.2), ("new", 0.4)):
            for step, factor in enumerate((1, 2, 4, 8)):
                time = 2.0 * np.exp((gain if branches else -gain) * step)
                found.append({
                    "kernel_file": f"k{number}.cl", "kernel": f"k{number}", "device": device, "factor": factor,
                    "time_ms": round(float(time), 4), "global_size": 4096, "local_size": 64,
                })  # fmt: skip
    return found


def test_a_row_a_launch_holds_times_at_all_factors(tmp_path, rows):
    del rows[1]  # k0 on the old device at factor 2
    samples, named = read_times(_write(tmp_path / "t.csv", [{"colour": "red"} | row for row in rows]))
    assert samples.devices == ("old", "new")
    assert len(samples) == len(named) == 20
    assert named[2] == (str(tmp_path / "k1.cl"), "k1")
    assert samples.source[2] == (tmp_path / "k1.cl").read_text()
    np.testing.assert_array_equal(np.isfinite(samples.runtime[0]), [True, False, True, True, False, False])
    assert samples.runtime[1, 3] == pytest.approx(2 * np.exp(-1.2), abs=1e-4)


def test_launches_at_factor_1_alone_are_passed_over(tmp_path, rows):
    assert len(read_times(_write(tmp_path / "t.csv", rows[:1] + rows[4:]))[0]) == 19
    with pytest.raises(DataError, match="k0 on old: only factor 1 was measured at its sizes; expected factor 1 and an"):
        read_times(_write(tmp_path / "t.csv", rows[::4]))


def test_times_of_the_kernel_alone_count_where_all_are_there(tmp_path, rows):
    rows = [row | {"kernel_ms": 1.0 / row["factor"]} for row in rows]
    assert read_times(_write(tmp_path / "t.csv", rows))[0].runtime[0, :4].tolist() == [1, 0.5, 0.25, 0.125]
    rows[3]["kernel_ms"] = ""
    assert read_times(_write(tmp_path / "t.csv", rows))[0].runtime[0, 0] == 2


def test_sizes_make_launches(tmp_path, rows):
    other = [row | {"global_size": 8192} for row in rows]
    assert len(read_times(_write(tmp_path / "t.csv", rows + other))[0]) == 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_ms": -1}, r"row 0 \(of 80, from 0\): time_ms is '-1'; expected a number from 0"),
        ({"time_ms": 0}, r"time_ms is '0'; expected a time above 0"),
        ({"time_ms": "inf"}, r"time_ms is 'inf'"),
        ({"time_ms": ""}, r"time_ms is ''; expected a time above 0"),
        ({"factor": 3}, r"row 0 \(from 0\): factor is '3'; expected one of 1, 2, 4, 8, 16, 32"),
        ({"factor": ""}, r"factor is ''; expected one of 1, 2"),
        ({"factor": 16}, r"k0 on old: only factor 2, 4, 8, 16 was measured at its sizes; expected factor 1"),
        ({"factor": 2}, r"rows 0 and 1 \(from 0\) are one launch of k0 at factor 2 on one device, 'old'"),
        ({"global_size": -4}, r"global_size is '-4'"),
        ({"global_size": 1}, r"k0 on old: only factor 2, 4, 8 was measured at its sizes"),
        ({"device": ""}, r"device is ''; expected a name"),
        ({"kernel_file": "other.cl"}, r"other\.cl: there is no such file, and it should hold 'k0'"),
    ],
)
def test_a_bad_row_is_named(tmp_path, rows, change, message):
    with pytest.raises(DataError, match=message):
        read_times(_write(tmp_path / "t.csv", [rows[0] | change, *rows[1:]]))


def test_two_devices_of_one_name_are_one_device_twice(tmp_path, rows):
    with pytest.raises(DataError, match="name two devices differently"):
        read_times(_write(tmp_path / "t.csv", [row | {"device": "gpu"} for row in rows]))


def test_what_can_not_be_learnt_from_is_refused(tmp_path, rows):
    wrong = [{name: value for name, value in row.items() if name not in ("factor", "device")} for row in rows]
    with pytest.raises(DataError, match="missing column device, factor; found kernel_file, kernel, time_ms"):
        ncc.train_coarsening(table=_write(tmp_path / "t.csv", wrong))
    with pytest.raises(DataError, match=r"t\.csv: 3 kernels; expected at least 8 to learn from"):
        ncc.train_coarsening(table=_write(tmp_path / "t.csv", rows[:24]))
    for row in rows[:8]:
        row["kernel"] = "other"
    with pytest.raises(DataError, match="no kernel 'other', which the table has times of; found k0"):
        ncc.train_coarsening(table=_write(tmp_path / "t.csv", rows))
    with pytest.raises(DataError, match=r"missing\.parquet: can't be read: No such file"):
        ncc.train_coarsening(table=tmp_path / "missing.parquet")


def test_a_head_of_ones_own_answers_for_ones_devices(tmp_path, rows):
    from tests.rooms import app

    def ran(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    said = ran("train", "coarsening", _write(tmp_path / "t.csv", rows), "-o", tmp_path / "mine")
    assert said.exit_code == 0, said.output
    about = json.loads(said.stdout[said.stdout.index("{") :])
    assert about["data"] == "t.csv: 10 kernels on old, new"
    assert about["geomean_speedup"] == about["controls"]["perfect choice"]["geomean_speedup"]
    assert about["controls"]["always 1"]["geomean_speedup"] == 1.0 < about["geomean_speedup"]
    asked = "predict-coarsening", "--head", tmp_path / "mine", "--platform"
    gains, loses = (json.loads(ran(*asked, "new", tmp_path / f"k{k}.cl", "--json").stdout)["factor"] for k in (0, 1))
    assert gains > 1 == loses
    assert ran(*asked, "Fermi", tmp_path / "k0.cl").exit_code == 2


@pytest.mark.full
@pytest.mark.timeout(300)
def test_lstms_learn_from_it_too(tmp_path, rows):
    head = ncc.train_coarsening(tmp_path / "mine", table=_write(tmp_path / "t.csv", rows), model="lstm")
    assert head.devices == ("old", "new")
    [answer] = ncc.predict_coarsening(tmp_path / "k0.cl", head=tmp_path / "mine", platform="new")
    assert answer.factor > 1
