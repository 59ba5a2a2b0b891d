/* Counts pairs of statements within a few hops of each other in the dual of an XFG, by label.

   B_r(v), the ball of radius r around a node v, has all statements within r - 1 hops of those at v. The context of a
   statement i is the union of the balls of radius `width` around its nodes. Statements near a hub share most of
   their contexts, so each is assigned to a pivot, the best-connected node that it reaches. The pivot's ball is walked
   once and counted for all its statements as an outer product of labels; the walk of a single statement then stops
   where the pivot's has been. The result is the same as counting each pair.

   Reference: Ben-Nun et al. 2018, section 3 (contexts), definition of context size. */
#include "buffers.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  uint64_t *keys;
  int64_t *counts;
  size_t cap, used;
} pair_counts;

/* A statement and the pivot that its context is counted with. */
typedef struct {
  int32_t pivot, label, statement;
  uint8_t radius;
} assignment;

/* The next step: a pivot's ball, the walk of a statement, or a label's part of the outer product. */
enum { BALL, OWN_WALK, OUTER_PRODUCT };

typedef struct {
  int64_t num_statements, num_nodes;
  const int64_t *statement_start, *node_start;
  const int32_t *statement_node, *node_statement, *label;
  pair_counts pairs;
  uint8_t *ball_reach, *own_reach; /* radius at which a node was reached, 0 for never */
  uint8_t *in_ball, *met;          /* statements of the pivot's ball, and of the statement's walk */
  ints ball_nodes, ball_statements, own_nodes, own_statements;
  ints labels; /* labels with a count in `tally` */
  int64_t *tally;
  int width;
  assignment *assigned; /* by pivot, radius, label */
  size_t num_assigned, from, to, at; /* the group of one pivot, and its progress */
  int stage;
  int64_t work; /* steps so far */
} walk;

/* Start of the search for a pair: all bits of both labels affect the lowest ones. */
static size_t place_of(const pair_counts *t, uint64_t key) {
  key = (key ^ hash_key[0]) * 0x9E3779B97F4A7C15ull;
  key = (key ^ key >> 32) * 0x9E3779B97F4A7C15ull;
  return (key ^ key >> 32) & (t->cap - 1);
}

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
    size_t at = place_of(&bigger, t->keys[i]);
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
  size_t at = place_of(t, key);
  while (t->counts[at] && t->keys[at] != key) at = (at + 1) & (t->cap - 1);
  t->used += !t->counts[at];
  t->keys[at] = key;
  t->counts[at] += count;
  return 1;
}

/* Walks outwards from nodes[from…] (reached at radius `radius`), level by level. Each statement is appended once;
   nodes are recorded in `reach`; a node that `stop`, if given, has at that radius or more is not entered. */
static int spread(walk *w, ints *nodes, ints *statements, uint8_t *reach, uint8_t *met, const uint8_t *stop, int radius) {
  size_t from = 0;
  for (int r = radius; r > 0; r--) {
    size_t to = nodes->len;
    for (; from < to; from++) {
      int32_t node = nodes->data[from];
      w->work++;
      if (stop && stop[node] >= r) continue;
      w->work += w->node_start[node + 1] - w->node_start[node];
      for (int64_t k = w->node_start[node]; k < w->node_start[node + 1]; k++) {
        int32_t statement = w->node_statement[k];
        if (met[statement]) continue;
        met[statement] = 1;
        if (!ints_push(statements, statement)) return 0;
        if (r == 1) continue;
        w->work += w->statement_start[statement + 1] - w->statement_start[statement];
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

/* The ball of a group's pivot, and its labels. */
static int walk_ball(walk *w, const assignment *first) {
  w->ball_reach[first->pivot] = first->radius;
  if (!ints_push(&w->ball_nodes, first->pivot)) return 0;
  if (!spread(w, &w->ball_nodes, &w->ball_statements, w->ball_reach, w->in_ball, NULL, first->radius)) return 0;
  for (size_t k = 0; k < w->ball_statements.len; k++)
    if (!tally_label(w, w->label[w->ball_statements.data[k]], 1)) return 0;
  return 1;
}

/* Statements that one statement reaches outside its pivot's ball. */
static int walk_own(walk *w, int32_t statement) {
  int32_t centre = w->label[statement];
  if (centre < 0) return 1;
  for (int64_t m = w->statement_start[statement]; m < w->statement_start[statement + 1]; m++) {
    w->own_reach[w->statement_node[m]] = (uint8_t)w->width;
    if (!ints_push(&w->own_nodes, w->statement_node[m])) return 0;
  }
  if (!spread(w, &w->own_nodes, &w->own_statements, w->own_reach, w->met, w->ball_reach, w->width)) return 0;
  for (size_t k = 0; k < w->own_statements.len; k++) {
    int32_t other = w->own_statements.data[k];
    if (w->in_ball[other] || other == statement || w->label[other] < 0) continue;
    if (!pairs_add(&w->pairs, centre, w->label[other], 1)) return 0;
  }
  forget(&w->own_nodes, &w->own_statements, w->own_reach, w->met);
  return 1;
}

/* The outer product of one label, whose statements are adjacent in the group (see by_pivot), with the ball's labels,
   without pairs of a statement with itself. Returns the start of the next label, 0 when memory runs out. */
static size_t multiply(walk *w, size_t at) {
  int32_t centre = w->assigned[at].label;
  int64_t same = 0, inside = 0;
  for (; at < w->to && w->assigned[at].label == centre; at++) {
    inside += w->in_ball[w->assigned[at].statement];
    same++;
  }
  if (centre < 0) return at;
  w->work += (int64_t)w->labels.len;
  for (size_t k = 0; k < w->labels.len; k++) {
    int32_t context = w->labels.data[k];
    int64_t count = same * w->tally[context] - (context == centre ? inside : 0);
    if (count > 0 && !pairs_add(&w->pairs, centre, context, count)) return 0;
  }
  return at;
}

/* For each node, the best-connected node within r - 1 hops, and the radius at which it is reached. */
static void find_best(const walk *w, int32_t *best, uint8_t *radius, int32_t *scratch, uint8_t *scratch_radius, int width) {
  for (int64_t v = 0; v < w->num_nodes; v++) {
    best[v] = (int32_t)v;
    radius[v] = 1;
  }
  for (int r = 2; r <= width; r++) {
    /* the best node of every statement, then of every node's statements: linear in the edges */
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

static int by_pivot(const void *a, const void *b) {
  const assignment *x = a, *y = b;
  if (x->pivot != y->pivot) return x->pivot < y->pivot ? -1 : 1;
  if (x->radius != y->radius) return x->radius < y->radius ? -1 : 1;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  return x->statement < y->statement ? -1 : x->statement > y->statement;
}

/* Pivot of each statement: the best one of its nodes. Statements without a node have no context. */
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

/* One step: a pivot's ball, the walk of a statement, or a label's part of the outer product. */
static int step(walk *w) {
  w->work++;
  if (w->stage == BALL) {
    const assignment *first = w->assigned + w->from;
    for (w->to = w->from; w->to < w->num_assigned; w->to++)
      if (w->assigned[w->to].pivot != first->pivot || w->assigned[w->to].radius != first->radius) break;
    w->at = w->from;
    w->stage = OWN_WALK;
    return walk_ball(w, first);
  }
  if (w->stage == OWN_WALK) {
    if (w->at < w->to) return walk_own(w, w->assigned[w->at++].statement);
    w->at = w->from;
    w->stage = OUTER_PRODUCT;
    return 1;
  }
  if (w->at < w->to) return (w->at = multiply(w, w->at)) != 0;
  for (size_t k = 0; k < w->labels.len; k++) w->tally[w->labels.data[k]] = 0;
  w->labels.len = 0;
  forget(&w->ball_nodes, &w->ball_statements, w->ball_reach, w->in_ball);
  w->from = w->to;
  w->stage = BALL;
  return 1;
}

EXPORT void ncc_count_close(walk *w) {
  if (!w) return;
  void *owned[] = {w->ball_reach, w->own_reach, w->in_ball, w->met, w->tally, w->ball_nodes.data, w->ball_statements.data,
                   w->own_nodes.data, w->own_statements.data, w->labels.data, w->assigned, w->pairs.keys, w->pairs.counts};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(w);
}

/* Finds each statement's pivot; 0 when memory runs out. */
static int prepare(walk *w) {
  size_t n = (size_t)w->num_statements + 1, v = (size_t)w->num_nodes + 1;
  int32_t *best = malloc(v * sizeof *best), *scratch = malloc(n * sizeof *scratch);
  uint8_t *radius = malloc(v), *scratch_radius = malloc(n);
  int ok = best && scratch && radius && scratch_radius;
  if (ok) {
    find_best(w, best, radius, scratch, scratch_radius, w->width);
    w->num_assigned = assign_pivots(w, w->assigned, best, radius);
  }
  void *owned[] = {best, scratch, radius, scratch_radius};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  return ok;
}

/* A counter on these arrays, which must outlive it; NULL when memory runs out. */
EXPORT walk *ncc_count_open(int64_t num_statements, int64_t num_nodes, const int64_t *statement_start,
                            const int32_t *statement_node, const int64_t *node_start, const int32_t *node_statement,
                            const int32_t *label, int32_t width) {
  walk *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  int32_t num_labels = 0;
  for (int64_t i = 0; i < num_statements; i++)
    if (label[i] >= num_labels) num_labels = label[i] + 1;
  size_t n = (size_t)num_statements + 1, v = (size_t)num_nodes + 1;
  *w = (walk){.num_statements = num_statements, .num_nodes = num_nodes, .statement_start = statement_start,
              .node_start = node_start, .statement_node = statement_node, .node_statement = node_statement,
              .label = label, .width = width, .ball_reach = calloc(v, 1), .own_reach = calloc(v, 1),
              .in_ball = calloc(n, 1), .met = calloc(n, 1), .tally = calloc((size_t)num_labels + 1, sizeof(int64_t)),
              .assigned = malloc(n * sizeof(assignment))};
  if (w->ball_reach && w->own_reach && w->in_ball && w->met && w->tally && w->assigned && prepare(w)) return w;
  ncc_count_close(w);
  return NULL;
}

/* Counts for a number of steps: returns 0 if there are more, 1 at the end, 2 when memory runs out. */
EXPORT int32_t ncc_count_run(walk *w, int64_t steps) {
  for (w->work = 0; w->from < w->num_assigned;) {
    if (w->work > steps) return 0;
    if (!step(w)) return 2;
  }
  return 1;
}

/* Counts of the pairs (label of a center << 32 | label of a context). */
EXPORT void ncc_count_view(const walk *w, const void **data, int64_t *len) {
  data[0] = w->pairs.keys;
  data[1] = w->pairs.counts;
  len[0] = len[1] = (int64_t)w->pairs.cap;
}
