/* Entities outside functions: variables, metadata, types, comdats, groups of attributes.

   Few of them reach an array, but all are read, so that text that no LLVM prints is refused, and a damaged file
   does not get vectors silently. */
#include "reader.h"

void skip_line(reader *r) {
  const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
  r->p = line_end ? line_end : r->end;
}

/* "($name)", or nothing if the comdat has the name of its owner. */
void read_name_of_comdat(reader *r, const word *owner) {
  word name = *owner;
  const char *at = r->p;
  if (*r->p == '(') {
    r->p++;
    skip_space(r);
    at = r->p;
    if (*at != '$') fail(r, "expected the name of a comdat");
    name_of(r, &name);
    expect(r, ')', "expected ')' behind the name of a comdat");
  }
  if (table_find(&r->comdats, name.s, name.n) < 0) fail_at(r, at, "use of undefined comdat");
}

/* After the initializer: ", section \"…\", comdat, align 8, !dbg !7" and sanitizers' marks. */
static void read_tail_of_variable(reader *r, const word *owner) {
  for (;;) {
    const char *before = r->p;
    skip_space(r);
    if (accept_attribute(r)) continue;
    if (*r->p != ',') {
      r->p = before;
      return;
    }
    r->p++;
    skip_space(r);
    if (*r->p == '!') {
      skip_attachment(r);
      continue;
    }
    word w = peek_word(r);
    r->p += w.n;
    if (is(w, "section") || is(w, "partition") || is(w, "code_model")) skip_string(r);
    else if (is(w, "align")) skip_alignment(r);
    else if (is(w, "comdat")) read_name_of_comdat(r, owner);
    else if (!is(w, "no_sanitize_address") && !is(w, "no_sanitize_hwaddress") && !is(w, "no_sanitize_memtag") &&
             !is(w, "sanitize_memtag") && !is(w, "sanitize_address_dyninit"))
      fail_at(r, w.s, "expected what may stand behind a global's initializer");
  }
}

void read_variable(reader *r) {
  word name;
  int32_t node = read_global(r, &name);
  if (r->node_kind.data[node] != NODE_UNDEFINED) fail_at(r, name.s, "a second definition of this global");
  r->node_kind.data[node] = NODE_GLOBAL;
  expect(r, '=', "expected '=' behind the name of a global");
  int is_declaration = 0, is_alias = 0;
  for (;;) {
    word w = peek_word(r);
    r->p += w.n;
    is_alias = is(w, "alias") || is(w, "ifunc");
    if (is_alias || is(w, "global") || is(w, "constant")) break;
    if (!(w.kind & WORD_LINKAGE)) fail_at(r, w.s, "expected 'global', 'constant', 'alias' or 'ifunc'");
    is_declaration |= is(w, "external") || is(w, "extern_weak");
    if (*r->p == '(') skip_balanced(r);
  }
  if (is_alias) r->node_kind.data[node] = NODE_FUNCTION;
  r->unseen = 1; /* names in an initializer are not part of functions */
  size_t before = r->out.len;
  r->has_signature = 0;
  need(r, (holds_value(r, read_type(r)) && !r->has_signature) || is_alias, "a global of an invalid type");
  if (is_alias) {
    expect(r, ',', "expected ',' and what an alias stands for");
    r->out.len = before;
    if (at_type(r)) need(r, is_pointer(r, read_type(r)), "an alias of a value that is not a pointer");
    read_value(r, before); /* a constant expression has its type inside */
  } else if (!is_declaration) {
    read_value(r, before);
  }
  r->out.len = before;
  r->unseen = 0;
  read_tail_of_variable(r, &name);
}

/* Records "!7 = !DILocation(line: 5, …)". */
void read_metadata(reader *r) {
  const char *at = r->p++;
  size_t id = 0;
  int is_numbered = *r->p >= '0' && *r->p <= '9';
  if (is_numbered) {
    id = strtoul(r->p, NULL, 10);
    skip_digits(r);
  } else {
    while (is_name_char(*r->p) || *r->p == '\\') r->p++;
    if (r->p == at + 1) fail_at(r, at, "expected '!name = '"); /* so that "! prose" is not a module */
  }
  expect(r, '=', "expected '=' behind the name of metadata");
  accept_word(r, "distinct");
  skip_space(r);
  if (is_numbered && !strncmp(r->p, "!DILocation(line: ", 18)) {
    unsigned long line = strtoul(r->p + 18, NULL, 10);
    if (!uints_push(&r->debug_id, (uint32_t)(id & 0x7FFFFFFF)) || !uints_push(&r->debug_line, (uint32_t)(line & 0x3FFFFFFF)))
      fail_memory(r);
  }
  skip_metadata(r);
}

/* "attributes #0 = { nounwind \"key\"=\"value\" memory(none) }" */
static void read_attribute_group(reader *r) {
  skip_space(r);
  if (*r->p != '#') fail(r, "expected the number of a group of attributes");
  r->p++;
  skip_digits(r);
  expect(r, '=', "expected '=' and a group of attributes");
  expect(r, '{', "expected '{' and attributes");
  read_attributes(r, (span){0, 0});
  expect(r, '}', "expected an attribute or '}'");
}

static void read_comdat(reader *r) {
  word name;
  name_of(r, &name);
  expect(r, '=', "expected '=' behind the name of a comdat");
  if (!accept_word(r, "comdat")) fail(r, "expected 'comdat'");
  word w = peek_word(r);
  if (!is(w, "any") && !is(w, "exactmatch") && !is(w, "largest") && !is(w, "nodeduplicate") && !is(w, "noduplicates") &&
      !is(w, "samesize"))
    fail(r, "expected how a comdat is chosen");
  r->p += w.n;
}

static void read_named_type(reader *r) {
  word name;
  name_of(r, &name);
  expect(r, '=', "expected '=' behind the name of a type");
  if (!accept_word(r, "type")) fail(r, "expected 'type'");
  r->defining = 1;
  skip_type(r);
  r->defining = 0;
}

/* Everything except variables, metadata and functions. */
void read_other_entity(reader *r) {
  if (*r->p == '%') {
    read_named_type(r);
    return;
  }
  if (*r->p == '$') {
    read_comdat(r);
    return;
  }
  if (*r->p == '^') { /* the summary of LTO */
    skip_line(r);
    return;
  }
  word w = peek_word(r);
  r->p += w.n;
  if (is(w, "attributes")) {
    read_attribute_group(r);
  } else if (is(w, "source_filename")) {
    expect(r, '=', "expected '=' and the name of a file");
    skip_string(r);
  } else if (is(w, "target")) {
    if (!accept_word(r, "triple") && !accept_word(r, "datalayout")) fail(r, "expected 'triple' or 'datalayout'");
    expect(r, '=', "expected '=' and a string");
    skip_string(r);
  } else if (is(w, "module")) {
    if (!accept_word(r, "asm")) fail(r, "expected 'asm'");
    skip_string(r);
  } else if (is(w, "uselistorder") || is(w, "uselistorder_bb") || is(w, "deplibs")) {
    skip_line(r);
  } else {
    fail_at(r, w.s, "expected a top-level entity");
  }
}
