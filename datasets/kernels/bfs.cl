// A level of a breadth-first search: the nodes of the frontier reach their neighbours.
__kernel void bfs(__global const int *edge_start, __global const int *edge, __global int *cost,
                  __global const uchar *frontier, __global uchar *next, __global uchar *visited, const int nodes) {
  int node = get_global_id(0);
  if (node >= nodes || !frontier[node]) return;
  for (int i = edge_start[node]; i < edge_start[node + 1]; i++) {
    int neighbour = edge[i];
    if (!visited[neighbour]) {
      cost[neighbour] = cost[node] + 1;
      next[neighbour] = 1;
    }
  }
}
// ncc: edge_start: size N + 1, values 8 * i
// ncc: edge: size 8 * N
// ncc: cost: values 0
// ncc: frontier: values (i + 1) % 2
// ncc: visited: values (i + 1) % 2
