/* Calls, invokes, landing pads and funclets: callee, arguments, bundles and unwind labels into operands.

   Reference: LLVM Language Reference, "Instruction Reference". */
#include "reader.h"

/* Words of some kinds up to a function's type, in a call or prototype: flags are kept, conventions and attributes
   dropped. Returns WORD_LINKAGE where they name an address space, and WORD_CONVENTION of a kernel. */
int read_words_before_type(reader *r, int kinds) {
  int found = 0;
  while (!at_type(r)) {
    word w = peek_word(r);
    if (*r->p == '!') skip_attachment(r);
    else if (accept_attribute(r)) continue;
    else if (w.kind & kinds & WORD_FLAG) emit_word(r, w);
    else if (is_attribute(r, &w)) read_attribute(r, w);
    else {
      if (is(w, "addrspace")) found |= WORD_LINKAGE;
      else if (!(w.kind & kinds) || is(w, "common") || is(w, "appending")) fail(r, "expected a type");
      if (is(w, "spir_kernel") || is(w, "amdgpu_kernel") || is(w, "ptx_kernel")) found |= WORD_CONVENTION;
      r->p += w.n;
      skip_space(r);
      if (is(w, "cc")) skip_digits(r);
      else if (*r->p == '(') skip_balanced(r); /* addrspace(1), riscv_vls_cc(32) */
    }
  }
  return found;
}

int32_t read_block(reader *r) {
  skip_space(r);
  const char *at = r->p;
  if (*at != '%') fail(r, "expected the name of a block");
  int32_t node = read_local(r);
  agree(r, at, node, type_key("label", 5));
  push_operand(r, node);
  return node;
}

void read_label(reader *r) {
  if (!accept_word(r, "label")) fail(r, "expected 'label'");
  if (read_block(r) == r->block_node.data[r->body.first_block]) fail(r, "a branch to the entry of the function");
  emit(r, " label <LABEL>");
}

void read_label_list(reader *r) {
  expect(r, '[', "expected '[' and a list of labels");
  emit(r, " [");
  size_t before = r->out.len;
  while (!accept(r, ']')) {
    r->out.len = before;
    read_label(r);
    accept(r, ',');
  }
  emit(r, " ]");
}

/* LLVM has removed an argument of some intrinsics: the size of a lifetime marker (22), the alignment of memory
   copies and fills (7). Older text is read like newer text. Returns its position, or -1. */
static int dropped_argument(reader *r, int32_t callee, int count) {
  if (callee == NO_NODE || r->node_name_len.data[callee] < 11) return -1;
  const char *name = r->text + r->node_name.data[callee];
  if (count == 2 && !memcmp(name, "llvm.lifeti", 11)) return 0;
  if (count == 5 && (!memcmp(name, "llvm.memcpy", 11) || !memcmp(name, "llvm.memset", 11) || !memcmp(name, "llvm.memmov", 11)))
    return 3;
  return -1;
}

/* Between `least` and `most` arguments; the first ones have the types of r->parameters. */
static void read_arguments(reader *r, int32_t callee, size_t least, size_t most) {
  enum { MOST_DROPPABLE = 5 };
  size_t start[MOST_DROPPABLE + 1];
  size_t first_operand = r->operand.len;
  int count = 0;
  expect(r, '(', "expected '(' and the arguments of a call");
  emit(r, "(");
  for (; !accept(r, ')'); count++) {
    if (count) {
      expect(r, ',', "expected ',' or ')' in the arguments of a call");
      emit(r, ", ");
    }
    if (count <= MOST_DROPPABLE) start[count] = r->out.len;
    skip_space(r);
    if (!strncmp(r->p, "...", 3)) { /* the caller's variadic arguments, of a musttail call */
      r->p += 3;
      emit(r, "...");
      expect(r, ')', "expected ')' behind '...'");
      break;
    }
    push_operand(r, read_typed_value(r));
    if (r->type.n && (size_t)count < least)
      need(r, key_of(r, r->type) == r->parameters.data[count], "an argument of another type than the parameter's");
    need(r, !r->type.n || holds_value(r, r->type), "an argument that is no value");
  }
  need(r, (size_t)count >= least && (size_t)count <= most, "a call with too few or too many arguments");
  int drop = dropped_argument(r, callee, count);
  if (drop >= 0) {
    size_t len = start[drop + 1] - start[drop];
    memmove(r->out.data + start[drop], r->out.data + start[drop + 1], r->out.len - start[drop + 1]);
    r->out.len -= len;
    int32_t *at = r->operand.data + first_operand + drop;
    memmove(at, at + 1, (size_t)(count - drop - 1) * sizeof *at);
    r->operand.len--;
  }
  emit(r, ")");
}

/* Function attributes and operand bundles after a call, on its line; locals in bundles are operands. */
static void read_call_tail(reader *r) {
  for (;;) {
    while (*r->p == ' ' || *r->p == '\t') r->p++;
    if (*r->p == '[') {
      r->collect_locals = 1;
      skip_balanced(r);
      r->collect_locals = 0;
    } else if (accept_attribute(r)) { /* not read_attributes, which would continue on the next line */
      continue;
    } else if (is_name_char(*r->p)) {
      word w = peek_word(r);
      if (!is_attribute(r, &w) || w.s[w.n] == ':') return;
      read_attribute(r, w);
    } else {
      return;
    }
  }
}

/* Operands: callee, arguments, bundles' values. Returns the callee's node. */
int32_t read_call(reader *r) {
  int is_far = read_words_before_type(r, WORD_FLAG | WORD_CONVENTION) & WORD_LINKAGE;
  emit(r, " ");
  r->parameters.len = 0;
  r->has_signature = 0;
  r->gives = key_of(r, read_type(r));
  size_t least = r->has_signature ? r->parameters.len : 0;
  size_t most = r->has_signature && !r->is_variadic ? least : SIZE_MAX;
  emit(r, " ");
  size_t callee_at = r->operand.len;
  push_operand(r, NO_NODE);
  skip_space(r);
  int is_local = *r->p == '%';
  int32_t callee = read_callee(r);
  r->operand.data[callee_at] = callee;
  if (is_local && !is_far) agree(r, r->statement, callee, type_key("ptr", 3));
  read_arguments(r, callee, least, most);
  read_call_tail(r);
  return callee;
}

int32_t read_invoke(reader *r, opcode op) {
  int32_t callee = read_call(r);
  skip_space(r);
  if (*r->p == '[') read_call_tail(r);
  if (!accept_word(r, "to")) fail(r, "expected 'to' and the label of the normal destination");
  emit(r, " to");
  read_label(r);
  if (op == OP_callbr) {
    read_label_list(r);
  } else {
    if (!accept_word(r, "unwind")) fail(r, "expected 'unwind' and a label");
    emit(r, " unwind");
    read_label(r);
  }
  return callee;
}

void read_landingpad(reader *r) {
  emit(r, " ");
  r->gives = key_of(r, read_type(r));
  int is_place = r->body.in_phis && r->block != r->body.first_block;
  need(r, is_place && r->body.has_personality, "a landingpad where none can be");
  int has_clause = accept_word(r, "cleanup");
  if (has_clause) emit(r, " cleanup");
  r->body.in_phis = 0;
  size_t last = 0, last_len = 0;
  for (word w; is(w = peek_word(r), "catch") || is(w, "filter");) {
    size_t from = r->out.len;
    emit_word(r, w);
    read_operand(r);
    need(r, is(w, "catch") ? is_pointer(r, r->type) : *text_of(r, r->type) == '[', "a clause of another type");
    has_clause = 1;
    size_t len = r->out.len - from;
    if (last && len == last_len && !memcmp(r->out.data + last, r->out.data + from, len)) r->out.len = from;
    last = r->out.len - len;
    last_len = len;
  }
  need(r, has_clause, "a landingpad without a clause");
}

/* "unwind to caller" or "unwind label %x" */
static void read_unwind(reader *r) {
  if (!accept_word(r, "unwind")) fail(r, "expected 'unwind'");
  emit(r, " unwind");
  if (accept_word(r, "to")) {
    if (!accept_word(r, "caller")) fail(r, "expected 'caller'");
    emit(r, " to caller");
  } else {
    read_label(r);
  }
}

/* The funclet instructions of Windows exception handling */
void read_pad(reader *r, opcode op) {
  r->gives = type_key("token", 5);
  skip_space(r);
  if (op == OP_catchret || op == OP_cleanupret) {
    if (!accept_word(r, "from")) fail(r, "expected 'from'");
    emit(r, " from");
  } else {
    if (!accept_word(r, "within")) fail(r, "expected 'within'");
    emit(r, " within");
  }
  emit(r, " ");
  int32_t within = read_value(r, r->out.len);
  push_operand(r, within);
  int has_parent = within >= 0 || op == OP_catchswitch || op == OP_cleanuppad; /* these may be within none */
  need(r, r->body.has_personality && has_parent, "a pad where none can be");
  if (op == OP_catchswitch) read_label_list(r);
  if (op == OP_catchpad || op == OP_cleanuppad) {
    expect(r, '[', "expected '[' and the arguments of a pad");
    emit(r, " [");
    for (int i = 0; !accept(r, ']'); i++) {
      if (i) {
        expect(r, ',', "expected ','");
        emit(r, ", ");
      }
      push_operand(r, read_typed_value(r));
    }
    emit(r, "]");
  }
  if (op == OP_catchret) {
    if (!accept_word(r, "to")) fail(r, "expected 'to'");
    emit(r, " to");
    read_label(r);
  }
  if (op == OP_catchswitch || op == OP_cleanupret) read_unwind(r);
}
