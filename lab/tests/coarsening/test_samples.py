"""What the lab reads beside the times of thread coarsening: texts and components."""

import csv
from pathlib import Path

import numpy as np
import pytest

from ncc.errors import DataError
from tests.rooms import DEVICES, FACTORS, CoarseningSamples, locate, read_runtimes
from tests.support.refuses import refuses

COMPONENTS = ",".join(f"PCA{i}" for i in range(1, 8))
HEADER = f"kernel,cf,{COMPONENTS},runtime_Fermi,runtime_Kepler,runtime_Cypress,runtime_Tahiti,src,seq\n"
TABLE = HEADER + (
    'zeta,1,1,2,3,4,5,6,7,8,8,8,8,"void zeta()\n{}",[1]\n'
    'zeta,2,2,2,3,4,5,6,7,4,4,4,16,"void zeta()\n{}",[1]\n'
    'zeta,4,3,2,3,4,5,6,7,,2,8,16,"void zeta()\n{}",[1]\n'
    "alpha,1,9,2,3,4,5,6,7,10,10,10,10,void alpha(),[2]\n"
)


def test_texts_and_components_are_those_of_the_kernel_and_factor(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    samples = read_runtimes(tmp_path / "table.csv")
    assert samples.source.tolist() == ["void alpha()"] * 4 + ["void zeta()\n{}"] * 4
    assert samples.components[4, :3, 0].tolist() == [1, 2, 3]
    assert np.isnan(samples.components[0, 1:]).all()
    assert samples.best.tolist() == [0, 0, 0, 0, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("old", "new", "nouns"),
    [
        (",PCA3", ",PCB3", ("column PCA3",)),
        ("alpha,1,9,2", "alpha,1,nine,2", ("alpha at factor 1", "nine")),
        ("alpha,1,9,2", "alpha,1,inf,2", ("alpha at factor 1", "finite")),
        ('16,"void zeta()\n{}",[1]\nalpha', '16,"void eta()",[1]\nalpha', ("zeta at factor 4", "another text")),
    ],
)
def test_a_malformed_table_is_refused(tmp_path: Path, old: str, new: str, nouns: tuple[str, ...]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLE.replace(old, new))
    assert path.read_text() != TABLE
    with refuses(DataError, path, *nouns):
        read_runtimes(path)


def test_published_texts_are_those_of_the_kernel_and_not_of_the_line(published: CoarseningSamples) -> None:
    with locate("coarsening", "pact-2014-runtimes.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    text_of = {line["kernel"]: line["src"] for line in lines}
    assert all(text_of[kernel] == source for kernel, source in zip(published.kernel, published.source, strict=True))
    # what the published programs read for kernel k is line k
    kernels = list(dict.fromkeys(published.kernel.tolist()))
    right = [line["kernel"] == kernel for line, kernel in zip(lines, kernels, strict=False)]
    assert (len(lines), sum(right)) == (89, 2)


def test_published_answers(published: CoarseningSamples) -> None:
    assert (published.runtime[:, 0] / published.runtime[:, FACTORS.index(4)]).mean() == pytest.approx(1.1515, abs=5e-5)
    with locate("coarsening", "pact-2014-oracles.csv").open(newline="") as stream:
        oracles = [float(row[f"cf_{device}"]) for row in csv.DictReader(stream) for device in DEVICES]
    assert np.array(FACTORS)[published.best].tolist() == oracles
