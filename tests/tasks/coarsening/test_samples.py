"""The table of thread coarsening, invented and published."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError
from tests.rooms import DEVICES, FACTORS, CoarseningSamples, complete_log_speedups, locate, read_runtimes
from tests.support.refuses import refuses

COMPONENTS = ",".join(f"PCA{i}" for i in range(1, 8))
HEADER = f"kernel,cf,{COMPONENTS},runtime_Fermi,runtime_Kepler,runtime_Cypress,runtime_Tahiti,src,seq\n"
# not in the order of names, and not as many lines for each: a line's number tells nothing
RUNTIMES = (
    'zeta,1,1,2,3,4,5,6,7,8,8,8,8,"void zeta()\n{}",[1]\n'
    'zeta,2,2,2,3,4,5,6,7,4,4,4,16,"void zeta()\n{}",[1]\n'
    'zeta,4,3,2,3,4,5,6,7,,2,8,16,"void zeta()\n{}",[1]\n'
    "alpha,1,9,2,3,4,5,6,7,10,10,10,10,void alpha(),[2]\n"
)


def test_rows_are_pairs_of_kernel_and_device(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(HEADER + RUNTIMES)
    samples = read_runtimes(tmp_path / "table.csv")
    assert samples.kernel.tolist() == ["alpha"] * 4 + ["zeta"] * 4
    assert samples.device.tolist() == [*DEVICES, *DEVICES]
    assert samples.source.tolist() == ["void alpha()"] * 4 + ["void zeta()\n{}"] * 4
    np.testing.assert_array_equal(samples.runtime[4], [8, 4, *[np.nan] * 4])
    np.testing.assert_array_equal(samples.runtime[5], [8, 4, 2, *[np.nan] * 3])
    np.testing.assert_array_equal(samples.speedup[7], [1, 0.5, 0.5, *[np.nan] * 3])
    assert samples.components[4, :3, 0].tolist() == [1, 2, 3]
    assert np.isnan(samples.components[0, 1:]).all()
    assert samples.best.tolist() == [0, 0, 0, 0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        (",PCA3", ",PCB3", ("column PCA3",)),
        ("zeta,2,2", "zeta,3,2", ("zeta at factor 3", "1, 2, 4, 8, 16, 32")),
        ("zeta,2,2", "zeta,1,2", ("zeta at factor 1", "twice")),
        ("alpha,1,9,2", "alpha,1,nine,2", ("alpha at factor 1", "nine")),
        ("void alpha(),[2]", "", ("too few cells",)),
        ('16,"void zeta()\n{}",[1]\nalpha', '16,"void eta()",[1]\nalpha', ("zeta at factor 4", "another text")),
        ("alpha,1,9", "alpha,2,9", ("alpha", "factor 1")),
        (",10,10,10,10,", ",10,-1,10,10,", ("alpha", "above 0")),
        (RUNTIMES, "", ("no rows",)),
    ],
)
def test_a_malformed_table_is_refused(tmp_path: Path, old: str, new: str, nouns: tuple[str, ...]) -> None:
    path, text = tmp_path / "table.csv", HEADER + RUNTIMES
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with refuses(DataError, path, *nouns):
        read_runtimes(path)


def test_published_table(published: CoarseningSamples, published_ir: dict[str, bytes]) -> None:
    assert np.isfinite(published.runtime).sum(axis=0).tolist() == [68, 68, 68, 68, 62, 20]
    best = np.nanmax(published.speedup, axis=1)
    assert [best.mean(), np.exp(np.log(best).mean())] == pytest.approx([1.356, 1.277], abs=5e-4)
    assert published.speedup[:, FACTORS.index(4)].mean() == pytest.approx(1.1515, abs=5e-5)
    assert set(published_ir) == set(published.kernel)
    with locate("coarsening", "pact-2014-oracles.csv").open(newline="") as stream:
        oracles = [float(row[f"cf_{device}"]) for row in csv.DictReader(stream) for device in DEVICES]
    assert np.array(FACTORS)[published.best].tolist() == oracles


def test_texts_are_those_of_the_kernel_and_not_of_the_line(published: CoarseningSamples) -> None:
    with locate("coarsening", "pact-2014-runtimes.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    text_of = {line["kernel"]: line["src"] for line in lines}
    assert all(text_of[kernel] == source for kernel, source in zip(published.kernel, published.source, strict=True))
    # what the published programs read for kernel k is line k
    kernels = list(dict.fromkeys(published.kernel.tolist()))
    right = [line["kernel"] == kernel for line, kernel in zip(lines, kernels, strict=False)]
    assert (len(lines), sum(right)) == (89, 2)


def test_curves_are_followed_down_and_never_up() -> None:
    doublings = np.arange(6.0)
    parabola = 0.5 * doublings - 0.2 * doublings**2
    runtime = np.stack([np.exp(-parabola), 2.0 ** -np.arange(6.0), np.full(6, np.nan)])
    runtime[:2, 4:] = np.nan
    curves = complete_log_speedups(runtime)
    np.testing.assert_allclose(curves[0], parabola, atol=1e-12)
    np.testing.assert_allclose(curves[1] / np.log(2), [0, 1, 2, 3, 3, 3], atol=1e-12)
    assert np.isnan(curves[2]).all()
