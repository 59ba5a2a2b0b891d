/* Values: locals, globals and constants, as text of the abstracted statement and as operands.

   Locals become <%ID>, globals <@ID>, labels <LABEL>, numbers <INT> or <FLOAT>, strings <STRING>.
   Reference: Ben-Nun et al. 2018, section 4.1. */
#include "reader.h"
#include <ctype.h>
#define OTHER_TYPE "a constant that is not of its type"

int32_t new_node(reader *r, int kind, const char *name, size_t len) {
  int32_t node = (int32_t)r->node_kind.len;
  int ok = bytes_push(&r->node_kind, (uint8_t)kind) && ints_push(&r->node_def, -1) &&
           ints_push(&r->node_function, kind <= NODE_FUNCTION ? -1 : r->function) &&
           uints_push(&r->node_name, (uint32_t)(name - r->text)) && uints_push(&r->node_name_len, (uint32_t)len) &&
           uints_push(&r->node_type, 0);
  if (!ok) fail_memory(r);
  return node;
}

/* The name after a sigil. Quotes are only part of names that consist of digits: %"5" is not %5. */
void name_of(reader *r, word *name) {
  const char *at = r->p++;
  if (*r->p == '"') {
    const char *start = r->p + 1;
    skip_string(r);
    name->s = start;
    name->n = (size_t)(r->p - 1 - start);
    size_t digits = 0;
    while (digits < name->n && start[digits] >= '0' && start[digits] <= '9') digits++;
    if (digits == name->n) {
      name->s--;
      name->n += 2;
    }
    return;
  }
  name->s = r->p;
  while (is_name_char(*r->p)) r->p++;
  name->n = (size_t)(r->p - name->s);
  if (!name->n) fail_at(r, at, "expected a name");
}

/* The node of local %number, or -1: entries of earlier functions are not cleared, but recognized. */
static int32_t *numbered_slot(reader *r, size_t number) {
  if (number > (size_t)(r->end - r->text) / 2 + 1) fail(r, "number of a value that can't exist in this file");
  size_t known = r->numbered.len;
  if (number >= known) {
    if (!numbered_locals_reserve(&r->numbered, number + 1 - known)) fail_memory(r);
    r->numbered.len = number + 1;
    memset(r->numbered.data + known, 0xFF, (number + 1 - known) * sizeof *r->numbered.data);
  }
  numbered_local *local = &r->numbered.data[number];
  if (local->function != r->function) *local = (numbered_local){r->function, -1};
  return &local->node;
}

/* The slot with the node of a local: an array for %1, %2, …, a table for names. */
static int32_t *local_slot(reader *r, const word *name) {
  if (name->s[0] >= '0' && name->s[0] <= '9' && name->n < 10) {
    size_t number = 0, i = 0;
    for (; i < name->n && name->s[i] >= '0' && name->s[i] <= '9'; i++) number = number * 10 + (size_t)(name->s[i] - '0');
    if (i == name->n) return numbered_slot(r, number);
  }
  slot *s = table_slot(&r->locals, name->s, name->n);
  if (!s) fail_memory(r);
  return &s->value;
}

int32_t local_node(reader *r, const word *name) {
  int32_t *node = local_slot(r, name);
  if (*node < 0) *node = new_node(r, NODE_UNDEFINED, name->s, name->n);
  return *node;
}

int32_t read_local(reader *r) {
  word name;
  name_of(r, &name);
  return local_node(r, &name);
}

/* A name that is a number must be the next one; "5x", which LLVM quotes, is not a number. */
static void note_number(reader *r, const char *name, size_t len) {
  int32_t number = 0;
  if (!len || len > 9) return;
  for (size_t i = 0; i < len; i++) {
    if (name[i] < '0' || name[i] > '9') return;
    number = number * 10 + (name[i] - '0');
  }
  if (number < r->next_number) fail_at(r, name, "a number that an earlier value has passed");
  r->next_number = number + 1;
}

int32_t define_local(reader *r, int kind, int32_t node) {
  if (r->node_kind.data[node] != NODE_UNDEFINED) {
    fail_at(r, r->text + r->node_name.data[node], "a second definition of this name");
  }
  r->node_kind.data[node] = (uint8_t)kind;
  note_number(r, r->text + r->node_name.data[node], r->node_name_len.data[node]);
  return node;
}

/* The target of an alias: a cast of a typed pointer to another one is the pointer itself. */
static int32_t resolve(reader *r, int32_t node) {
  while (r->node_kind.data[node] == NODE_ALIAS) {
    int32_t *target = &r->node_def.data[node], behind = r->node_def.data[*target];
    if (r->node_kind.data[*target] != NODE_ALIAS) return *target;
    node = *target = behind; /* shortens chains */
  }
  return node;
}

/* Makes a name an alias of another value; 0 if that would be a cycle. */
int define_alias(reader *r, int32_t node, int32_t target) {
  target = resolve(r, target);
  if (target == node) return 0;
  define_local(r, NODE_ALIAS, node);
  r->node_def.data[node] = target;
  r->body.has_alias = 1;
  return 1;
}

/* At the end of a function: operands refer to the targets of aliases, which get the aliases as further names. */
void resolve_aliases(reader *r) {
  size_t first = (size_t)r->body.first_stmt;
  for (size_t i = (size_t)r->operand_start.data[first]; i < r->operand.len; i++)
    if (r->operand.data[i] >= 0) r->operand.data[i] = resolve(r, r->operand.data[i]);
  for (size_t i = first; i < r->stmt_callee.len; i++)
    if (r->stmt_callee.data[i] >= 0) r->stmt_callee.data[i] = resolve(r, r->stmt_callee.data[i]);
  for (size_t node = r->body.first_node; node < r->node_kind.len; node++) {
    if (r->node_kind.data[node] != NODE_ALIAS) continue;
    int32_t target = resolve(r, (int32_t)node);
    r->node_kind.data[node] = r->node_kind.data[target];
    r->node_def.data[node] = r->node_def.data[target];
  }
}

/* A value or block without a name gets the next number. */
int32_t define_number(reader *r, int kind) {
  size_t number = (size_t)r->next_number;
  int32_t *slot = numbered_slot(r, number);
  r->next_number++;
  if (*slot < 0) *slot = new_node(r, NODE_UNDEFINED, r->text + number, 0);
  int32_t node = *slot;
  if (r->node_kind.data[node] != NODE_UNDEFINED) fail(r, "a value without a name would take a number that is taken");
  r->node_kind.data[node] = (uint8_t)kind;
  return node;
}

int32_t global_node(reader *r, const char *name, size_t len) {
  slot *s = table_slot(&r->globals, name, len);
  if (!s) fail_memory(r);
  if (s->value < 0) {
    int32_t function = r->function;
    r->function = -1;
    s->value = new_node(r, NODE_UNDEFINED, name, len);
    r->function = function;
  }
  return s->value;
}

int32_t read_global(reader *r, word *name) {
  name_of(r, name);
  if (r->unseen) return NO_NODE;
  return global_node(r, name->s, name->n);
}

/* "llvm.memcpy.p0.p0.i64" without the types at the end of an intrinsic's name. */
static size_t intrinsic_base(const char *s, size_t n) {
  size_t end = n;
  while (end > 5) {
    size_t dot = end - 1;
    while (dot > 5 && s[dot] != '.') dot--;
    if (s[dot] != '.' || dot <= 5) break;
    const char *part = s + dot + 1;
    size_t len = end - dot - 1;
    int digits = len > 1 && part[len - 1] >= '0' && part[len - 1] <= '9';
    int is_type = (digits && strchr("ipfvan", part[0])) || (len > 2 && !memcmp(part, "nxv", 3)) ||
                  (len > 2 && !memcmp(part, "sl_", 3)) || (len > 2 && !memcmp(part, "s_", 2)) ||
                  (len == 4 && !memcmp(part, "bf16", 4)) || (len >= 3 && part[0] == 'p' && part[1] >= '0' && part[1] <= '9');
    if (!is_type) break;
    end = dot;
  }
  return end;
}

/* "_Z13get_global_idj": the plain name of a mangled free function; other names are unchanged. */
static void plain_name(const word *name, word *plain) {
  *plain = *name;
  if (name->n < 4 || memcmp(name->s, "_Z", 2) || name->s[2] < '1' || name->s[2] > '9') return;
  size_t i = 2, len = 0;
  while (i < name->n && name->s[i] >= '0' && name->s[i] <= '9' && len < 1000) len = len * 10 + (size_t)(name->s[i++] - '0');
  if (i + len > name->n) return;
  plain->s = name->s + i;
  plain->n = len;
}

/* An external function of the fixed list keeps its name if the abstraction says so. */
static void emit_callee(reader *r, const word *name) {
  if (r->flags & KEEP_CALLEES) {
    if (name->n > 5 && !memcmp(name->s, "llvm.", 5)) {
      emit(r, "@");
      emit_bytes(r, name->s, intrinsic_base(name->s, name->n));
      return;
    }
    word plain;
    plain_name(name, &plain);
    if (table_find(&r->known_callees, plain.s, plain.n) >= 0 && table_find(&r->defined, name->s, name->n) < 0) {
      emit(r, "@");
      emit_bytes(r, plain.s, plain.n);
      return;
    }
  }
  emit(r, "<@ID>");
}

int32_t read_callee(reader *r) {
  skip_space(r);
  if (*r->p == '@') {
    word name;
    int32_t node = read_global(r, &name);
    emit_callee(r, &name);
    return node;
  }
  if (*r->p == '%') {
    int32_t node = read_local(r);
    emit(r, "<%ID>");
    return node;
  }
  if (accept_word(r, "asm")) {
    for (word w; (w = peek_word(r)).n;) r->p += w.n;
    skip_string(r);
    expect(r, ',', "expected ',' between the strings of inline assembly");
    skip_string(r);
    emit(r, "asm");
    return NO_NODE;
  }
  return read_value(r, r->out.len);
}

static int is_float_type(const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (n - i > 6 && !memcmp(s + i, "vscale", 6)) i += 6;
    if (s[i] == '[' || s[i] == '<' || s[i] == ' ' || s[i] == 'x' || s[i] == '{' || (s[i] >= '0' && s[i] <= '9')) continue;
    return s[i] == 'f' || s[i] == 'd' || s[i] == 'h' || s[i] == 'b' || (s[i] == 'p' && n - i > 3 && s[i + 1] == 'p') ||
           (s[i] == '_' && i && s[i - 1] == '6');
  }
  return 0;
}

/* <INT:0>, <INT:1>, <INT:-1>, <INT:2> and powers of two are distinguished if the abstraction says so. */
static void emit_integer(reader *r, const char *start, size_t len) {
  uint64_t value = 0;
  size_t at = *start == '-' || *start == '+';
  int small = (r->flags & KEEP_IMMEDIATES) && len - at <= 19; /* more digits might not fit */
  for (size_t i = at; i < len && small; i++) {
    small = start[i] >= '0' && start[i] <= '9';
    value = value * 10 + (uint64_t)(start[i] - '0');
  }
  if (!small) emit(r, "<INT>");
  else if (*start == '-') {
    if (value == 1) emit(r, "<INT:-1>");
    else emit(r, "<INT:->");
  } else if (value == 0) emit(r, "<INT:0>");
  else if (value == 1) emit(r, "<INT:1>");
  else if (value == 2) emit(r, "<INT:2>");
  else if ((value & (value - 1)) == 0) emit(r, "<INT:2^n>");
  else emit(r, "<INT>");
}

/* A composite constant (aggregate, splat, constant expression) is written as its type's kind of number, or as the
   global that it is based on. */
static int32_t emit_composite(reader *r, size_t type_at, size_t type_end, int32_t global) {
  if (global != NO_NODE) emit(r, "<@ID>");
  else if (is_float_type(r->out.data + type_at, type_end - type_at)) emit(r, "<FLOAT>");
  else emit(r, "<INT>");
  return global;
}

/* "T value" inside a constant: returns the global that it is, or is built on. Of the abstracted text the type stays. */
static int32_t read_inner_value(reader *r) {
  span type = read_type(r);
  skip_space(r);
  if (*r->p == '%') fail(r, "a local in a constant");
  int32_t node = read_value(r, type.at);
  r->out.len = type.at + type.n;
  r->type = type;
  return node;
}

/* From an opening bracket past its closing one, the values of an aggregate; their types make up its own. */
static int32_t read_aggregate(reader *r, span type) {
  if (r->depth >= MAX_DEPTH / 2) return skip_balanced(r); /* without recursion, whose depth a hostile text could choose */
  r->depth++;
  int packed = *r->p == '<' && r->p[1] == '{';
  char close = *r->p == '[' ? ']' : *r->p == '{' || packed ? '}' : '>';
  const char *open = r->p;
  int is_cut = type.n > 1 + (size_t)packed && text_of(r, type)[1 + packed] == '.';
  need(r, !type.n || !memcmp(text_of(r, type), open, 1 + (size_t)packed), OTHER_TYPE);
  r->p += 1 + packed;
  size_t from = r->out.len;
  uint32_t key = 0;
  uint64_t count = 0;
  int32_t global = NO_NODE;
  for (; !accept(r, close); count++) {
    if (count) expect(r, ',', "expected ',' or a closing bracket in a constant");
    if (close == '}' && !is_cut) emit_bytes(r, count ? ", " : "<{ " + !packed, count ? 2 : 2 + (size_t)packed);
    int32_t node = read_inner_value(r);
    if (global == NO_NODE) global = node;
    if (close != '}' && count && key_of(r, r->type) != key) fail_at(r, open, OTHER_TYPE);
    key = key_of(r, r->type);
    if (close != '}' || is_cut || !type.n) r->out.len = from;
    need(r, r->out.len - from <= type.n, OTHER_TYPE);
  }
  if (packed && *r->p != '>') fail(r, "packed constant that is not closed");
  r->p += packed;
  r->depth--;
  if (close != '}' && type.n) check_sequence(r, type, count, key);
  if (close == '}' && type.n && count && !is_cut) {
    emit_bytes(r, " }>", 2 + (size_t)packed);
    need(r, key_of(r, (span){from, r->out.len - from}) == key_of(r, type), OTHER_TYPE);
  }
  r->out.len = from;
  return global;
}

/* Arguments of a constant expression: typed values, except a source element type, indices and a result type. */
static int32_t read_arguments_of(reader *r, const word *w, span type) {
  if (r->depth >= MAX_DEPTH / 2) return skip_balanced(r);
  r->depth++;
  int is_address = is(*w, "getelementptr"), by_index = is(*w, "extractvalue") || is(*w, "insertvalue");
  int32_t global = NO_NODE;
  size_t before = r->out.len;
  r->p++;
  for (int i = 0;; i++) {
    r->out.len = before;
    skip_space(r);
    if (by_index && *r->p >= '0' && *r->p <= '9') {
      skip_digits(r);
    } else if (*r->p == '@' && is(*w, "blockaddress")) {
      word name;
      global = read_global(r, &name);
    } else if (*r->p == '%' && is(*w, "blockaddress") && i) {
      word name;
      name_of(r, &name); /* possibly a block of another function */
    } else if (is_address && !i) {
      skip_type(r);
    } else {
      if (is_address) accept_word(r, "inrange");
      int32_t node = read_inner_value(r);
      if (global == NO_NODE) global = node;
      int is_cast = accept_word(r, "to");
      if (is_cast) r->type = read_type(r);
      int is_splat = is(*w, "splat"), is_same = is_cast || (w->op >= OP_add && w->op <= OP_xor);
      if (type.n && (is_splat || is_same))
        need(r, key_of(r, r->type) == key_of(r, is_splat ? element_of(r, type) : type), OTHER_TYPE);
    }
    if (accept(r, ')')) break;
    expect(r, ',', "expected ',' or ')' in a constant expression");
  }
  r->depth--;
  r->out.len = before;
  return global;
}

/* c"ab\\00", of an array of bytes */
static void read_text(reader *r, span type) {
  const char *p = ++r->p + 1;
  uint64_t count = 0;
  skip_string(r);
  for (; p < r->p - 1; count++) {
    int is_code = *p == '\\' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]);
    p += is_code ? 3 : 1 + (*p == '\\' && p[1] == '\\');
  }
  if (type.n) check_sequence(r, type, count, type_key("i8", 2));
  emit(r, "<STRING>");
}

static int32_t read_word_value(reader *r, size_t type_at, size_t type_end) {
  word w = peek_word(r);
  char c = w.n ? *w.s : 0;
  span type = {type_at, type_end - type_at};
  if (c == 'c' && w.n == 1 && r->p[1] == '"') {
    read_text(r, type);
    return NO_NODE;
  }
  int number_prefix = w.n > 2 && (c == 'f' || c == 'u' || c == 's') && w.s[1] == '0' && w.s[2] == 'x';
  if (!(w.kind & WORD_VALUE) && !number_prefix) fail(r, "expected a value");
  r->p += w.n;
  if (type.n && ((is(w, "null") && !is_pointer(r, type)) || ((is(w, "true") || is(w, "false")) && !is_type(r, type, "i1"))))
    fail_at(r, w.s, OTHER_TYPE);
  if (is(w, "true") || is(w, "false")) {
    emit_integer(r, is(w, "true") ? "1" : "0", 1);
    return NO_NODE;
  }
  if (number_prefix) return emit_composite(r, type_at, type_end, NO_NODE);
  if (is(w, "null") || is(w, "undef") || is(w, "poison") || is(w, "none") || is(w, "zeroinitializer")) {
    emit_bytes(r, w.s, w.n);
    return NO_NODE;
  }
  skip_space(r);
  if (*r->p == '@') { /* dso_local_equivalent @f, no_cfi @f */
    word name;
    emit(r, "<@ID>");
    return read_global(r, &name);
  }
  for (word flag; (flag = peek_word(r)).kind & (WORD_FLAG | WORD_PREDICATE) || is(flag, "inrange") ||
                  (is(w, "fcmp") && (is(flag, "true") || is(flag, "false")));) {
    r->p += flag.n;
    skip_space(r);
    if (is(flag, "inrange") && *r->p == '(') {
      skip_balanced(r);
      skip_space(r);
    }
  }
  if (*r->p == '(') return emit_composite(r, type_at, type_end, read_arguments_of(r, &w, type));
  if (!is(w, "inf") && !is(w, "nan") && !is(w, "qnan") && !is(w, "snan")) fail(r, "expected '(' in a constant");
  return emit_composite(r, type_at, type_end, NO_NODE);
}

/* A value of the type written at type_at; returns its node, or NO_NODE for a constant. */
int32_t read_value(reader *r, size_t type_at) {
  skip_space(r);
  char c = *r->p;
  size_t type_end = r->out.len;
  if (type_end > type_at) emit(r, " ");
  if (c == '%') {
    const char *at = r->p;
    int32_t node = read_local(r);
    if (type_end > type_at) agree(r, at, node, type_key(r->out.data + type_at, type_end - type_at));
    emit(r, "<%ID>");
    return node;
  }
  if (c == '@') {
    word name;
    if (type_end > type_at && !is_pointer(r, (span){type_at, type_end - type_at})) fail(r, "a global is a pointer");
    int32_t node = read_global(r, &name);
    int is_register = r->flags & KEEP_CALLEES && name.n > 15 && !memcmp(name.s, "__spirv_BuiltIn", 15);
    if (is_register) emit(r, "@");
    if (is_register) emit_bytes(r, name.s, name.n);
    else emit(r, "<@ID>");
    return node;
  }
  if ((c >= '0' && c <= '9') || c == '-' || c == '+') {
    const char *start = r->p;
    skip_number(r);
    if (is_float_number(r, start, (span){type_at, type_end - type_at})) emit(r, "<FLOAT>");
    else emit_integer(r, start, (size_t)(r->p - start));
    return NO_NODE;
  }
  if (c == '<' || c == '[' || c == '{') return emit_composite(r, type_at, type_end, read_aggregate(r, (span){type_at, type_end - type_at}));
  if (c == '!') {
    r->out.len = type_end;
    skip_metadata(r);
    return NO_NODE;
  }
  return read_word_value(r, type_at, type_end);
}

/* "\"key\"", "\"key\"=\"value\"", or "#7", the number of a group: 0 where there is none. */
int accept_attribute(reader *r) {
  if (*r->p == '#' && isdigit((unsigned char)r->p[1])) {
    r->p++;
    skip_digits(r);
    return 1;
  }
  if (*r->p != '"') return 0;
  skip_string(r);
  const char *behind = r->p;
  if (accept(r, '=')) skip_string(r);
  else r->p = behind; /* on its own line */
  return 1;
}

/* Attributes, which the abstraction drops; behind a type those that it may have. */
void read_attributes(reader *r, span type) {
  for (;;) {
    word w = peek_word(r);
    if (accept_attribute(r)) continue;
    if (!is_attribute(r, &w)) return;
    if (type.n) {
      int of_integers = is(w, "zeroext") || is(w, "signext");
      int fits = is_pointer(r, element_of(r, type)) || !(w.kind & WORD_OF_POINTER);
      fits = fits && (*text_of(r, type) == 'i' || !of_integers) && !(w.kind & WORD_OF_FUNCTION);
      need(r, fits, "an attribute of what is of another type");
    }
    read_attribute(r, w);
  }
}

/* A known attribute or, in text that LLVM has printed, one that may be newer than this reader: not the "c" of a string
   or a number, "4776", "-inf" or "f0x…". */
int is_attribute(const reader *r, const word *w) {
  if (w->kind & WORD_ATTRIBUTE) return 1;
  return r->flags & VERIFIED && w->kind == WORD_OTHER && w->n > 2 && isalpha((unsigned char)w->s[0]) && w->s[1] != '0';
}

/* "noundef", "align 8", "dereferenceable(8)" */
void read_attribute(reader *r, word w) {
  r->p += w.n;
  const char *behind = r->p;
  skip_space(r);
  if (*r->p == '(') {
    skip_balanced(r);
  } else if (is(w, "align") || is(w, "alignstack")) {
    accept(r, '=');
    skip_alignment(r);
  } else {
    r->p = behind;
  }
}

/* "{null, !0, !\"text\", i32 1}" */
static void read_metadata_node(reader *r) {
  if (r->depth >= MAX_DEPTH / 2) {
    skip_balanced(r);
    return;
  }
  r->depth++;
  r->p++;
  int unseen = r->unseen;
  r->unseen = 1; /* metadata add nothing to the program */
  size_t before = r->out.len;
  for (int i = 0; !accept(r, '}'); i++, r->out.len = before) {
    if (i) expect(r, ',', "expected ',' or '}' in metadata");
    skip_space(r);
    if (*r->p == '!') skip_metadata(r);
    else if (!accept_word(r, "null")) read_inner_value(r);
  }
  r->unseen = unseen;
  r->depth--;
}

/* "!12", "!{…}", "!\"text\"", "!DIExpression(…)" */
void skip_metadata(reader *r) {
  if (*r->p != '!') fail(r, "expected metadata");
  r->p++;
  if (*r->p == '"') {
    skip_string(r);
    return;
  }
  if (*r->p >= '0' && *r->p <= '9') {
    skip_digits(r);
    return;
  }
  const char *name = r->p;
  while (is_name_char(*r->p) || *r->p == '\\') r->p++;
  if (*r->p == '(' && r->p > name) skip_balanced(r);
  else if (*r->p == '{' && r->p == name) read_metadata_node(r);
  else fail_at(r, name, "expected metadata");
}

/* "!dbg !7": returns the start of the metadata itself. */
const char *skip_attachment(reader *r) {
  if (*r->p != '!') fail(r, "expected metadata");
  r->p++;
  while (is_name_char(*r->p) || *r->p == '\\') r->p++;
  skip_space(r);
  const char *at = r->p;
  skip_metadata(r);
  return at;
}

/* "T attributes value", as in arguments of calls and first operands of most operators. */
int32_t read_typed_value(reader *r) {
  skip_space(r);
  size_t type_at = r->out.len;
  r->type = read_type(r);
  if (is_type(r, r->type, "metadata")) {
    r->type.n = 0;
    skip_space(r);
    if (*r->p == '!') {
      skip_metadata(r);
      return NO_NODE;
    }
    r->out.len = type_at;
    read_type(r); /* "metadata i32 %x", without recursion, whose depth a hostile text could choose */
  }
  span type = r->type;
  read_attributes(r, type);
  skip_space(r);
  r->value = r->p;
  int32_t node = read_value(r, type_at);
  r->type = type; /* a constant has others in it */
  return node;
}
