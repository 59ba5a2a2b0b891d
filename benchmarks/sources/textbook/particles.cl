// Particles, clusters and neighbors.

__kernel void nbody_forces(int bodies, __global const float4* body, __global float4* force) {
  int i = get_global_id(0);
  float4 own = body[i], sum = (float4)(0);
  for (int j = 0; j < bodies; j++) {
    float4 away = body[j] - own;
    float square = away.x * away.x + away.y * away.y + away.z * away.z + 0.01f;
    float inverse = rsqrt(square);
    sum += away * (body[j].w * inverse * inverse * inverse);
  }
  force[i] = sum;
}

__kernel void nbody_few(int few, __global const float* mass, __global const float* place, __global float* pull) {
  int i = get_global_id(0);
  float sum = 0;
  for (int j = 0; j < few; j++) {
    float away = place[j] - place[i];
    sum += mass[j] * away / (fabs(away * away * away) + 0.001f);
  }
  pull[i] = sum;
}

// ncc: list: below 8192
__kernel void lennard_jones(int near, __global const float4* atom, __global const int* list, __global float* energy) {
  int i = get_global_id(0);
  float sum = 0;
  for (int j = 0; j < near; j++) {
    float4 away = atom[list[i * near + j]] - atom[i];
    float square = away.x * away.x + away.y * away.y + away.z * away.z + 0.1f;
    float sixth = 1.0f / (square * square * square);
    sum += 4.0f * (sixth * sixth - sixth);
  }
  energy[i] = sum;
}

__kernel void kmeans_assign(int clusters, int features, __global const float* points, __global const float* centers,
                            __global int* member) {
  int point = get_global_id(0), best = 0;
  float least = FLT_MAX;
  for (int cluster = 0; cluster < clusters; cluster++) {
    float square = 0;
    for (int i = 0; i < features; i++) {
      float away = points[point * features + i] - centers[cluster * features + i];
      square += away * away;
    }
    if (square < least) {
      least = square;
      best = cluster;
    }
  }
  member[point] = best;
}

__kernel void nearest_neighbor(int references, __global const float2* query, __global const float2* reference,
                               __global int* nearest) {
  int i = get_global_id(0), best = -1;
  float least = FLT_MAX;
  for (int j = 0; j < references; j++) {
    float square = dot(query[i] - reference[j], query[i] - reference[j]);
    best = square < least ? j : best;
    least = fmin(square, least);
  }
  nearest[i] = best;
}
