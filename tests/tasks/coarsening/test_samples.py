"""Tables of thread coarsening samples, invented and published."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError, InputError
from tests.rooms import DEVICE_TITLES, DEVICES, FACTORS, CoarseningSamples, complete_log_speedups, locate, read_tables
from tests.rooms import coarsening_load_samples as load_samples

COMPONENTS = ",".join(f"PCA{i}" for i in range(1, 8))
HEADER = f"kernel,cf,{COMPONENTS},runtime_Fermi,runtime_Kepler,runtime_Cypress,runtime_Tahiti,src,seq\n"
ORACLE_HEADER = (
    "kernel,cf_Fermi,runtime_Fermi,cf_Kepler,runtime_Kepler,cf_Cypress,runtime_Cypress,cf_Tahiti,runtime_Tahiti\n"
)
# kernels in another order than the oracles, and not as many lines each: a line's number tells nothing
RUNTIMES = (
    'zeta,1,1,2,3,4,5,6,7,8,8,8,8,"void zeta()\n{}",[1]\n'
    'zeta,2,2,2,3,4,5,6,7,4,4,4,16,"void zeta()\n{}",[1]\n'
    'zeta,4,3,2,3,4,5,6,7,,2,8,16,"void zeta()\n{}",[1]\n'
    "alpha,1,9,2,3,4,5,6,7,10,10,10,10,void alpha(),[2]\n"
)
ORACLES = "alpha,1,10,1,10,1,10,1,10\nzeta,2.0,4,4,2,2,4,1,8\n"
Write = Callable[[str, str], tuple[Path, Path]]


def test_rows_are_pairs_of_kernel_and_device(write_tables: Write) -> None:
    samples = read_tables(*write_tables(HEADER + RUNTIMES, ORACLE_HEADER + ORACLES))
    assert len(samples) == 8
    assert samples.kernel.tolist() == ["alpha"] * 4 + ["zeta"] * 4
    assert samples.device.tolist() == [*DEVICES, *DEVICES]
    assert samples.source.tolist() == ["void alpha()"] * 4 + ["void zeta()\n{}"] * 4
    np.testing.assert_array_equal(samples.runtime[4], [8, 4, *[np.nan] * 4])
    np.testing.assert_array_equal(samples.runtime[5], [8, 4, 2, *[np.nan] * 3])
    np.testing.assert_array_equal(samples.speedup[7], [1, 0.5, 0.5, *[np.nan] * 3])
    assert samples.components.shape == (8, 6, 7)
    assert samples.components[4, :3, 0].tolist() == [1, 2, 3]
    assert np.isnan(samples.components[0, 1:]).all()
    assert samples.best.tolist() == [0, 0, 0, 0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",PCA3", ",PCB3", "runtimes.csv: missing column PCA3"),
        ("zeta,2,2", "zeta,3,2", "zeta at factor 3: expected a factor of 1, 2, 4, 8, 16, 32"),
        ("zeta,2,2", "zeta,1,2", "zeta at factor 1: given twice"),
        ("alpha,1,9,2", "alpha,1,nine,2", "alpha at factor 1: column PCA1: could not convert"),
        ("void alpha(),[2]", "", "too few cells"),
        ('16,"void zeta()\n{}",[1]\nalpha', '16,"void eta()",[1]\nalpha', "zeta at factor 4: .* another text"),
        ("alpha,1,9", "alpha,2,9", "alpha on Fermi: .* factor 1 is missing"),
        (",10,10,10,10,", ",10,-1,10,10,", "alpha on Kepler: a runtime is not above 0"),
        ("alpha,1,9", "beta,1,9", "has other kernels: alpha, beta"),
        (",7,4,4,4,16", ",7,9,4,4,16", "zeta on Fermi: the oracle, factor 2, is not the fastest"),
        (RUNTIMES, "", "no rows"),
    ],
)
def test_malformed_table_is_refused(write_tables: Write, old: str, new: str, message: str) -> None:
    text = HEADER + RUNTIMES
    assert text.replace(old, new) != text
    with pytest.raises(DataError, match=message):
        read_tables(*write_tables(text.replace(old, new), ORACLE_HEADER + ORACLES))


def test_missing_table_names_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pact-2014-runtimes\.csv: missing"):
        load_samples(tmp_path)


def test_answers_are_hidden_in_a_copy(toy: CoarseningSamples) -> None:
    before = toy.runtime.copy()
    hidden = toy.without_answers(np.array([0, 5]))
    assert np.flatnonzero(np.isnan(hidden.runtime).all(axis=1)).tolist() == [0, 5]
    assert np.isnan(hidden.speedup[5]).all()
    assert hidden.best[[0, 5]].tolist() == [-1, -1]
    assert hidden.best[[1, 4]].tolist() == [0, 2]
    np.testing.assert_array_equal(toy.runtime, before)


def test_groups(toy: CoarseningSamples) -> None:
    assert [len(np.unique(toy.groups(unit))) for unit in ("kernel", "source", "device")] == [8, 7, 4]
    with pytest.raises(InputError, match="no grouping 'suite'; expected one of kernel, source, device"):
        toy.groups("suite")  # type: ignore[arg-type]


def test_published_tables(published: CoarseningSamples) -> None:
    assert len(published) == 68
    assert set(DEVICES) == set(DEVICE_TITLES)
    assert np.isfinite(published.runtime).sum(axis=0).tolist() == [68, 68, 68, 68, 62, 20]
    best = np.nanmax(published.speedup, axis=1)
    assert best.mean() == pytest.approx(1.356, abs=5e-4)
    assert np.exp(np.log(best).mean()) == pytest.approx(1.277, abs=5e-4)
    assert published.speedup[:, FACTORS.index(4)].mean() == pytest.approx(1.1515, abs=5e-5)


def test_texts_are_those_of_the_kernel_and_not_of_the_line(published: CoarseningSamples) -> None:
    with locate("coarsening", "pact-2014-runtimes.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    text_of = {line["kernel"]: line["src"] for line in lines}
    assert all(text_of[kernel] == source for kernel, source in zip(published.kernel, published.source, strict=True))
    # what the published programs read for kernel k is line k
    kernels = list(dict.fromkeys(published.kernel.tolist()))
    right = [line["kernel"] == kernel for line, kernel in zip(lines, kernels, strict=False)]
    assert (len(lines), sum(right)) == (89, 2)


def test_every_kernel_has_its_ir(published: CoarseningSamples, published_ir: dict[str, bytes]) -> None:
    assert set(published_ir) == set(published.kernel)
    assert all(b"spir_kernel" in text for text in published_ir.values())


def test_curves_are_followed_down_and_never_up() -> None:
    nan = np.nan
    doublings = np.arange(6.0)
    parabola = 0.5 * doublings - 0.2 * doublings**2
    runtime = np.stack([np.exp(-parabola), 2.0 ** -np.arange(6.0), np.full(6, nan)])
    runtime[:2, 4:] = nan
    found = complete_log_speedups(runtime)
    np.testing.assert_allclose(found[0], parabola, atol=1e-12)
    np.testing.assert_allclose(found[1] / np.log(2), [0, 1, 2, 3, 3, 3], atol=1e-12)
    assert np.isnan(found[2]).all()
