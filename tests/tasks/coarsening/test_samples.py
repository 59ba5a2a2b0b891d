"""The table of thread coarsening and the curves through it."""

from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError
from tests.rooms import DEVICES, complete_log_speedups, read_coarsening_times
from tests.support.refuses import refuses

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
    np.testing.assert_array_equal(times.runtime[7], [8, 16, 16, *[np.nan] * 3])


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        ("_Kepler", "_Keeper", ("column runtime_Kepler",)),
        ("zeta,2", "zeta,3", ("zeta at factor 3", "1, 2, 4, 8, 16, 32")),
        ("zeta,2", "zeta,1", ("zeta at factor 1", "once")),
        ("alpha,1,10", "alpha,1,ten", ("row 3", "runtime_Fermi", "ten")),
        ("alpha,1,10", "alpha,1,-1", ("row 3", "runtime_Fermi", "-1")),
        ("alpha,1,10", "alpha,1,0", ("alpha", "above 0")),
        (",10,10,10,10", "", ("too few cells",)),
        ("alpha,1", "alpha,2", ("alpha", "factor 1")),
        (TIMES, "", ("no rows",)),
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
