/* Counts pairs of statements within a few hops of each other in the dual of an XFG, by label.

   B_r(v), the ball of radius r round a node v, is every statement that r - 1 hops lead to from those at v. The
   context of a statement i is the union of the balls of radius `width` round its nodes. Statements near a hub share
   most of it: each is put to a pivot, the best-connected node that it reaches; the pivot's ball is walked once, and
   counted for all its statements as an outer product of labels; a statement's own walk then stops wherever the
   pivot's went before. The counts are those of the pairs one by one.

   Reference: Ben-Nun et al. 2018, section 3 (contexts), definition of context size. */
#include "buffers.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  uint64_t *keys;
  int64_t *counts;
  size_t cap, used;
} pair_counts;

typedef struct {
  int64_t num_statements, num_nodes;
  const int64_t *statement_start, *node_start;
  const int32_t *statement_node, *node_statement, *label;
  pair_counts *pairs;
  uint8_t *ball_reach, *own_reach; /* radius at which a node was met, 0 for never */
  uint8_t *in_ball, *met;          /* statements of the pivot's ball, and of the statement's own walk */
  ints ball_nodes, ball_statements, own_nodes, own_statements;
  ints labels; /* labels with a count in `tally` */
  int64_t *tally;
} walk;

static int pairs_grow(pair_counts *t) {
  pair_counts bigger = {0};
  bigger.cap = t->cap ? t->cap * 2 : 4096;
  bigger.keys = malloc(bigger.cap * sizeof *bigger.keys);
  bigger.counts = calloc(bigger.cap, sizeof *bigger.counts);
  if (!bigger.keys || !bigger.counts) {
    free(bigger.keys);
    free(bigger.counts);
    return 0;
  }
  for (size_t i = 0; i < t->cap; i++) {
    if (!t->counts[i]) continue;
    size_t at = (t->keys[i] * 0x9E3779B97F4A7C15ull >> 20) & (bigger.cap - 1);
    while (bigger.counts[at]) at = (at + 1) & (bigger.cap - 1);
    bigger.keys[at] = t->keys[i];
    bigger.counts[at] = t->counts[i];
  }
  bigger.used = t->used;
  free(t->keys);
  free(t->counts);
  *t = bigger;
  return 1;
}

static int pairs_add(pair_counts *t, int32_t centre, int32_t context, int64_t count) {
  if (t->used * 2 >= t->cap && !pairs_grow(t)) return 0;
  uint64_t key = (uint64_t)(uint32_t)centre << 32 | (uint32_t)context;
  size_t at = (key * 0x9E3779B97F4A7C15ull >> 20) & (t->cap - 1);
  while (t->counts[at] && t->keys[at] != key) at = (at + 1) & (t->cap - 1);
  t->used += !t->counts[at];
  t->keys[at] = key;
  t->counts[at] += count;
  return 1;
}

/* Walks from nodes[from…] (met at radius `radius`) outwards, level by level. Statements are appended once each;
   nodes are noted in `reach`; where `stop` is given, a node that it holds at that radius or more is not entered. */
static int spread(walk *w, ints *nodes, ints *statements, uint8_t *reach, uint8_t *met, const uint8_t *stop, int radius) {
  size_t from = 0;
  for (int r = radius; r > 0; r--) {
    size_t to = nodes->len;
    for (; from < to; from++) {
      int32_t node = nodes->data[from];
      if (stop && stop[node] >= r) continue;
      for (int64_t k = w->node_start[node]; k < w->node_start[node + 1]; k++) {
        int32_t statement = w->node_statement[k];
        if (met[statement]) continue;
        met[statement] = 1;
        if (!ints_push(statements, statement)) return 0;
        if (r == 1) continue;
        for (int64_t m = w->statement_start[statement]; m < w->statement_start[statement + 1]; m++) {
          int32_t next = w->statement_node[m];
          if (reach[next]) continue;
          reach[next] = (uint8_t)(r - 1);
          if (!ints_push(nodes, next)) return 0;
        }
      }
    }
  }
  return 1;
}

static void forget(ints *nodes, ints *statements, uint8_t *reach, uint8_t *met) {
  for (size_t i = 0; i < nodes->len; i++) reach[nodes->data[i]] = 0;
  for (size_t i = 0; i < statements->len; i++) met[statements->data[i]] = 0;
  nodes->len = statements->len = 0;
}

static int tally_label(walk *w, int32_t label, int64_t count) {
  if (label < 0) return 1;
  if (!w->tally[label] && !ints_push(&w->labels, label)) return 0;
  w->tally[label] += count;
  return 1;
}

/* All statements of one pivot: its ball as an outer product, and what each statement reaches besides. */
static int count_group(walk *w, int32_t pivot, int radius, const int32_t *group, size_t group_len, int width) {
  w->ball_reach[pivot] = (uint8_t)radius;
  if (!ints_push(&w->ball_nodes, pivot)) return 0;
  if (!spread(w, &w->ball_nodes, &w->ball_statements, w->ball_reach, w->in_ball, NULL, radius)) return 0;
  for (size_t g = 0; g < group_len; g++) {
    int32_t centre = w->label[group[g]];
    if (centre < 0) continue;
    for (int64_t m = w->statement_start[group[g]]; m < w->statement_start[group[g] + 1]; m++) {
      w->own_reach[w->statement_node[m]] = (uint8_t)width;
      if (!ints_push(&w->own_nodes, w->statement_node[m])) return 0;
    }
    if (!spread(w, &w->own_nodes, &w->own_statements, w->own_reach, w->met, w->ball_reach, width)) return 0;
    for (size_t k = 0; k < w->own_statements.len; k++) {
      int32_t other = w->own_statements.data[k];
      if (w->in_ball[other] || other == group[g] || w->label[other] < 0) continue;
      if (!pairs_add(w->pairs, centre, w->label[other], 1)) return 0;
    }
    forget(&w->own_nodes, &w->own_statements, w->own_reach, w->met);
  }
  /* the outer product, less each statement's pair with itself */
  for (size_t k = 0; k < w->ball_statements.len; k++)
    if (!tally_label(w, w->label[w->ball_statements.data[k]], 1)) return 0;
  size_t num_contexts = w->labels.len;
  for (size_t g = 0; g < group_len; g++) {
    int32_t centre = w->label[group[g]];
    if (centre < 0) continue;
    /* statements of one label stand together in the group: see by_pivot */
    size_t same = 1, inside = w->in_ball[group[g]];
    while (g + 1 < group_len && w->label[group[g + 1]] == centre) {
      inside += w->in_ball[group[++g]];
      same++;
    }
    for (size_t k = 0; k < num_contexts; k++) {
      int32_t context = w->labels.data[k];
      int64_t count = (int64_t)same * w->tally[context] - (context == centre ? (int64_t)inside : 0);
      if (count > 0 && !pairs_add(w->pairs, centre, context, count)) return 0;
    }
  }
  for (size_t k = 0; k < num_contexts; k++) w->tally[w->labels.data[k]] = 0;
  w->labels.len = 0;
  forget(&w->ball_nodes, &w->ball_statements, w->ball_reach, w->in_ball);
  return 1;
}

/* For each node, the best-connected node within r - 1 hops of it, and at which radius it is met. */
static void find_best(const walk *w, int32_t *best, uint8_t *radius, int32_t *scratch, uint8_t *scratch_radius, int width) {
  for (int64_t v = 0; v < w->num_nodes; v++) {
    best[v] = (int32_t)v;
    radius[v] = 1;
  }
  for (int r = 2; r <= width; r++) {
    /* the best of every statement's nodes, then of every node's statements: linear in the edges */
    for (int64_t i = 0; i < w->num_statements; i++) {
      int32_t top = -1;
      int64_t top_degree = -1;
      uint8_t top_radius = 0;
      for (int64_t m = w->statement_start[i]; m < w->statement_start[i + 1]; m++) {
        int32_t node = w->statement_node[m], candidate = best[node];
        int64_t degree = w->node_start[candidate + 1] - w->node_start[candidate];
        if (degree > top_degree || (degree == top_degree && radius[node] > top_radius)) {
          top = candidate;
          top_degree = degree;
          top_radius = radius[node];
        }
      }
      scratch[i] = top;
      scratch_radius[i] = top_radius;
    }
    for (int64_t v = 0; v < w->num_nodes; v++) {
      int32_t top = (int32_t)v;
      int64_t top_degree = w->node_start[v + 1] - w->node_start[v];
      uint8_t top_radius = (uint8_t)r;
      for (int64_t k = w->node_start[v]; k < w->node_start[v + 1]; k++) {
        int32_t statement = w->node_statement[k], candidate = scratch[statement];
        int64_t degree = w->node_start[candidate + 1] - w->node_start[candidate];
        if (degree > top_degree) {
          top = candidate;
          top_degree = degree;
          top_radius = scratch_radius[statement];
        }
      }
      best[v] = top;
      radius[v] = top_radius;
    }
  }
}

typedef struct {
  int32_t pivot, label, statement;
  uint8_t radius;
} assignment;

static int by_pivot(const void *a, const void *b) {
  const assignment *x = a, *y = b;
  if (x->pivot != y->pivot) return x->pivot < y->pivot ? -1 : 1;
  if (x->radius != y->radius) return x->radius < y->radius ? -1 : 1;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  return x->statement < y->statement ? -1 : x->statement > y->statement;
}

/* Each statement's pivot: the best of its nodes' best. Statements without a node have no context. */
static size_t assign_pivots(const walk *w, assignment *out, const int32_t *best, const uint8_t *radius) {
  size_t count = 0;
  for (int64_t i = 0; i < w->num_statements; i++) {
    int64_t top_degree = -1;
    assignment a = {-1, w->label[i], (int32_t)i, 0};
    for (int64_t m = w->statement_start[i]; m < w->statement_start[i + 1]; m++) {
      int32_t node = w->statement_node[m], candidate = best[node];
      int64_t degree = w->node_start[candidate + 1] - w->node_start[candidate];
      if (degree > top_degree || (degree == top_degree && radius[node] > a.radius)) {
        a.pivot = candidate;
        a.radius = radius[node];
        top_degree = degree;
      }
    }
    if (a.pivot >= 0) out[count++] = a;
  }
  qsort(out, count, sizeof *out, by_pivot);
  return count;
}

static int count_all(walk *w, assignment *assigned, int32_t *group, size_t count, int width) {
  for (size_t from = 0; from < count;) {
    size_t to = from;
    while (to < count && assigned[to].pivot == assigned[from].pivot && assigned[to].radius == assigned[from].radius) {
      group[to - from] = assigned[to].statement;
      to++;
    }
    if (!count_group(w, assigned[from].pivot, assigned[from].radius, group, to - from, width)) return 0;
    from = to;
  }
  return 1;
}

EXPORT void ncc_free_counts(pair_counts *t) {
  if (!t) return;
  free(t->keys);
  free(t->counts);
  free(t);
}

/* Counts of the pairs (label of a centre << 32 | label of a context); NULL when memory runs out. */
EXPORT pair_counts *ncc_count_contexts(int64_t num_statements, int64_t num_nodes, const int64_t *statement_start,
                                       const int32_t *statement_node, const int64_t *node_start,
                                       const int32_t *node_statement, const int32_t *label, int32_t width) {
  int32_t num_labels = 0;
  for (int64_t i = 0; i < num_statements; i++)
    if (label[i] >= num_labels) num_labels = label[i] + 1;
  size_t n = (size_t)num_statements + 1, v = (size_t)num_nodes + 1;
  walk w = {.num_statements = num_statements, .num_nodes = num_nodes, .statement_start = statement_start,
            .node_start = node_start, .statement_node = statement_node, .node_statement = node_statement, .label = label,
            .pairs = calloc(1, sizeof(pair_counts)), .ball_reach = calloc(v, 1), .own_reach = calloc(v, 1),
            .in_ball = calloc(n, 1), .met = calloc(n, 1), .tally = calloc((size_t)num_labels + 1, sizeof(int64_t))};
  int32_t *best = malloc(v * sizeof *best), *scratch = malloc(n * sizeof *scratch);
  uint8_t *radius = malloc(v), *scratch_radius = malloc(n);
  assignment *assigned = malloc(n * sizeof *assigned);
  int ok = w.pairs && w.ball_reach && w.own_reach && w.in_ball && w.met && w.tally && best && scratch && radius &&
           scratch_radius && assigned;
  if (ok) {
    find_best(&w, best, radius, scratch, scratch_radius, width);
    size_t count = assign_pivots(&w, assigned, best, radius);
    ok = count_all(&w, assigned, scratch, count, width);
  }
  void *owned[] = {w.ball_reach, w.own_reach, w.in_ball, w.met, w.tally, w.ball_nodes.data, w.ball_statements.data,
                   w.own_nodes.data, w.own_statements.data, w.labels.data, best, scratch, radius, scratch_radius, assigned};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  if (ok) return w.pairs;
  ncc_free_counts(w.pairs);
  return NULL;
}

EXPORT void ncc_counts(const pair_counts *t, const void **data, int64_t *len) {
  data[0] = t->keys;
  data[1] = t->counts;
  *len = (int64_t)t->cap;
}
