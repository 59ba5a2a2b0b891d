// Sparse matrices and graphs.

// ncc: start: values 16 * i
// ncc: column: below 65536
__kernel void spmv_csr(int rows, __global const int* start, __global const int* column, __global const float* value,
                       __global const float* dense, __global float* result) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row]; i < start[row + 1]; i++) sum += value[i] * dense[column[i]];
  result[row] = sum;
}

// ncc: index: below 131072
__kernel void spmv_ell(int lines, int widest, __global const int* index, __global const float* weight,
                       __global const float* old, __global float* fresh) {
  int row = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < widest; i++) sum += weight[i * lines + row] * old[index[i * lines + row]];
  fresh[row] = sum;
}

// ncc: first: values 8 * i
// ncc: neighbor: below 65536
// ncc: depth: below 6
__kernel void bfs_level(int nodes, int level, __global const int* first, __global const int* neighbor,
                        __global int* depth) {
  int node = get_global_id(0);
  if (node >= nodes || depth[node] != level) return;
  for (int edge = first[node]; edge < first[node + 1]; edge++)
    if (depth[neighbor[edge]] > level + 1) depth[neighbor[edge]] = level + 1;
}

// ncc: links: below 32768
__kernel void page_rank(__global const int* links, __global const float* degree, __global const float* rank,
                        __global float* updated) {
  int page = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < 16; i++) {
    int from = links[page * 16 + i];
    sum += rank[from] / (degree[from] + 1.0f);
  }
  updated[page] = 0.15f + 0.85f * sum;
}
