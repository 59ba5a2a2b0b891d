"""Profiles of the published kernels, which are typed IR of LLVM 5, and of the same by the bundled compiler."""

import numpy as np
import pytest

from ncc.errors import DataError
from tests.kernels.ledger import named
from tests.rooms import FEATURE_NAMES, CompileOptions, compile_source, count_work, locate, read_module


@pytest.fixture(scope="module")
def legacy() -> dict[str, bytes]:
    from tests.rooms import load_legacy_ir

    try:
        locate("legacy_ir", "devmap-kernels-llvm5.tar.xz")
    except DataError:
        pytest.skip("no local copy of the legacy IR (set NCC_DATA)")
    return load_legacy_ir()


@pytest.mark.full
def test_all_legacy_kernels_have_finite_features(legacy: dict[str, bytes]) -> None:
    found = []
    for name, text in legacy.items():
        module = read_module(text, name=name)
        kernels = np.flatnonzero(module.function_is_kernel)
        found.append(count_work(module, int(kernels[0]) if len(kernels) else 0).features())
    features = np.stack(found)
    assert features.shape == (669, len(FEATURE_NAMES))
    assert np.isfinite(features).all()
    spread = dict(zip(FEATURE_NAMES, features.std(axis=0).tolist(), strict=True))
    # of fixed-function kinds, only what these kernels never do
    assert all(
        spread[name] > 0 for name in ("coalesced_share", "static_special", "dimensions", "static_atomic", "depth")
    )


# Written after two of the suites' kernels: what the IR of LLVM 5 says of them, that of today must say as well.
ATAX = """kernel void atax(global float *a, global float *x, global float *tmp, int rows, int columns) {
  int row = get_global_id(0);
  if (row < rows) for (int j = 0; j < columns; j++) tmp[row] += a[row * columns + j] * x[j];
}"""
ADD = """kernel void add(global const float *a, global const float *b, global float *sum, int n) {
  int i = get_global_id(0);
  if (i < n) sum[i] = a[i] + b[i];
}"""
SHAPE = ("dimensions", "depth", "open_depth", "static_divergent_branch", "pointer_arguments", "scalar_arguments")
COUNTS = ("static_global_load", "static_global_store", "static_global_bytes", "static_flops", "static_thread_query")


@pytest.mark.parametrize(
    ("name", "source", "features"),
    [
        ("polybench-gpu-1.0-atax-atax_kernel1.ll", ATAX, SHAPE),
        ("nvidia-4.2-VectorAdd-VectorAdd.ll", ADD, SHAPE + COUNTS),
    ],
)
def test_legacy_ir_and_todays_agree(
    name: str, source: str, features: tuple[str, ...], legacy: dict[str, bytes]
) -> None:
    old = named(count_work(read_module(legacy[name], name=name), 0))
    new = named(count_work(read_module(compile_source(source.encode(), CompileOptions(language="opencl")).ir), 0))
    assert [old[feature] for feature in features] == pytest.approx([new[feature] for feature in features])
    assert old["coalesced_share"] == pytest.approx(new["coalesced_share"], abs=0.02)  # the old loop is unrolled
