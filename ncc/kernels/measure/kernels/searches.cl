// Looking things up: in order, by halves, by text.
#define I get_global_id(0)
__kernel void binary_search(__global const int *sorted, __global const int *wanted, __global int *out, const int n) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < wanted[I]) low = middle + 1;
    else high = middle;
  }
  out[I] = low;
}
__kernel void linear_search(__global const float *in, __global int *out, const float bound) {
  int at = 0;
  while (at < 64 && in[I * 64 + at] < bound) at++;
  out[I] = at;
}
__kernel void match_text(__global const uchar *text, __constant uchar *word, __global uchar *out) {
  int same = 0;
  while (same < 4 && text[I + same] == word[same]) same++;
  out[I] = same;
}
__kernel void nearest_of_16(__global const float4 *in, __constant float4 *centre, __global int *out) {
  int best = 0;
  float least = INFINITY;
  for (int k = 0; k < 16; k++) {
    float4 away = in[I] - centre[k];
    float distance = dot(away, away);
    if (distance < least) least = distance, best = k;
  }
  out[I] = best;
}
__kernel void tree_search(__global const int *tree, __global const int *wanted, __global int *out) {
  int node = 0;
  for (int depth = 0; depth < 9; depth++) node = 2 * node + 1 + (wanted[I] > tree[node]);
  out[I] = node;
}
// ncc: sorted: values i
// ncc: linear_search: items W / 64
// ncc: linear_search.in: size 64 * N
// ncc: text: size N + 4, below 4
// ncc: word: size 4, values i % 2
// ncc: centre: size 16
// ncc: tree: size 512
