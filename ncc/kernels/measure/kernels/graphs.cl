// Steps over graphs with 8 edges a node, and over trees.
#define I get_global_id(0)
__kernel void visit(__global const int *edge, __global const int *level, __global int *next, const int depth) {
  int found = level[I];
  if (found > depth)
    for (int k = 0; k < 8; k++)
      if (level[edge[I * 8 + k]] == depth) found = depth + 1;
  next[I] = found;
}
__kernel void rank_pages(__global const int *edge, __global const float *rank, __global float *next) {
  float sum = 0.0f;
  for (int k = 0; k < 8; k++) sum += rank[edge[I * 8 + k]];
  next[I] = 0.15f + 0.85f * sum / 8.0f;
}
__kernel void relax(__global const int *edge, __global const float *weight, __global const float *distance,
                    __global float *next) {
  float best = distance[I];
  for (int k = 0; k < 8; k++) best = fmin(best, distance[edge[I * 8 + k]] + weight[I * 8 + k]);
  next[I] = best;
}
__kernel void find_root(__global const int *parent, __global int *root) {
  int at = I;
  for (int step = 0; step < 64 && parent[at] != at; step++) at = parent[at];
  root[I] = at;
}
__kernel void count_triangles(__global const int *edge, __global int *found) {
  int common = 0;
  for (int k = 0; k < 8; k++) {
    int other = edge[I * 8 + k];
    for (int a = 0; a < 8; a++)
      for (int b = 0; b < 8; b++) common += edge[I * 8 + a] == edge[other * 8 + b];
  }
  found[I] = common;
}
// ncc: edge: size 8 * N
// ncc: weight: size 8 * N
// ncc: level: below 4
// ncc: depth: values 1
