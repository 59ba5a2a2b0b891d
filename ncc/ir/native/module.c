/* The module: top-level entities, functions and blocks; the entry points that Python calls. */
#include "reader.h"

#define EXPORT __attribute__((visibility("default")))

/* "linkage … type @name": words before the type matter only if they mark a kernel. */
static int32_t read_prototype(reader *r, int *is_kernel) {
  *is_kernel = (read_words_before_type(r, WORD_LINKAGE | WORD_CONVENTION) & WORD_CONVENTION) != 0;
  emit(r, " ");
  r->has_signature = 0;
  span type = read_type(r);
  need(r, !r->has_signature && !strchr("lm", *text_of(r, type)), "a function that returns what is no value");
  r->body.returns = key_of(r, type);
  read_attributes(r, (span){0, 0});
  skip_space(r);
  if (*r->p != '@') fail(r, "expected the name of a function");
  word name;
  emit(r, " <@ID>");
  int32_t node = read_global(r, &name);
  if (r->node_kind.data[node] != NODE_UNDEFINED) fail_at(r, name.s, "a function of a name that is taken");
  r->node_kind.data[node] = NODE_FUNCTION;
  return node;
}

/* Adds the parameters of a definition as argument nodes and operands of the define statement. */
static void read_parameters(reader *r, int is_definition) {
  expect(r, '(', "expected '(' and the parameters of a function");
  emit(r, "(");
  for (int i = 0; !accept(r, ')'); i++) {
    if (i) {
      expect(r, ',', "expected ',' or ')' in the parameters of a function");
      emit(r, ", ");
    }
    skip_space(r);
    if (!strncmp(r->p, "...", 3)) {
      r->p += 3;
      emit(r, "...");
      expect(r, ')', "expected ')' behind '...'");
      break;
    }
    r->has_signature = 0;
    span type = read_type(r);
    int is_value = !r->has_signature && !strchr(is_definition ? "vlo" : "vl", *text_of(r, type));
    need(r, is_value, "a parameter of a type that no value has");
    read_attributes(r, type);
    skip_space(r);
    int is_named = *r->p == '%';
    word name;
    if (is_named && !is_definition) name_of(r, &name);
    if (!is_definition) continue;
    int32_t node = is_named ? define_local(r, NODE_ARGUMENT, read_local(r)) : define_number(r, NODE_ARGUMENT);
    r->node_def.data[node] = (int32_t)r->opcode.len;
    r->node_type.data[node] = key_of(r, type);
    emit(r, " <%ID>");
    push_operand(r, node);
  }
  emit(r, ")");
}

/* After the parameters: attributes, section, comdat, alignment, collector, personality. */
static void read_tail_of_function(reader *r, int32_t node) {
  const word owner = {r->text + r->node_name.data[node], r->node_name_len.data[node], WORD_OTHER, NUM_OPCODES};
  for (;;) {
    word w = peek_word(r);
    if (accept_attribute(r)) continue; /* not read_attributes, which might read a word of the next entity as one */
    int has_text = is(w, "section") || is(w, "partition") || is(w, "gc");
    int has_value = is(w, "prefix") || is(w, "prologue") || is(w, "personality");
    if (!has_text && !has_value && !is(w, "comdat") && !(w.kind & WORD_LINKAGE)) {
      if (!(w.kind & WORD_ATTRIBUTE)) return; /* a declaration has no end mark: a word of the next entity may follow */
      read_attribute(r, w);
      continue;
    }
    r->p += w.n;
    r->body.has_personality |= is(w, "personality");
    if (has_value) {
      size_t at = r->out.len;
      read_typed_value(r);
      r->out.len = at;
    } else if (is(w, "comdat")) {
      read_name_of_comdat(r, &owner);
    } else {
      skip_space(r);
      if (has_text) skip_string(r);
      else if (*r->p == '(') skip_balanced(r);
    }
  }
}

/* Before the body's "{": metadata, which may mark a kernel. */
static void read_to_body(reader *r, int *is_kernel) {
  for (;;) {
    skip_space(r);
    if (*r->p == '{') return;
    if (*r->p != '!') fail(r, r->p >= r->end ? "function without a body" : "expected the body of a function");
    *is_kernel |= !strncmp(r->p, "!kernel_arg_", 12);
    skip_attachment(r);
  }
}

/* Is there a label at the cursor? Sets *name, and moves the cursor past the colon. */
static int read_block_label(reader *r, word *name) {
  const char *at = r->p;
  if (*at != '"' && !is_name_char(*at)) return 0;
  r->p--; /* a label is written like a reference to it, without the sigil */
  name_of(r, name);
  if (*r->p++ == ':') return 1;
  r->p = at;
  return 0;
}

static void begin_block(reader *r, const word *name) {
  int32_t node = name ? define_local(r, NODE_BLOCK, local_node(r, name)) : define_number(r, NODE_BLOCK);
  agree(r, r->p, node, type_key("label", 5));
  r->block = (int32_t)r->block_node.len;
  r->node_def.data[node] = r->block;
  r->body.in_phis = r->body.in_block = r->body.has_block = 1;
  if (!ints_push(&r->block_node, node)) fail_memory(r);
}

/* Reads statements up to the body's end, or to the pause: returns 0 if there are more. */
static int read_body(reader *r) {
  open_function *body = &r->body;
  while (r->p < r->pause) {
    skip_space(r);
    if (*r->p == '}') {
      if (body->in_block) fail(r, "a block that does not end with a terminator");
      if (!body->has_block) fail(r, "a function body without a block");
      r->p++;
      return 1;
    }
    if (*r->p == '#') { /* a debug record */
      while (is_name_char(*++r->p)) {}
      if (*r->p != '(') fail(r, "expected a debug record");
      skip_balanced(r);
      continue;
    }
    word label;
    if (read_block_label(r, &label)) {
      if (body->in_block) fail_at(r, label.s, "a block that begins before the last one ended with a terminator");
      begin_block(r, &label);
      continue;
    }
    word w = peek_word(r);
    if (is(w, "uselistorder")) {
      skip_line(r);
      continue;
    }
    if (!body->in_block) begin_block(r, NULL);
    if (read_statement(r)) body->in_block = 0;
  }
  return 0;
}

/* Is everything defined that was named: locals at the end of their function, globals at the end of the text? */
static void check_nodes(reader *r, size_t first, int is_end) {
  for (size_t node = first; node < r->node_kind.len; node++) {
    if (r->node_kind.data[node] != NODE_UNDEFINED) continue;
    const char *name = r->text + r->node_name.data[node];
    if (r->node_function.data[node] >= 0) fail_at(r, name, "use of undefined value");
    if (!is_end) continue;
    if (r->node_name_len.data[node] > 5 && !memcmp(name, "llvm.", 5)) r->node_kind.data[node] = NODE_FUNCTION;
    else fail_at(r, name, "use of undefined global");
  }
}

/* Skips the rest of a function: to the first line, outside brackets and strings, that starts another entity. */
static void skip_function(reader *r) {
  int64_t depth = 0;
  while (r->p < r->end) {
    char c = *r->p;
    if (c == '"') {
      skip_string(r);
      continue;
    }
    if (c == ';') {
      const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
      r->p = line_end ? line_end : r->end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') depth++;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && --depth < 0) fail(r, "closing bracket without an opening one");
    r->p++;
    if (c != '\n' || depth > 0) continue;
    c = *r->p;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
  }
  if (depth > 0) fail(r, "bracket that is never closed");
}

/* The copy of a duplicated kernel to skip: a body that is called replaces the kernel. */
static int is_second_copy(reader *r) {
  if (!r->kernel_bodies.used) return 0;
  const char *define = r->p, *line_end = memchr(define, '\n', (size_t)(r->end - define));
  word name;
  r->p = memchr(define, '@', (size_t)((line_end ? line_end : r->end) - define));
  if (!r->p) {
    r->p = define;
    return 0;
  }
  name_of(r, &name);
  r->p = define;
  int32_t body = table_find(&r->kernel_bodies, name.s, name.n);
  if (body >= 0) return body == BODY_CALLED;
  if (name.n <= BODY_OF_LEN || memcmp(name.s, BODY_OF, BODY_OF_LEN)) return 0;
  return table_find(&r->kernel_bodies, name.s + BODY_OF_LEN, name.n - BODY_OF_LEN) == BODY_INLINED;
}

/* A kernel's body gets the kernel's name, and is a kernel. */
static void take_kernels_place(reader *r, int32_t node) {
  open_function *body = &r->body;
  const char *name = r->text + r->node_name.data[node];
  size_t len = r->node_name_len.data[node];
  if (!r->kernel_bodies.used || len <= BODY_OF_LEN || memcmp(name, BODY_OF, BODY_OF_LEN)) return;
  if (table_find(&r->kernel_bodies, name + BODY_OF_LEN, len - BODY_OF_LEN) < 0) return;
  body->kernel = 1;
  r->node_name.data[node] += BODY_OF_LEN;
  r->node_name_len.data[node] -= BODY_OF_LEN;
  slot *kernel = table_slot(&r->globals, name + BODY_OF_LEN, len - BODY_OF_LEN);
  if (!kernel) fail_memory(r);
  if (kernel->value >= 0 && r->node_kind.data[kernel->value] == NODE_UNDEFINED) {
    r->node_kind.data[kernel->value] = NODE_FUNCTION; /* named by metadata or a table: known, without a body */
  }
  kernel->value = node;
}

/* Reads up to and including the "{" of the body. */
static void begin_function(reader *r) {
  open_function *body = &r->body;
  size_t first_operand = r->operand.len;
  *body = (open_function){.first_node = r->node_kind.len};
  r->function = (int32_t)r->fn_node.len;
  r->block = (int32_t)r->block_node.len;
  r->debug = -1;
  r->next_number = 0;
  table_clear(&r->locals);
  r->out.len = 0;
  emit(r, "define");
  r->statement = r->p;
  int32_t node = body->node = read_prototype(r, &body->kernel);
  r->node_def.data[node] = r->function;
  body->first_arg = (int32_t)r->node_kind.len;
  read_parameters(r, 1);
  body->num_args = (int32_t)(r->operand.len - first_operand);
  body->first_stmt = (int32_t)r->opcode.len;
  body->first_block = r->block;
  end_statement(r, OP_define, NO_NODE, NO_NODE, first_operand);
  read_tail_of_function(r, node);
  read_to_body(r, &body->kernel);
  r->p++;
  take_kernels_place(r, node);
}

static void end_function(reader *r) {
  const open_function *body = &r->body;
  check_nodes(r, body->first_node, 0);
  if (body->has_phi) check_phis(r);
  if (body->has_alias) resolve_aliases(r);
  int ok = ints_push(&r->fn_node, body->node) && ints_push(&r->fn_first_stmt, body->first_stmt) &&
           ints_push(&r->fn_first_block, body->first_block) && ints_push(&r->fn_first_arg, body->first_arg) &&
           ints_push(&r->fn_num_args, body->num_args) &&
           bytes_push(&r->fn_kernel, (uint8_t)body->kernel);
  if (!ok) fail_memory(r);
  r->function = -1;
}

static void read_declaration(reader *r) {
  int kernel = 0;
  r->out.len = 0;
  int32_t node = read_prototype(r, &kernel);
  read_parameters(r, 0);
  read_tail_of_function(r, node);
}

/* One top-level entity; only the part before the body of a function. */
static void read_entity(reader *r) {
  char c = *r->p;
  if (c == '@') read_variable(r);
  else if (c == '!') read_metadata(r);
  else if (accept_word(r, "define")) {
    if (is_second_copy(r)) {
      skip_function(r);
      return;
    }
    begin_function(r);
    r->place = IN_BODY;
  } else if (accept_word(r, "declare")) read_declaration(r);
  else read_other_entity(r);
}

/* Reads up to the pause, or to the end. */
static void read_module(reader *r) {
  if (r->place == AT_START) {
    find_definitions(r);
    r->place = AT_TOP_LEVEL;
  }
  while (r->p < r->pause) {
    if (r->place == IN_BODY) {
      if (!read_body(r)) return;
      end_function(r);
      r->place = AT_TOP_LEVEL;
    }
    skip_space(r);
    if (r->p >= r->end) break;
    read_entity(r);
  }
  if (r->p < r->end) return;
  if (r->place == IN_BODY) fail(r, "function that does not end");
  check_nodes(r, 0, 1);
  r->place = AT_END;
  if (!ints_push(&r->operand_start, (int32_t)r->operand.len)) fail_memory(r);
  if (!r->texts.start.len && !longs_push(&r->texts.start, 0)) fail_memory(r);
}

static void add_known_callees(reader *r, const char *names) {
  while (*names) {
    const char *end = strchr(names, '\n');
    size_t n = end ? (size_t)(end - names) : strlen(names);
    slot *s = table_slot(&r->known_callees, names, n);
    if (!s) fail_memory(r);
    s->value = 1;
    names += n + (end != NULL);
  }
}

EXPORT void ncc_free(reader *r) {
  if (!r) return;
  void *owned[] = {r->opcode.data,   r->stmt_text.data, r->stmt_block.data,    r->stmt_result.data,   r->stmt_debug.data,
                   r->stmt_callee.data, r->operand_start.data, r->operand.data, r->node_kind.data,  r->node_function.data,
                   r->node_def.data, r->node_name.data, r->node_name_len.data, r->fn_node.data,       r->fn_first_stmt.data,
                   r->fn_first_block.data, r->fn_first_arg.data, r->fn_num_args.data, r->fn_kernel.data, r->block_node.data,
                   r->debug_id.data, r->debug_line.data, r->out.data,          r->type_text.data,     r->types.data,
                   r->type_names.slots, r->globals.slots, r->locals.slots,     r->known_callees.slots, r->defined.slots, r->kernel_bodies.slots, r->comdats.slots,
                   r->numbered.data, r->scratch.data, r->stmt_at.data, r->node_type.data, r->parameters.data,
                   r->cases.slots};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  interner_free(&r->texts);
  free(r);
}

uint64_t hash_key[2];

/* Once, before anything else is called. */
EXPORT void ncc_key(uint64_t first, uint64_t second) {
  hash_key[0] = first;
  hash_key[1] = second;
}

/* A reader of a NUL-terminated text, which must outlive it; NULL only without memory for the reader itself.
   known_callees: names, one per line. */
EXPORT reader *ncc_open(const char *text, int64_t len, uint32_t flags, int32_t max_fields, const char *known_callees) {
  reader *r = (reader *)calloc(1, sizeof(reader));
  if (!r) return NULL;
  r->text = r->p = text;
  r->end = text + len;
  r->flags = flags;
  r->max_fields = max_fields;
  r->function = -1;
  r->most_text = ((size_t)len << 6) + ((size_t)16 << 20);
  if (len > (int64_t)0xFFFFFFF0u) {
    r->status = STATUS_SYNTAX;
    memcpy(r->message, "text of more than 4 GiB", 24);
    return r;
  }
  if (setjmp(r->on_error)) return r;
  add_known_callees(r, known_callees);
  return r;
}

/* Reads about that many bytes: returns 0 if there are more, 1 at the end, 2 when memory runs out, 3 if the text is
   refused. A statement or entity is read whole, but takes time in proportion to its length, so that this returns
   soon. */
EXPORT int32_t ncc_read(reader *r, int64_t bytes) {
  if (r->status != STATUS_OK || setjmp(r->on_error)) return r->status;
  r->pause = r->end - r->p > bytes ? r->p + bytes : r->end + 1;
  read_module(r);
  return r->place == AT_END;
}

/* The fields for Python, in the order of READER_FIELDS in ncc/ir/reader/native.py. */
EXPORT void ncc_view(const reader *r, const void **data, int64_t *len) {
  int i = 0;
#define VIEW(V) data[i] = (V).data, len[i++] = (int64_t)(V).len
  VIEW(r->opcode), VIEW(r->stmt_text), VIEW(r->stmt_block), VIEW(r->stmt_result), VIEW(r->stmt_debug);
  VIEW(r->stmt_callee), VIEW(r->operand_start), VIEW(r->operand), VIEW(r->texts.text), VIEW(r->texts.start);
  VIEW(r->node_kind), VIEW(r->node_function), VIEW(r->node_def), VIEW(r->node_name), VIEW(r->node_name_len);
  VIEW(r->fn_node), VIEW(r->fn_first_stmt), VIEW(r->fn_first_block), VIEW(r->fn_first_arg), VIEW(r->fn_num_args);
  VIEW(r->fn_kernel), VIEW(r->block_node), VIEW(r->debug_id), VIEW(r->debug_line), VIEW(r->stmt_at);
}

/* Reason and position of the refusal. */
EXPORT const char *ncc_refusal(const reader *r, int64_t *error_at) {
  *error_at = r->error_at;
  return r->message;
}
