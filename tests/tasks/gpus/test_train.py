"""A head of one's own: from a table and sources to an answer."""

import ncc

_KERNEL = """
#define TIMES {times}
__global__ void work(int n, const float *x, float *y) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < TIMES; k++) sum = sum * x[i] + k;
  if (i < n) y[i] = sum;
}}
"""


def test_a_table_of_ones_own_makes_a_head(tmp_path, monkeypatch):
    monkeypatch.setenv("NCC_CACHE", str(tmp_path / "cache"))
    rows = ["kernel,grid,block,time_ms,source,arguments,program_arguments"]
    for number, times in enumerate((8, 64, 512, 4096)):
        (tmp_path / f"p{number}.cu").write_text(_KERNEL.format(times=times))
        rows += [f"work,{grid},256,{1e-6 * times * grid},p{number}.cu,n={256 * grid}," for grid in (1024, 8192, 65536)]
    rows.append("absent,1,32,1,p0.cu,,")
    (tmp_path / "own.csv").write_text("\n".join(rows) + "\n")
    head = ncc.train_gpu(tmp_path / "head", table=tmp_path / "own.csv", gpu="A100")
    assert (head.gpu, head.card["launches"], head.card["programs"]) == ("A100", 12, 4)
    (answer,) = ncc.predict_gpu(tmp_path / "p2.cu", grid=[8192], block=[256], head=tmp_path / "head")
    assert answer.gpu == "A100"
    assert not answer.extrapolated
    assert 0.5 < answer.time_ms / 4.2 < 2
