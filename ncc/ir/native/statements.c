/* Statements: parsed by the opcode's grammar into operands, a result and the abstracted text.

   Reference: LLVM Language Reference, "Instruction Reference"; Ben-Nun et al. 2018, section 4.1. */
#include "reader.h"
#define UNORDERED "expected the ordering of an atomic operation, and of no other"

void emit_word(reader *r, word w) {
  r->p += w.n;
  emit(r, " ");
  emit_bytes(r, w.s, w.n);
}

/* Flags behind an opcode, in the order in which they stand; anything else is left alone. Is "atomic" among them? */
static int read_flags(reader *r) {
  int is_atomic = 0;
  for (word w; (w = peek_word(r)).kind & WORD_FLAG; emit_word(r, w)) is_atomic |= is(w, "atomic");
  return is_atomic;
}

/* A comma that stands in the abstracted statement, too. */
void read_comma(reader *r, const char *message) {
  expect(r, ',', message);
  emit(r, ",");
}

void read_operand(reader *r) {
  emit(r, " ");
  push_operand(r, read_typed_value(r));
  need(r, holds_value(r, r->type), "an operand that is no value");
}

/* A value without a type of its own, because an earlier operand has the same: the type is written before it while
   it is read, since constants are abstracted by type, and then removed. */
static int32_t read_untyped_value(reader *r, span type) {
  size_t from = r->out.len;
  if (!chars_reserve(&r->out, type.n)) fail_memory(r);
  emit_bytes(r, text_of(r, type), type.n);
  int32_t node = read_value(r, from);
  memmove(r->out.data + from, r->out.data + from + type.n, r->out.len - from - type.n);
  r->out.len -= type.n;
  return node;
}

static span read_binary(reader *r, opcode op) {
  emit(r, " ");
  span type = read_type(r);
  check_operator(r, op, type);
  r->gives = key_of(r, type);
  push_operand(r, read_value(r, type.at));
  read_comma(r, "expected ',' and a second operand");
  push_operand(r, read_untyped_value(r, type));
  return type;
}

/* Their types are written to `types`. */
static void read_exactly(reader *r, int count, span *types) {
  for (int i = 0; i < count; i++) {
    if (i) read_comma(r, "expected ',' and a further operand");
    read_operand(r);
    types[i] = r->type;
  }
}

static void read_pointer(reader *r) {
  read_operand(r);
  need(r, is_pointer(r, r->type), "expected the address to be a pointer");
}

/* A constant index of an element is kept without its type, which differs between versions of LLVM; a computed one is
   an operand. */
static void read_element_index(reader *r) {
  read_comma(r, "expected ',' and the index of an element");
  size_t from = r->out.len;
  emit(r, " ");
  span type = read_type(r);
  need(r, *text_of(r, type) == 'i', "expected the index of an element to be an integer");
  read_attributes(r, type);
  skip_space(r);
  const char *start = r->p;
  if (*start < '0' || *start > '9') {
    push_operand(r, read_value(r, type.at));
    return;
  }
  skip_number(r);
  r->out.len = from;
  emit(r, " ");
  emit_bytes(r, start, (size_t)(r->p - start));
  push_operand(r, NO_NODE);
}

/* Indices of extractvalue and insertvalue are kept: they name a field, whose type is returned. */
static span read_indices(reader *r, span type) {
  expect(r, ',', "expected ',' and an index");
  do {
    skip_space(r);
    const char *start = r->p;
    skip_digits(r);
    type = field_of(r, type, start);
    emit(r, ", ");
    emit_bytes(r, start, (size_t)(r->p - start));
  } while (next_operand(r));
  return type;
}

/* syncscope("…") and orderings of atomic operations, by letters those that may stand here (acq_rel: b); returns how many
   of these */
static int read_ordering(reader *r, const char *allowed) {
  for (int orderings = 0;;) {
    word w = peek_word(r);
    if (is(w, "syncscope")) {
      emit_word(r, w);
      skip_space(r);
      const char *open = r->p;
      if (*open != '(') fail(r, "expected '(' after 'syncscope'");
      skip_balanced(r);
      emit_bytes(r, open, (size_t)(r->p - open));
    } else if (is(w, "singlethread")) { /* before LLVM 5 */
      r->p += w.n;
      emit(r, " syncscope(\"singlethread\")");
    } else if (is(w, "unordered") || is(w, "monotonic") || is(w, "acquire") || is(w, "release") || is(w, "acq_rel") ||
               is(w, "seq_cst")) {
      need(r, strchr(allowed, is(w, "acq_rel") ? 'b' : *w.s) != NULL, "an ordering that is none of this operation");
      emit_word(r, w);
      orderings++;
    } else {
      return orderings;
    }
  }
}

/* "8" after "align"; LLVM 3.7 wrote 0 for none */
void skip_alignment(reader *r) {
  skip_space(r);
  const char *start = r->p;
  skip_digits(r);
  unsigned long long value = strtoull(start, NULL, 10);
  if (value & (value - 1) || value > 1ull << 32) fail_at(r, start, "alignment that is not a power of two");
}

/* ", align 8", ", addrspace(5)" after a memory operation */
static void read_alignment(reader *r) {
  while (next_operand(r)) {
    word w = peek_word(r);
    if (!is(w, "align") && !is(w, "addrspace")) fail(r, "expected 'align' or 'addrspace'");
    emit(r, ",");
    emit_word(r, w);
    span space = {r->out.len - w.n, w.n};
    skip_space(r);
    const char *start = r->p;
    if (*start == '(') skip_balanced(r);
    else if (is(w, "align")) skip_alignment(r);
    else fail(r, "expected '(' after 'addrspace'");
    if (*start != '(') emit(r, " ");
    emit_bytes(r, start, (size_t)(r->p - start));
    space.n = r->out.len - space.at;
    if (is(w, "addrspace") && !is_type(r, space, "addrspace(0)")) r->gives = key_around(r, "ptr ", 4, space, "");
  }
}

static void read_load(reader *r) {
  int is_atomic = read_flags(r);
  emit(r, " ");
  span type = read_value_type(r);
  r->gives = key_of(r, type);
  read_comma(r, "expected ',' behind the type that is loaded");
  read_pointer(r);
  need(r, read_ordering(r, "umas") == is_atomic, UNORDERED);
  read_alignment(r);
}

static void read_alloca(reader *r) {
  read_flags(r);
  emit(r, " ");
  read_value_type(r);
  const char *at = r->p;
  if (next_operand(r) && at_type(r)) {
    emit(r, ",");
    read_operand(r);
    need(r, *text_of(r, r->type) == 'i', "expected the number of elements to be an integer");
  } else {
    r->p = at;
  }
  r->gives = type_key("ptr", 3);
  read_alignment(r);
}

static void read_memory_update(reader *r, opcode op) {
  read_flags(r);
  word w = peek_word(r);
  if (op == OP_atomicrmw && !w.n) fail(r, "expected the operation of an atomicrmw");
  if (op == OP_atomicrmw) emit_word(r, w);
  span types[3];
  read_exactly(r, op == OP_cmpxchg ? 3 : 2, types);
  if (op == OP_cmpxchg || !is(w, "xchg"))
    check_operator(r, op == OP_cmpxchg ? OP_icmp : *w.s == 'f' ? OP_fadd : OP_add, types[1]);
  need(r, is_pointer(r, types[0]), "expected the address to be a pointer");
  r->gives = key_of(r, types[1]);
  if (op == OP_cmpxchg) {
    need(r, key_of(r, types[1]) == key_of(r, types[2]), "a cmpxchg of values of two types");
    r->gives = r->max_fields < 0 || r->max_fields > 1 ? key_around(r, "{ ", 2, types[1], ", i1 }") : 0;
  }
  need(r, read_ordering(r, "marbs") == 1 + (op == OP_cmpxchg), UNORDERED);
  read_alignment(r);
}

static void read_cast(reader *r, opcode op) {
  read_flags(r);
  read_operand(r);
  if (!accept_word(r, "to")) fail(r, "expected 'to' and the type of the result");
  emit(r, " to ");
  span to = read_type(r);
  check_cast(r, op, r->type, to);
  r->gives = key_of(r, to);
}

/* Each kind of incoming pair is written once, sorted, since their number and order depend on the layout of blocks
   rather than on the program. All are operands: value, label, value, label. */
static void read_phi(reader *r) {
  enum { MOST_KINDS = 16 };
  size_t start[MOST_KINDS + 1];
  int kinds = 0;
  read_flags(r);
  emit(r, " ");
  span type = read_value_type(r);
  r->gives = key_of(r, type);
  r->body.has_phi = 1;
  need(r, r->body.in_phis, "a phi behind other instructions of its block");
  start[0] = r->out.len;
  skip_space(r);
  for (int more = *r->p == '['; more; more = next_operand(r)) { /* none in a block without predecessors */
    expect(r, '[', "expected '[' and an incoming value");
    size_t from = r->out.len;
    push_operand(r, read_untyped_value(r, type));
    expect(r, ',', "expected ',' and the block that a value comes from");
    read_block(r);
    expect(r, ']', "expected ']' behind an incoming value");
    size_t len = r->out.len - from;
    int at = 0, same = 0;
    for (; at < kinds && !same; at++) {
      size_t n = start[at + 1] - start[at], least = n < len ? n : len;
      int order = memcmp(r->out.data + start[at], r->out.data + from, least);
      same = !order && n == len;
      if (order > 0 || (!order && n > len)) break;
    }
    if (same || kinds == MOST_KINDS) {
      r->out.len = from;
      continue;
    }
    char moved[64];
    if (len > sizeof moved) fail(r, "incoming value that can't be abstracted");
    memcpy(moved, r->out.data + from, len);
    memmove(r->out.data + start[at] + len, r->out.data + start[at], from - start[at]);
    memcpy(r->out.data + start[at], moved, len);
    for (int k = ++kinds; k > at; k--) start[k] = start[k - 1] + len;
  }
  size_t len = r->out.len - start[0];
  if (!chars_reserve(&r->scratch, len)) fail_memory(r);
  memcpy(r->scratch.data, r->out.data + start[0], len);
  r->out.len = start[0];
  for (int k = 0; k < kinds; k++) {
    if (k) emit(r, ",");
    emit(r, " [");
    emit_bytes(r, r->scratch.data + start[k] - start[0], start[k + 1] - start[k]);
    emit(r, ", <LABEL> ]");
  }
}

/* Any number of cases is written as one. Operands: condition, default label, case labels. */
static void read_switch(reader *r) {
  read_operand(r);
  span type = r->type;
  need(r, *text_of(r, type) == 'i', "a switch over what is no integer");
  table_clear(&r->cases);
  read_comma(r, "expected ',' and the default label of a switch");
  read_label(r);
  expect(r, '[', "expected '[' and the cases of a switch");
  emit(r, " [");
  size_t before = r->out.len;
  while (!accept(r, ']')) {
    r->out.len = before;
    emit(r, " ");
    read_typed_value(r);
    need(r, key_of(r, type) == key_of(r, r->type) && !strchr("%pun", *r->value), "a case of another type than the switch");
    slot *s = table_slot(&r->cases, r->value, (size_t)(r->p - r->value));
    if (!s) fail_memory(r);
    if (!s->value) fail_at(r, r->value, "a second case of this value");
    s->value = 0;
    read_comma(r, "expected ',' and the label of a case");
    read_label(r);
  }
  emit(r, " ]");
}

static void read_branch(reader *r) {
  if (is(peek_word(r), "label")) {
    read_label(r);
    return;
  }
  read_operand(r);
  need(r, is_type(r, r->type, "i1"), "a branch on what is no i1");
  for (int i = 0; i < 2; i++) {
    read_comma(r, "expected ',' and a label");
    read_label(r);
  }
}

static void read_ret(reader *r) {
  emit(r, " ");
  span type = read_type(r);
  need(r, r->body.returns == key_of(r, type), "a return of another type than the function's");
  if (!is_type(r, type, "void")) push_operand(r, read_value(r, type.at));
}

/* The type of what the index that was read last chooses from one; empty where that is not known. */
static span indexed(reader *r, span type) {
  const char *text = text_of(r, type);
  if (*text == '[' || is_vector(r, type)) return inside(r, type);
  need(r, *text == '{' || *text == '<', "an index into what is no aggregate");
  need(r, is_type(r, element_of(r, r->type), "i32") && *r->value != '%', "a field that is no constant of i32");
  return *r->value >= '0' && *r->value <= '9' ? field_of(r, type, r->value) : (span){0, 0};
}

static void read_getelementptr(reader *r) {
  read_flags(r);
  if (accept_word(r, "inrange")) skip_balanced(r);
  emit(r, " ");
  span inner = read_value_type(r);
  read_comma(r, "expected ',' behind the source element type");
  read_operand(r);
  span base = r->type;
  need(r, is_pointer(r, element_of(r, base)), "expected the address to be a pointer");
  r->gives = key_of(r, base);
  for (int i = 0; next_operand(r); i++) {
    emit(r, ",");
    accept_word(r, "inrange");
    read_operand(r);
    need(r, *text_of(r, element_of(r, r->type)) == 'i', "expected an index to be an integer");
    if (i && inner.n) inner = indexed(r, inner);
    if (!is_vector(r, base) && is_vector(r, r->type)) r->gives = vector_key(r, r->type, base);
  }
}

static void read_comparison(reader *r, opcode op) {
  read_flags(r);
  word predicate = peek_word(r);
  int is_other = predicate.n < 1 || strchr(op == OP_icmp ? "otf" : "ens", *predicate.s) ||
                 (op == OP_icmp && (is(predicate, "ueq") || is(predicate, "une") || is(predicate, "uno")));
  if (is_other || !(predicate.kind & WORD_PREDICATE || is(predicate, "true") || is(predicate, "false")))
    fail(r, "expected a predicate");
  emit_word(r, predicate);
  span type = read_binary(r, op);
  size_t end = r->out.len;
  emit(r, "i1");
  r->gives = vector_key(r, type, (span){end, 2});
  r->out.len = end;
}

static void read_select(reader *r) {
  span types[3];
  read_flags(r);
  read_exactly(r, 3, types);
  span condition = element_of(r, types[0]);
  need(r, is_type(r, condition, "i1"), "a select by what is no i1");
  need(r, key_of(r, types[1]) == key_of(r, types[2]), "a select between values of two types");
  r->gives = key_of(r, types[1]);
  if (is_vector(r, types[0]))
    need(r, r->gives == vector_key(r, types[0], element_of(r, types[1])), "a select by a vector of another length");
}

static void read_vector(reader *r, opcode op) {
  span types[3];
  read_exactly(r, op == OP_extractelement ? 1 : op == OP_insertelement ? 2 : 3, types);
  span element = element_of(r, types[0]);
  need(r, is_vector(r, types[0]), "expected a vector");
  r->gives = key_of(r, op == OP_extractelement ? element : types[0]);
  if (op == OP_insertelement) need(r, key_of(r, element) == key_of(r, types[1]), "an element of another type than the vector's");
  if (op == OP_shufflevector) {
    need(r, key_of(r, types[0]) == key_of(r, types[1]), "a shufflevector of two types");
    int is_mask = is_vector(r, types[2]) && is_type(r, element_of(r, types[2]), "i32") && *r->value != '%';
    need(r, is_mask, "a mask that is no constant vector of i32");
    r->gives = vector_key(r, types[2], element);
  } else {
    read_element_index(r);
  }
}

static int32_t read_operands(reader *r, opcode op) {
  span types[2];
  switch (op) {
    case OP_ret: read_ret(r); break;
    case OP_br: read_branch(r); break;
    case OP_switch: read_switch(r); break;
    case OP_indirectbr:
      read_pointer(r);
      expect(r, ',', "expected ',' and a list of labels");
      read_label_list(r);
      break;
    case OP_invoke:
    case OP_callbr: return read_invoke(r, op);
    case OP_call: return read_call(r);
    case OP_resume: read_operand(r); break;
    case OP_catchswitch:
    case OP_catchret:
    case OP_cleanupret:
    case OP_catchpad:
    case OP_cleanuppad: read_pad(r, op); break;
    case OP_unreachable: break;
    case OP_fneg:
    case OP_freeze:
      read_flags(r);
      read_operand(r);
      if (op == OP_fneg) check_operator(r, op, r->type);
      r->gives = key_of(r, r->type);
      break;
    case OP_extractelement:
    case OP_insertelement:
    case OP_shufflevector: read_vector(r, op); break;
    case OP_select: read_select(r); break;
    case OP_extractvalue:
      read_operand(r);
      types[0] = read_indices(r, r->type);
      r->gives = types[0].n ? key_of(r, types[0]) : 0;
      break;
    case OP_insertvalue:
      read_exactly(r, 2, types);
      r->gives = key_of(r, types[0]);
      types[0] = read_indices(r, types[0]);
      need(r, !types[0].n || key_of(r, types[0]) == key_of(r, types[1]), "a field of another type than the value");
      break;
    case OP_alloca: read_alloca(r); break;
    case OP_load: read_load(r); break;
    case OP_store: {
      int is_atomic = read_flags(r);
      read_exactly(r, 2, types);
      need(r, is_pointer(r, types[1]), "expected the address to be a pointer");
      need(r, read_ordering(r, "umrs") == is_atomic, UNORDERED);
      read_alignment(r);
      break;
    }
    case OP_fence: need(r, read_ordering(r, "arbs") == 1, UNORDERED); break;
    case OP_cmpxchg:
    case OP_atomicrmw: read_memory_update(r, op); break;
    case OP_getelementptr: read_getelementptr(r); break;
    case OP_icmp:
    case OP_fcmp: read_comparison(r, op); break;
    case OP_phi: read_phi(r); break;
    case OP_va_arg:
      read_operand(r);
      expect(r, ',', "expected ',' and a type");
      emit(r, ", ");
      r->gives = key_of(r, read_value_type(r));
      break;
    case OP_landingpad: read_landingpad(r); break;
    default:
      if (op >= OP_trunc && op <= OP_addrspacecast) {
        read_cast(r, op);
      } else {
        read_flags(r);
        read_binary(r, op);
      }
  }
  return NO_NODE;
}

/* ", !dbg !7, !tbaa !3": the debug location is recorded, the rest dropped. An inline !DILocation(line: 5, …) is
   recorded as -2 - line. */
static void read_attached_metadata(reader *r) {
  r->debug = -1;
  for (;;) {
    skip_space(r);
    if (*r->p != ',') return;
    r->p++;
    skip_space(r);
    int is_debug = !strncmp(r->p, "!dbg", 4) && !is_name_char(r->p[4]);
    const char *at = skip_attachment(r);
    if (!is_debug) continue;
    if (at[1] >= '0' && at[1] <= '9') r->debug = (int32_t)(strtoul(at + 1, NULL, 10) & 0x7FFFFFFF);
    else if (!strncmp(at, "!DILocation(line: ", 18)) r->debug = -2 - (int32_t)(strtoul(at + 18, NULL, 10) & 0x3FFFFFFF);
  }
}

void end_statement(reader *r, opcode op, int32_t result, int32_t callee, size_t first_operand) {
  int32_t text = interner_add(&r->texts, r->out.data, r->out.len);
  int ok = text >= 0 && bytes_push(&r->opcode, (uint8_t)op) && ints_push(&r->stmt_text, text) &&
           ints_push(&r->stmt_block, r->block) && ints_push(&r->stmt_result, result) &&
           ints_push(&r->stmt_debug, r->debug) && ints_push(&r->stmt_callee, callee) &&
           ints_push(&r->operand_start, (int32_t)first_operand) &&
           uints_push(&r->stmt_at, (uint32_t)(r->statement - r->text));
  if (!ok) fail_memory(r);
  if (r->texts.text.len > r->most_text) fail_at(r, r->statement, TOO_MUCH_TEXT);
}

/* Does an instruction without a name define a value, and so get a number? */
static int has_result(const reader *r, opcode op) {
  if (op == OP_call || op == OP_invoke || op == OP_callbr) return r->gives != type_key("void", 4);
  return op > OP_callbr ? op != OP_store && op != OP_fence : op == OP_catchswitch;
}

/* A cast between pointer types that are now the same, "<%ID> = bitcast ptr <%ID> to ptr", which newer LLVM omits. */
static int is_empty_cast(const reader *r, int32_t operand) {
  if (r->flags & KEEP_CASTS || operand == NO_NODE || r->node_function.data[operand] < 0) return 0;
  return r->gives == key_of(r, r->type) && (is_pointer(r, r->type) || *text_of(r, r->type) == '<');
}

/* Reads one statement at the cursor; returns 1 if it ends its block. Debug intrinsics and empty casts are dropped. */
int read_statement(reader *r) {
  int32_t result = NO_NODE;
  size_t first_operand = r->operand.len;
  r->out.len = 0;
  skip_space(r);
  r->statement = r->p;
  if (*r->p == '%') {
    result = read_local(r);
    expect(r, '=', "expected '=' behind the name of a result");
    emit(r, "<%ID> = ");
  }
  word w = peek_word(r);
  const char *at = r->p;
  if (w.kind & WORD_TAIL) {
    emit_bytes(r, w.s, w.n);
    emit(r, " ");
    r->p += w.n;
    w = peek_word(r);
  }
  if (!(w.kind & WORD_OPCODE) || w.op == OP_define) fail_at(r, at, "expected an instruction");
  opcode op = w.op;
  r->p += w.n;
  emit_bytes(r, w.s, w.n);
  r->gives = 0;
  r->body.in_phis &= op == OP_phi || op == OP_landingpad;
  int32_t callee = read_operands(r, op);
  read_attached_metadata(r);
  if (result != NO_NODE) agree(r, r->statement, result, r->gives);
  if (op == OP_call && callee != NO_NODE && r->node_name_len.data[callee] > 9 &&
      !memcmp(r->text + r->node_name.data[callee], "llvm.dbg.", 9)) {
    r->operand.len = first_operand;
    return 0;
  }
  if (op == OP_bitcast && result != NO_NODE && is_empty_cast(r, r->operand.data[first_operand]) &&
      define_alias(r, result, r->operand.data[first_operand])) {
    r->operand.len = first_operand;
    return 0;
  }
  if (result != NO_NODE) {
    define_local(r, NODE_RESULT, result);
    need(r, has_result(r, op), "a name for what has no result");
  } else if (has_result(r, op)) {
    result = define_number(r, NODE_RESULT);
    agree(r, r->statement, result, r->gives);
  }
  if (result != NO_NODE) r->node_def.data[result] = (int32_t)r->opcode.len;
  end_statement(r, op, result, callee, first_operand);
  return is_terminator(op);
}
