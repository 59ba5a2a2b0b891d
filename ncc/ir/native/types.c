/* Types: written into the abstracted statement in the current form, with named structs inlined and opaque pointers.

   Reference: Ben-Nun et al. 2018, section 4 (pre-processing: structures are inlined as literal types). */
#include "reader.h"

/* What stands in a sequence or structure: not void, a label or metadata, and in a vector a scalar. */
static void read_element(reader *r, char close) {
  span type = read_type(r);
  int fits = !type.n || (holds_value(r, type) && (close != '>' || !strchr("<[{", *text_of(r, type))));
  need(r, fits, "an element of an invalid type");
}

static void read_elements(reader *r, char close, const char *message) {
  int first = 1;
  size_t start = r->out.len;
  for (;;) {
    skip_space(r);
    if (*r->p == close) break;
    if (!first) {
      expect(r, ',', message);
      emit(r, ", ");
    }
    read_element(r, close);
    first = 0;
    if (r->out.len - start > MAX_STRUCT_TEXT) r->out.len = start + MAX_STRUCT_TEXT + 1;
  }
  r->p++;
}

/* [N x T], <N x T>, <vscale x N x T> */
static void read_sequence(reader *r, char close) {
  if (accept_word(r, "vscale")) {
    emit(r, "vscale x ");
    if (!accept_word(r, "x")) fail(r, "expected 'x' in a scalable vector type");
  }
  skip_space(r);
  const char *start = r->p;
  while (*r->p >= '0' && *r->p <= '9') r->p++;
  if (r->p == start) fail(r, "expected the number of elements of an array or vector type");
  while (*start == '0' && r->p - start > 1) start++;
  if (r->p - start > MAX_DIGITS) fail_at(r, start, "number of elements of more than 20 digits");
  need(r, *start != '0' || close == ']', "a vector of no elements");
  emit_bytes(r, start, (size_t)(r->p - start));
  if (!accept_word(r, "x")) fail(r, "expected 'x' in an array or vector type");
  emit(r, " x ");
  read_element(r, close);
  expect(r, close, "array or vector type that is not closed");
}

/* Number of fields of a structure written at `from`, including nested ones: a large number if one of these was
   truncated to "{...}". */
static int num_fields(const reader *r, size_t from) {
  const char *at = r->out.data + from, *end = r->out.data + r->out.len;
  int fields = at < end, parentheses = 0; /* target("spirv.Image", void, 1) is one field */
  for (; at < end; at++) {
    if (*at == '{' && at + 1 < end && at[1] == '.') return INT32_MAX;
    parentheses += (*at == '(') - (*at == ')');
    fields += *at == ',' && !parentheses;
  }
  return fields;
}

static void read_structure(reader *r) {
  r->p++;
  emit(r, "{ ");
  size_t before = r->out.len;
  read_elements(r, '}', "expected ',' or '}' in a structure type");
  if (r->out.len - before > MAX_STRUCT_TEXT || (r->max_fields >= 0 && num_fields(r, before) > r->max_fields)) {
    r->out.len = before - 2;
    emit(r, "{...}");
    return;
  }
  if (r->out.len == before) r->out.len--;
  else emit(r, " ");
  emit(r, "}");
}

/* A named structure is expanded once and then copied. A structure inside itself, or with a text longer than
   MAX_STRUCT_TEXT (checked while it grows, or copies of copies would fill the memory), is truncated to "{...}". */
static void read_named(reader *r) {
  const char *at = r->p;
  word name;
  name_of(r, &name);
  int32_t id = table_find(&r->type_names, name.s, name.n);
  if (id < 0) fail_at(r, at, "use of undefined type");
  if (r->defining) return;  /* checked where the type is used */
  if (*r->p == '*') return; /* read_suffixes writes the pointer; structures can be nested hundreds deep */
  if (r->types.data[id].expanding) {
    emit(r, "{...}");
    return;
  }
  if (r->types.data[id].start < 0) {
    const char *resume = r->p;
    size_t from = r->out.len;
    r->types.data[id].expanding = 1;
    r->p = r->types.data[id].body;
    read_type(r);
    r->p = resume;
    if (r->out.len - from > MAX_STRUCT_TEXT) {
      r->out.len = from;
      emit(r, "{...}");
    }
    named_type *t = &r->types.data[id];
    t->expanding = 0;
    t->start = (int64_t)r->type_text.len;
    t->len = (int64_t)(r->out.len - from);
    if (!chars_reserve(&r->type_text, (size_t)t->len)) fail_memory(r);
    memcpy(r->type_text.data + t->start, r->out.data + from, (size_t)t->len);
    r->type_text.len += (size_t)t->len;
    if (r->type_text.len > r->most_text) fail_at(r, at, TOO_MUCH_TEXT);
    return;
  }
  const named_type *t = &r->types.data[id];
  emit_bytes(r, r->type_text.data + t->start, (size_t)t->len);
  if (r->out.len > r->most_text) fail_at(r, at, TOO_MUCH_TEXT);
}

/* "addrspace(3)", or since LLVM 22 a quoted name: returns the start of "(3)", or the cursor if there is none. */
static const char *skip_address_space(reader *r) {
  if (*r->p != 'a' || !accept_word(r, "addrspace")) return r->p;
  skip_space(r);
  const char *open = r->p;
  if (*r->p++ != '(') fail_at(r, open, "expected '(' after 'addrspace'");
  if (*r->p == '"') skip_string(r);
  else skip_digits(r);
  if (*r->p != ')') fail(r, "expected ')' behind an address space");
  r->p++;
  return open;
}

/* Address space 0 is not written. */
static void emit_pointer(reader *r, const char *space, const char *end) {
  emit(r, "ptr");
  if (end == space || (end - space == 3 && space[1] == '0')) return;
  emit(r, " addrspace");
  emit_bytes(r, space, (size_t)(end - space));
}

/* "(i32, ptr, ...)" after a function's return type */
static void skip_parameter_types(reader *r) {
  size_t before = r->out.len, first = r->parameters.len;
  int is_variadic = 0;
  r->p++;
  for (int i = 0; !accept(r, ')'); i++) {
    if (i) expect(r, ',', "expected ',' or ')' in the parameters of a function type");
    skip_space(r);
    if (!strncmp(r->p, "...", 3)) {
      r->p += 3;
      is_variadic = 1;
      expect(r, ')', "expected ')' behind '...'");
      break;
    }
    uint32_t key = key_of(r, read_type(r));
    r->parameters.len = first + (size_t)i; /* without those of nested function types */
    if (!uints_push(&r->parameters, key)) fail_memory(r);
    r->out.len = before;
  }
  r->has_signature = 1;
  r->is_variadic = is_variadic;
}

void skip_type(reader *r) {
  size_t before = r->out.len;
  read_type(r);
  r->out.len = before;
}

/* After a type: "(…)" makes it a function type, "*" a typed pointer, which is written as an opaque one. */
static void read_suffixes(reader *r, size_t start) {
  size_t first = r->parameters.len;
  for (;;) {
    skip_space(r);
    if (*r->p == '(') {
      skip_parameter_types(r);
    } else {
      const char *at = r->p, *space = skip_address_space(r), *end = r->p;
      if (!accept(r, '*')) { /* an address space may belong to a global or a function */
        r->p = at;
        return;
      }
      r->has_signature = 0;
      r->parameters.len = first;
      r->out.len = start;
      emit_pointer(r, space, end);
    }
  }
}

static void read_word_type(reader *r) {
  word w = peek_word(r);
  if (!(w.kind & WORD_TYPE)) fail(r, "expected a type");
  r->p += w.n;
  if (is(w, "ptr")) {
    skip_space(r);
    const char *space = skip_address_space(r);
    emit_pointer(r, space, r->p);
  } else if (is(w, "target")) {
    skip_space(r);
    const char *open = r->p;
    if (*open != '(') fail(r, "expected '(' after 'target'");
    skip_balanced(r);
    emit(r, "target");
    emit_bytes(r, open, (size_t)(r->p - open));
  } else {
    emit_bytes(r, w.s, w.n);
  }
}

/* Returns its position in the abstracted text. */
span read_type(reader *r) {
  if (++r->depth > MAX_DEPTH) fail(r, "types nested too deep");
  skip_space(r);
  size_t start = r->out.len;
  switch (*r->p) {
    case '%': read_named(r); break;
    case '{': read_structure(r); break;
    case '[':
      r->p++;
      emit(r, "[");
      read_sequence(r, ']');
      emit(r, "]");
      break;
    case '<':
      r->p++;
      emit(r, "<");
      skip_space(r);
      if (*r->p == '{') {
        read_structure(r);
        expect(r, '>', "packed structure type that is not closed");
      } else {
        read_sequence(r, '>');
      }
      emit(r, ">");
      break;
    default: read_word_type(r);
  }
  char c = *r->p;
  if (c == '*' || c == ' ' || c == '(' || c == '\n' || c == '\t' || c == '\r') {
    const char *next = r->p;
    while (*next == ' ') next++;
    if (*next == '*' || *next == '(' || *next == 'a' || *next < ' ') read_suffixes(r, start);
  }
  r->depth--;
  return (span){start, r->out.len - start};
}

/* The type of what is in memory, or goes through a phi. */
span read_value_type(reader *r) {
  r->has_signature = 0;
  span type = read_type(r);
  int is_unsized = r->has_signature || *text_of(r, type) == 'o' || is_type(r, type, "token");
  need(r, holds_value(r, type) && !is_unsized, "a type that no value has here");
  return type;
}

int at_type(reader *r) {
  skip_space(r);
  char c = *r->p;
  if (c == '%' || c == '{' || c == '[' || c == '<') return 1;
  return (peek_word(r).kind & WORD_TYPE) != 0;
}

static void find_type(reader *r) {
  const char *at = r->p;
  word name;
  name_of(r, &name);
  if (accept(r, '=') && accept_word(r, "type")) {
    slot *s = table_slot(&r->type_names, name.s, name.n);
    named_type t = {r->p, -1, 0, 0};
    if (!s || !named_types_push(&r->types, t)) fail_memory(r);
    if (s->value >= 0) fail_at(r, at, "a second definition of this type");
    s->value = (int32_t)r->types.len - 1;
  }
  r->p = at;
}

/* Finds kernels whose body is also a separate function, as in clang since version 21: the kernel calls that function
   or, if optimized, repeats it. */
static void find_kernel_bodies(reader *r) {
  for (const char *line = r->text;; line = r->p) {
    const char *at = memchr(line, '@', (size_t)(r->end - line));
    if (!at) return;
    r->p = at + 1;
    if (r->p < r->end && *r->p == '"') r->p++; /* names with a $ are quoted */
    if ((size_t)(r->end - r->p) < BODY_OF_LEN || memcmp(r->p, BODY_OF, BODY_OF_LEN)) continue;
    const char *start = at;
    while (start > r->text && start[-1] != '\n') start--;
    word name;
    r->p = at;
    name_of(r, &name);
    int is_definition = !memcmp(start, "define ", 7) && !memchr(start, '@', (size_t)(at - start));
    if (name.n > BODY_OF_LEN && table_find(&r->defined, name.s + BODY_OF_LEN, name.n - BODY_OF_LEN) >= 0) {
      slot *s = table_slot(&r->kernel_bodies, name.s + BODY_OF_LEN, name.n - BODY_OF_LEN);
      if (!s) fail_memory(r);
      if (!is_definition) s->value = BODY_CALLED;
      else if (s->value < 0) s->value = BODY_INLINED;
    }
  }
}

/* Before the pass: finds named types, and functions with a body. Both are at the start of a line. */
void find_definitions(reader *r) {
  const char *line = r->text;
  int has_bodies = 0;
  while (line < r->end) {
    r->p = line;
    if (*line == '%') {
      find_type(r);
    } else if (*line == '$') {
      word name;
      name_of(r, &name);
      slot *s = table_slot(&r->comdats, name.s, name.n);
      if (!s) fail_memory(r);
      if (s->value >= 0) fail_at(r, line, "a second definition of this comdat");
      s->value = 1;
    } else if (*line == 'd' && r->end - line > 7 && !memcmp(line, "define ", 7)) {
      const char *line_end = memchr(line, '\n', (size_t)(r->end - line));
      const char *at = memchr(line, '@', (size_t)((line_end ? line_end : r->end) - line));
      if (at) {
        word name;
        r->p = at;
        name_of(r, &name);
        slot *s = table_slot(&r->defined, name.s, name.n);
        if (!s) fail_memory(r);
        s->value = 1;
        has_bodies |= name.n > BODY_OF_LEN && !memcmp(name.s, BODY_OF, BODY_OF_LEN);
      }
    }
    const char *next = memchr(line, '\n', (size_t)(r->end - line));
    if (!next) break;
    line = next + 1;
  }
  if (has_bodies) find_kernel_bodies(r);
  r->p = r->text;
}
