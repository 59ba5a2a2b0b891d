"""Tables and recipes that people write or download: CSV and TOML."""

import numpy as np

from fuzz.folders import Files, mutate_files, put, unpack
from fuzz.samples import ROOT
from fuzz.targets import Target
from ncc.learning.corpus.recipe import load_recipe
from ncc.tasks.coarsening.train import DEVICES
from ncc_lab.coarsening.samples import read_table as read_runtimes
from ncc_lab.devices.samples import read_table

__all__ = ["TARGETS"]

_DEVICE_MAPPING = """benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,wgsize,oracle,\
runtime_cpu,runtime_gpu,src
npb-3.3-BT-add,A,12,3,5,0,2,0,2129920,128,CPU,0.81,1.92,"__kernel void A(__global float* a) {
  a[get_global_id(0)] += 1.0f;
}"
npb-3.3-BT-add,B,12,3,5,0,2,0,21299200,128,GPU,8.1,2.95,"__kernel void A(__global float* a) { a[0] = 1; }"
amd-app-sdk-3.0-Reduction-reduce,default,40,0.5,9,4,4,1,1048576,256,GPU,3.5e0,0.7,"__kernel void A() {}"
"""


def _coarsening_table() -> str:
    columns = ["kernel", "cf", *(f"PCA{i + 1}" for i in range(7)), *(f"runtime_{device}" for device in DEVICES), "src"]
    lines = [",".join(columns)]
    for kernel, factors in (("mm", (1, 2, 4, 8)), ("spmv", (1, 2, 4, 8, 16, 32))):
        for factor in factors:
            components = ",".join(f"{0.1 * i + factor:.3f}" for i in range(7))
            runtimes = ",".join(f"{100 + abs(factor - 4) * (place + 1)}" for place in range(len(DEVICES)))
            lines.append(f'{kernel},{factor},{components},{runtimes},"__kernel void {kernel}() {{ }}"')
    return "\n".join(lines) + "\n"


def _device_mapping() -> list[Files]:
    return [{"table.csv": _DEVICE_MAPPING.encode()}]


def _read_device_mapping(data: bytes) -> None:
    found = read_table(put(unpack(data)) / "table.csv", "amd")
    assert np.isfinite(found.log_ratio).all()
    assert len(found.groups("suite")) == len(found)
    assert all(found.ir_name(row) for row in range(len(found)))


def _coarsening() -> list[Files]:
    return [{"runtimes.csv": _coarsening_table().encode()}]


def _read_coarsening(data: bytes) -> None:
    found = read_runtimes(put(unpack(data)) / "runtimes.csv")
    assert (found.best >= 0).all()
    assert not np.isinf(found.runtime[:, :1] / found.runtime).any()
    assert not np.isinf(found.components).any()


def _recipes() -> list[Files]:
    folder = ROOT / "datasets" / "corpora"
    included = b'name = "inner"\n[[source]]\nname = "a"\nfolder = "$HOME/x"\n'
    own = (
        b'name = "all"\nwidths = [1, 2]\nmax_degree = 64\ninclude = ["inner.toml"]\n[abstraction]\n'
        b'keep_callees = true\nmax_struct_fields = 8\n[[source]]\nname = "b"\nfolder = "."\npatterns = ["**/*.c"]\n'
        b'optimization = ["-O1"]\nshare = 0.5\nattempts = [{ language = "c", flags = ["-w"] }]\n'
    )
    texts = [own, *(path.read_bytes() for path in sorted(folder.glob("[e-o]*.toml")))]
    return [{"recipe.toml": text, "inner.toml": included} for text in texts]


def _read_recipe(data: bytes) -> None:
    recipe = load_recipe(put(unpack(data)) / "recipe.toml")
    assert recipe.sources
    assert hash(recipe.sources) == hash(recipe.sources)
    assert all(0 < source.share <= 1 for source in recipe.sources)


TARGETS = (
    Target(name="devmap-table", seeds=_device_mapping, mutate=mutate_files, run=_read_device_mapping, weight=6),
    Target(name="coarsening-tables", seeds=_coarsening, mutate=mutate_files, run=_read_coarsening, weight=6),
    Target(name="recipe", seeds=_recipes, mutate=mutate_files, run=_read_recipe, weight=6),
)
