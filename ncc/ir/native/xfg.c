/* The edges of the contextual flow graph, in the order of their statements; `build_xfg` in ncc/ir/graph/xfg.py has the
   rules. The leaves of a block, at which its terminator's edges start, are known once its statements have edges. */
#include "reader.h"

#define EXPORT __attribute__((visibility("default")))

enum { PATH, DATA, CONTROL };

/* The module's columns, in the order of GRAPH_COLUMNS in ncc/ir/reader/native.py. */
typedef struct {
  const uint8_t *opcode, *node_kind;
  const int32_t *block, *result, *callee, *operand_start, *operand, *node_definition, *block_node, *function_start;
} columns;

typedef struct {
  columns of;
  int64_t num_statements, num_nodes, num_blocks, num_functions;
  int64_t num_control, max_control; /* edges from ends of blocks to labels; above the limit they are only counted */
  int32_t root, exit, effect;       /* first node of each of the added groups */
  int32_t *sink;                    /* for each statement: its result, or an effect node */
  int32_t *home;                    /* for each node: the block that defines it, or -1 */
  int32_t *leads;                   /* for each node: the last block with an edge from it */
  int32_t block, function;          /* block of the current statement */
  ints reached, leaves;             /* nodes of other blocks that this block has edges to; the leaves of this block */
  ints source, target, statement, effect_statement;
  bytes kind;
  int ok;
} graph;

static int is_call(int op) { return op == OP_call || op == OP_invoke || op == OP_callbr; }
static int is_exit(int op) {
  return op == OP_ret || op == OP_resume || op == OP_unreachable || op == OP_cleanupret || op == OP_catchswitch;
}
static int is_block(const graph *g, int32_t node) { return node >= 0 && g->of.node_kind[node] == NODE_BLOCK; }
static int is_value(const graph *g, int32_t node) { return node >= 0 && g->of.node_kind[node] != NODE_BLOCK; }

/* The function with a body that a statement calls, or -1. */
static int32_t called(const graph *g, int32_t s) {
  int32_t callee = g->of.callee[s];
  return callee >= 0 && g->of.node_kind[callee] == NODE_FUNCTION ? g->of.node_definition[callee] : -1;
}

/* An edge that does not end in the block of its statement: in a callee, or after the block. */
static void add_away(graph *g, int32_t s, int32_t source, int32_t target, int kind) {
  g->ok &= ints_push(&g->source, source) && ints_push(&g->target, target) && ints_push(&g->statement, s) &&
           bytes_push(&g->kind, (uint8_t)kind);
  g->leads[source] = g->block;
}

static void add(graph *g, int32_t s, int32_t source, int32_t target, int kind) {
  add_away(g, s, source, target, kind);
  if (g->home[target] != g->block) g->ok &= ints_push(&g->reached, target);
}

/* To the callee's parameters: first from arguments that are values, then from immediates. */
static void add_arguments(graph *g, int32_t s, int32_t callee, const int32_t *operand, int32_t n) {
  int32_t label = g->of.block_node[g->block], define = g->of.function_start[callee], passed = 0;
  const int32_t *formal = g->of.operand + g->of.operand_start[define];
  int32_t num_formal = g->of.operand_start[define + 1] - g->of.operand_start[define];
  if (n > num_formal + 1) n = num_formal + 1;
  for (int immediate = 0; immediate < 2; immediate++) {
    for (int32_t i = 1; i < n; i++) {
      if (is_block(g, operand[i]) || (operand[i] < 0) != immediate) continue;
      add_away(g, s, immediate ? label : operand[i], formal[i - 1], immediate ? PATH : DATA);
      passed++;
    }
  }
  if (!passed) add_away(g, s, label, g->root + callee, PATH);
}

/* Edges within the block, and to called functions. */
static void add_flow(graph *g, int32_t s) {
  int op = g->of.opcode[s];
  int32_t label = g->of.block_node[g->block], sink = g->sink[s], callee = called(g, s);
  const int32_t *operand = g->of.operand + g->of.operand_start[s];
  int32_t n = g->of.operand_start[s + 1] - g->of.operand_start[s], anchored = 0;
  if (op == OP_define) {
    add(g, s, g->root + g->function, label, PATH);
    for (int32_t i = 0; i < n; i++) add(g, s, label, operand[i], PATH);
  } else if (op == OP_store && n > 1) {
    int32_t pointer = operand[1] >= 0 ? operand[1] : label;
    if (operand[0] >= 0) add(g, s, operand[0], pointer, DATA);
    else add(g, s, label, pointer, PATH);
  }
  if (sink < 0) return;
  if (op == OP_phi) add(g, s, label, sink, PATH);
  for (int32_t i = 0; i < n; i++) {
    if (!is_value(g, operand[i])) continue;
    anchored |= g->home[operand[i]] == g->block;
    int is_name = is_call(op) && i == 0 && g->of.node_kind[operand[0]] <= NODE_FUNCTION;
    if (callee < 0 && !is_name) add(g, s, operand[i], sink, DATA);
  }
  if (op != OP_phi && !anchored) add(g, s, label, sink, PATH);
  if (callee < 0) return;
  add(g, s, g->exit + callee, sink, DATA);
  add_arguments(g, s, callee, operand, n);
}

/* From a source to all labels of a terminator, or out of the function. */
static void add_end(graph *g, int32_t s, int32_t source) {
  int32_t num_labels = 0;
  for (int32_t i = g->of.operand_start[s]; i < g->of.operand_start[s + 1]; i++) {
    if (!is_block(g, g->of.operand[i])) continue;
    num_labels++;
    if (++g->num_control <= g->max_control) add_away(g, s, source, g->of.operand[i], CONTROL);
  }
  if (!num_labels && is_exit(g->of.opcode[s])) add_away(g, s, source, g->exit + g->function, CONTROL);
}

static int ascending(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Appends nodes that a block reaches and that have no edge in it. */
static void keep_leaves(graph *g, ints *nodes) {
  if (nodes->len > 1) qsort(nodes->data, nodes->len, sizeof(int32_t), ascending);
  for (size_t i = 0; i < nodes->len; i++) {
    int32_t node = nodes->data[i];
    if ((!i || node != nodes->data[i - 1]) && g->leads[node] != g->block) g->ok &= ints_push(&g->leaves, node);
  }
}

/* Leaves of the block of these statements: its own nodes, then others; its label if there are none. */
static void find_leaves(graph *g, int32_t first, int32_t end) {
  ints own = {0};
  int32_t label = g->of.block_node[g->block];
  g->ok &= ints_push(&own, label);
  for (int32_t s = first; s < end; s++) {
    if (g->sink[s] >= 0) g->ok &= ints_push(&own, g->sink[s]);
    if (g->of.opcode[s] != OP_define) continue;
    for (int32_t i = g->of.operand_start[s]; i < g->of.operand_start[s + 1]; i++)
      g->ok &= ints_push(&own, g->of.operand[i]);
  }
  if (g->ok) keep_leaves(g, &own);
  if (g->ok) keep_leaves(g, &g->reached);
  if (!g->leaves.len) g->ok &= ints_push(&g->leaves, label);
  free(own.data);
}

/* Control flow from the end of the block of these statements. */
static void add_ends(graph *g, int32_t begin, int32_t s) {
  int op = g->of.opcode[s];
  const int32_t *operand = g->of.operand + g->of.operand_start[s];
  int32_t n = g->of.operand_start[s + 1] - g->of.operand_start[s];
  int32_t first = n && is_value(g, operand[0]) ? operand[0] : NO_NODE;
  if (is_call(op)) { /* an invoke ends its block: edges start at its result */
    add_end(g, s, g->sink[s]);
    return;
  }
  int is_conditional = op == OP_br && n > 1;
  g->leaves.len = 0;
  if (!is_conditional) find_leaves(g, begin, s + 1);
  else if (first < 0) g->ok &= ints_push(&g->leaves, g->of.block_node[g->block]);
  if (!g->ok) return;
  for (int32_t i = 0; i < n; i++)
    if (is_value(g, operand[i])) add_end(g, s, operand[i]);
  for (size_t i = 0; i < g->leaves.len; i++)
    if (g->leaves.data[i] != first) add_end(g, s, g->leaves.data[i]);
}

static void add_edges(graph *g) {
  int32_t begin = 0, n = (int32_t)g->num_statements;
  for (int32_t s = 0; s < n && g->ok; s++) {
    if (g->of.opcode[s] == OP_define) g->function++;
    if (g->of.block[s] != g->block) {
      g->block = g->of.block[s];
      g->reached.len = 0;
      begin = s;
    }
    add_flow(g, s);
    if (is_terminator(g->of.opcode[s])) add_ends(g, begin, s);
  }
}

/* Effect nodes, and the block of each node; 0 when memory runs out. */
static int prepare(graph *g) {
  size_t n = (size_t)g->num_statements + 1;
  if (!(g->sink = malloc(n * sizeof *g->sink))) return 0;
  g->root = (int32_t)g->num_nodes;
  g->exit = g->root + (int32_t)g->num_functions;
  g->effect = g->exit + (int32_t)g->num_functions;
  for (int32_t s = 0; s < g->num_statements; s++) {
    int op = g->of.opcode[s];
    g->sink[s] = g->of.result[s];
    if (g->sink[s] >= 0 || op == OP_store || op == OP_define || (is_terminator(op) && !is_call(op))) continue;
    g->sink[s] = g->effect + (int32_t)g->effect_statement.len;
    if (!ints_push(&g->effect_statement, s)) return 0;
  }
  size_t num_nodes = (size_t)g->effect + g->effect_statement.len + 1;
  g->home = malloc(num_nodes * sizeof *g->home);
  g->leads = malloc(num_nodes * sizeof *g->leads);
  if (!g->home || !g->leads) return 0;
  memset(g->home, -1, num_nodes * sizeof *g->home);
  memset(g->leads, -1, num_nodes * sizeof *g->leads);
  for (int32_t b = 0; b < g->num_blocks; b++) g->home[g->of.block_node[b]] = b;
  for (int32_t s = 0; s < g->num_statements; s++) {
    if (g->sink[s] >= 0) g->home[g->sink[s]] = g->of.block[s];
    if (g->of.opcode[s] != OP_define) continue;
    for (int32_t i = g->of.operand_start[s]; i < g->of.operand_start[s + 1]; i++)
      g->home[g->of.operand[i]] = g->of.block[s];
  }
  return 1;
}

EXPORT void ncc_graph_close(graph *g) {
  if (!g) return;
  void *owned[] = {g->sink, g->home, g->leads, g->reached.data, g->leaves.data, g->source.data, g->target.data,
                   g->statement.data, g->kind.data, g->effect_statement.data};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(g);
}

/* A graph of these columns, which must outlive it; sizes are the numbers of statements, nodes, blocks and functions,
   and the limit of edges from ends of blocks. NULL when memory runs out. */
EXPORT graph *ncc_graph_open(const void *const *column, const int64_t *size) {
  graph *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->of = (columns){column[0], column[1], column[2], column[3], column[4], column[5], column[6], column[7], column[8],
                    column[9]};
  g->num_statements = size[0], g->num_nodes = size[1], g->num_blocks = size[2], g->num_functions = size[3];
  g->max_control = size[4];
  g->block = g->function = -1;
  g->ok = 1;
  return g;
}

/* Builds the graph, in time linear in its edges except for sorting each block's nodes: returns 1 at the end, 2 when
   memory runs out, 3 if edges from ends of blocks exceed the limit. */
EXPORT int32_t ncc_graph_build(graph *g) {
  g->ok = prepare(g);
  if (g->ok) add_edges(g);
  return !g->ok ? 2 : g->num_control > g->max_control ? 3 : 1;
}

EXPORT int64_t ncc_graph_num_control(const graph *g) { return g->num_control; }

/* The fields for Python, in the order of GRAPH_FIELDS in ncc/ir/reader/native.py. */
EXPORT void ncc_graph_view(const graph *g, const void **data, int64_t *len) {
  int i = 0;
#define VIEW(V) data[i] = (V).data, len[i++] = (int64_t)(V).len
  VIEW(g->source), VIEW(g->target), VIEW(g->statement), VIEW(g->kind), VIEW(g->effect_statement);
}
