"""The share of divergent statements of small kernels of which all is known."""

from fractions import Fraction

import pytest

from tests.rooms import divergent_share, read_module
from tests.support.text import FOLDER

DECLARED = "declare i64 @_Z13get_global_idj(i32)\ndeclare i64 @_Z15get_global_sizej(i32)\n"
OTHER = "define void @other() {\nentry:\n  ret void\n}\n"
CASES = (FOLDER / "divergence.txt").read_text().split("\n=== ")[1:]


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0] for case in CASES])
def test_statements_that_not_all_threads_run_are_weighted_by_loops(case: str) -> None:
    kernel, _, share = case.partition("\n")[2].partition("\n---\n")
    module = read_module(f"{DECLARED}{OTHER}{kernel}\n".encode())
    assert divergent_share(module, 0) == 0
    assert divergent_share(module) == pytest.approx(float(Fraction(share.strip())))
