"""The nine kernels of the page, and what is predicted for them."""

from datasets.kernels.__main__ import KERNELS, SIZES, rows


def test_nine_kernels_are_answered_at_three_sizes():
    found = rows("nvidia")
    names = ["matmul", "bfs", "black_scholes", "histogram", "nbody", "reduction", "serial_sum", "spmv", "srad"]
    assert [row[0] for row in found] == names == [path.stem for path in KERNELS]
    assert all(len(row) == 1 + len(SIZES) for row in found)
    assert all(cell.startswith(("CPU, GPU ", "GPU, GPU ", "undecided, GPU ")) for row in found for cell in row[1:])
