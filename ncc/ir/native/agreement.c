/* Checks that a function is consistent: types of values, operands of operators and casts, phis and branches.

   A value has the type of its first occurrence, and every later one must agree. Types are compared by a key of their
   abstracted text: types with equal text, such as truncated structures, count as equal.
   Reference: LLVM Language Reference, "Instruction Reference". */
#include "reader.h"

enum { INTEGER = 1, FLOATING = 2, POINTER = 4, OTHER = 8 };

/* The type of a scalar or of a vector's elements, and their number, 0 for a scalar. */
typedef struct {
  int kind, is_scalable;
  uint64_t bits, count;
} shape;

static uint64_t number_in(const reader *r, size_t at) {
  uint64_t number = 0;
  for (; at < r->out.len && r->out.data[at] >= '0' && r->out.data[at] <= '9'; at++)
    number = number * 10 + (uint64_t)(r->out.data[at] - '0');
  return number;
}

/* Start of the digits of a vector's length, after "<" or "<vscale x ". */
static size_t length_at(const reader *r, span vector) { return vector.at + (text_of(r, vector)[1] == 'v' ? 10 : 1); }

void need(reader *r, int condition, const char *message) {
  if (!condition) fail_at(r, r->place == IN_BODY ? r->statement : r->p, message);
}

/* The type of a vector's elements; a scalar is unchanged. */
span element_of(const reader *r, span type) { return is_vector(r, type) ? inside(r, type) : type; }

/* The type of a vector's or array's elements. */
span inside(const reader *r, span type) {
  size_t at = length_at(r, type);
  while (r->out.data[at] != ' ') at++;
  at += 3; /* " x " */
  return (span){at, type.at + type.n - 1 - at};
}

static shape shape_of(const reader *r, span type) {
  static const struct {
    const char *name;
    int kind;
    uint64_t bits;
  } scalars[] = {{"ptr", POINTER, 0}, {"float", FLOATING, 32}, {"double", FLOATING, 64}, {"half", FLOATING, 16},
                 {"bfloat", FLOATING, 16}, {"fp128", FLOATING, 128}, {"ppc_fp128", FLOATING, 128},
                 {"x86_fp80", FLOATING, 80}, {"x86_mmx", OTHER, 64}, {"x86_amx", OTHER, 8192}};
  shape found = {.kind = OTHER};
  if (is_vector(r, type)) {
    found.is_scalable = text_of(r, type)[1] == 'v';
    found.count = number_in(r, length_at(r, type));
    type = element_of(r, type);
  }
  if (*text_of(r, type) == 'i') found.kind = INTEGER, found.bits = number_in(r, type.at + 1);
  for (size_t i = 0; found.kind == OTHER && i < sizeof scalars / sizeof *scalars; i++)
    if (!strncmp(text_of(r, type), scalars[i].name, strlen(scalars[i].name)))
      found.kind = scalars[i].kind, found.bits = scalars[i].bits;
  return found;
}

/* Is an array or vector of so many elements, whose type has this key? */
void check_sequence(reader *r, span type, uint64_t count, uint32_t key) {
  int fits = (*text_of(r, type) == '[' || is_vector(r, type)) && number_in(r, length_at(r, type)) == count;
  need(r, fits && (!count || key_of(r, inside(r, type)) == key), "a constant that is not of its type");
}

/* The type of an aggregate's field, by the digits of its index; empty if the text was truncated. */
span field_of(reader *r, span type, const char *index) {
  const char *text = text_of(r, type), *end = text + type.n;
  uint64_t left = strtoull(index, NULL, 10);
  int packed = type.n > 1 && *text == '<' && text[1] == '{';
  if (!type.n || (*text == '{' && text[1] == '.') || (packed && text[2] == '.')) return (span){0, 0};
  need(r, *text == '[' || *text == '{' || packed, "an index into what is no aggregate");
  if (*text == '[') {
    need(r, number_in(r, type.at + 1) > left, "an index behind the end of an aggregate");
    return inside(r, type);
  }
  const char *start = text + 2 + packed; /* "{ " */
  int depth = 0;
  for (const char *p = start; p < end; p++) {
    int is_end = p == end - 2 - packed;
    if ((*p == ',' && !depth) || is_end) {
      if (!left--) return (span){(size_t)(start - r->out.data), (size_t)(p - start)};
      start = p + 2;
    }
    depth += (*p == '{' || *p == '[' || *p == '(' || *p == '<') - (*p == '}' || *p == ']' || *p == ')' || *p == '>');
  }
  need(r, 0, "an index behind the end of an aggregate");
  return type;
}

/* The key of a type between two texts, of which the first has n bytes. */
uint32_t key_around(reader *r, const char *before, size_t n, span type, const char *behind) {
  size_t from = r->out.len;
  emit_bytes(r, before, n);
  if (!chars_reserve(&r->out, type.n)) fail_memory(r);
  emit_bytes(r, text_of(r, type), type.n);
  emit_bytes(r, behind, strlen(behind));
  uint32_t key = key_of(r, (span){from, r->out.len - from});
  r->out.len = from;
  return key;
}

/* The key of an element type in a vector of the length of another type. */
uint32_t vector_key(reader *r, span like, span element) {
  if (!is_vector(r, like)) return key_of(r, element);
  if (!chars_reserve(&r->out, like.n)) fail_memory(r);
  return key_around(r, text_of(r, like), element_of(r, like).at - like.at, element, ">");
}

/* Kinds of operands that an operator accepts. */
void check_operator(reader *r, opcode op, span type) {
  int allowed = op == OP_icmp ? INTEGER | POINTER : INTEGER;
  if (op == OP_fneg || op == OP_fadd || op == OP_fsub || op == OP_fmul || op == OP_fdiv || op == OP_frem || op == OP_fcmp)
    allowed = FLOATING;
  need(r, shape_of(r, type).kind & allowed, "an operator of a type that it does not take");
}

void check_cast(reader *r, opcode op, span from, span to) {
  /* From OP_trunc on: its source and target kinds, and whether it widens (1), narrows (-1), or either. */
  static const struct {
    int from, to, wider;
  } casts[] = {{INTEGER, INTEGER, -1}, {INTEGER, INTEGER, 1}, {INTEGER, INTEGER, 1}, {FLOATING, FLOATING, -1},
               {FLOATING, FLOATING, 1}, {FLOATING, INTEGER, 0}, {FLOATING, INTEGER, 0}, {INTEGER, FLOATING, 0},
               {INTEGER, FLOATING, 0}, {POINTER, INTEGER, 0}, {POINTER, INTEGER, 0}, {INTEGER, POINTER, 0},
               {0, 0, 0}, {POINTER, POINTER, 0}};
  shape a = shape_of(r, from), b = shape_of(r, to);
  int fits = a.is_scalable == b.is_scalable;
  if (op != OP_bitcast) {
    int wanted = casts[op - OP_trunc].wider;
    fits = fits && a.count == b.count && a.kind == casts[op - OP_trunc].from && b.kind == casts[op - OP_trunc].to;
    fits = fits && (!wanted || (wanted > 0 ? a.bits < b.bits : a.bits > b.bits));
    fits = fits && (op != OP_addrspacecast || key_of(r, from) != key_of(r, to));
  } else if (a.kind == POINTER || b.kind == POINTER) {
    uint64_t one = a.count ? a.count : 1, other = b.count ? b.count : 1;
    fits = fits && one == other && key_of(r, element_of(r, from)) == key_of(r, element_of(r, to));
  } else {
    fits = fits && a.bits * (a.count ? a.count : 1) == b.bits * (b.count ? b.count : 1);
  }
  need(r, fits, "a cast between types that it is not for");
}

/* Does the form of a number fit its type? "1.0" is not an integer, and "1" is not a float. */
int is_float_number(reader *r, const char *start, span type) {
  const char *p = start + (*start == '-' || *start == '+');
  while (p < r->p && *p >= '0' && *p <= '9') p++;
  int is_integer = p == r->p;
  if (type.n && (is_integer ? *text_of(r, type) != 'i' : shape_of(r, type).kind != FLOATING || is_vector(r, type)))
    fail_at(r, start, "a number that is not of its type");
  return !is_integer;
}

/* Each phi has an entry for each edge into its block: sums of random numbers of blocks over both must be equal. */
void check_phis(reader *r) {
  size_t first = (size_t)r->body.first_block, num_blocks = r->block_node.len - first;
  uint64_t *edges = calloc(num_blocks, sizeof *edges);
  if (!edges) fail_memory(r);
#define NUMBER(BLOCK) (((uint64_t)(BLOCK) + 1) * 0x9E3779B97F4A7C15ull ^ ((uint64_t)(BLOCK) << 29))
  size_t wrong = 0;
  for (int phis = 0; phis < 2; phis++) {
    for (size_t i = (size_t)r->body.first_stmt + 1; i < r->opcode.len; i++) {
      opcode op = r->opcode.data[i];
      if (phis ? op != OP_phi : !is_terminator(op)) continue;
      size_t from = (size_t)r->stmt_block.data[i] - first;
      size_t end = (size_t)(i + 1 < r->opcode.len ? r->operand_start.data[i + 1] : (int32_t)r->operand.len);
      uint64_t sum = 0;
      for (size_t at = (size_t)r->operand_start.data[i]; at < end; at++) {
        int32_t node = r->operand.data[at];
        if (node < 0 || r->node_kind.data[node] != NODE_BLOCK) continue;
        size_t block = (size_t)r->node_def.data[node] - first;
        if (phis) sum += NUMBER(block);
        else edges[block] += NUMBER(from);
      }
      if (phis && sum != edges[from] && !wrong) wrong = i;
    }
  }
#undef NUMBER
  free(edges);
  if (wrong) fail_at(r, r->text + r->stmt_at.data[wrong], "a phi without one entry for each predecessor of its block");
}
