/* Lexing: white space, comments, words, strings, brackets and errors. */
#include "reader.h"
#include <stdio.h>

void fail_at(reader *r, const char *at, const char *message) {
  r->status = STATUS_SYNTAX;
  r->error_at = at - r->text;
  snprintf(r->message, sizeof r->message, "%s", message);
  longjmp(r->on_error, 1);
}

void fail(reader *r, const char *message) { fail_at(r, r->p, message); }

void fail_memory(reader *r) {
  r->status = STATUS_MEMORY;
  r->error_at = r->p - r->text;
  longjmp(r->on_error, 1);
}

/* One bit a byte value: may stand in an identifier (LLVM's own set). */
static uint8_t name_chars[256];

int is_name_char(char c) { return name_chars[(uint8_t)c]; }

void skip_space(reader *r) {
  const char *p = r->p;
  for (;;) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    if (*p != ';') break;
    const char *line_end = memchr(p, '\n', (size_t)(r->end - p));
    p = line_end ? line_end : r->end;
  }
  r->p = p;
}

void skip_string(reader *r) {
  if (*r->p != '"') fail(r, "expected a string");
  const char *close = memchr(r->p + 1, '"', (size_t)(r->end - r->p - 1));
  if (!close) fail(r, "string that does not end");
  r->p = close + 1;
}

/* Skips from an opening bracket past its closing one; remembers the first global inside, and as operands the
   locals inside where asked to. Returns the first global's node, or NO_NODE. */
int skip_balanced(reader *r) {
  const char *opened = r->p;
  int64_t depth = 0;
  int32_t global = NO_NODE;
  do {
    char c = *r->p;
    if (c == '(' || c == '[' || c == '{' || c == '<') depth++;
    if (c == ')' || c == ']' || c == '}' || c == '>') depth--;
    if (c == '"') {
      skip_string(r);
    } else if (c == ';') {
      skip_space(r);
    } else if (c == '@') {
      word name;
      int32_t node = read_global(r, &name);
      if (global == NO_NODE) global = node;
    } else if (c == '%' && r->collect_locals) {
      int32_t type_or_local = NO_NODE;
      const char *at = r->p;
      word name;
      name_of(r, &name);
      if (table_find(&r->type_names, name.s, name.n) < 0) {
        r->p = at;
        type_or_local = read_local(r);
      }
      if (type_or_local != NO_NODE) push_operand(r, type_or_local);
    } else if (r->p >= r->end) {
      fail_at(r, opened, "bracket that is never closed");
    } else {
      r->p++;
    }
  } while (depth > 0);
  return global;
}

void skip_number(reader *r) {
  while (name_chars[(uint8_t)*r->p] || *r->p == '+') r->p++;
}

int accept(reader *r, char c) {
  skip_space(r);
  if (*r->p != c) return 0;
  r->p++;
  return 1;
}

void expect(reader *r, char c, const char *message) {
  if (!accept(r, c)) fail(r, message);
}

/* After an operand: is there a comma, and behind it something other than attached metadata? */
int next_operand(reader *r) {
  skip_space(r);
  if (*r->p != ',') return 0;
  const char *comma = r->p++;
  skip_space(r);
  if (*r->p != '!') return 1;
  r->p = comma;
  return 0;
}

/* The word at the cursor, not consumed; of length 0 where there is none. */
word peek_word(reader *r) {
  skip_space(r);
  const char *s = r->p;
  while (name_chars[(uint8_t)*s]) s++;
  word w = {r->p, (size_t)(s - r->p), WORD_OTHER, NUM_OPCODES};
  if (w.n) classify(&w);
  return w;
}

int accept_word(reader *r, const char *text) {
  word w = peek_word(r);
  if (w.n != strlen(text) || memcmp(w.s, text, w.n)) return 0;
  r->p += w.n;
  return 1;
}

/* Keywords */
#define AS_WORD(NAME) {#NAME, WORD_OPCODE, OP_##NAME, sizeof #NAME - 1},
typedef struct {
  const char *text;
  int kind;
  opcode op;
  size_t n;
} keyword;

static const keyword opcodes[] = {OPCODES(AS_WORD)};
static const char *const types[] = {"void", "half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128",
                                    "x86_mmx", "x86_amx", "label", "metadata", "token", "ptr", "opaque", "target"};
static const char *const values[] = {"true", "false", "null", "undef", "poison", "none", "zeroinitializer", "asm",
                                     "blockaddress", "dso_local_equivalent", "no_cfi", "splat", "ptrauth", "inf",
                                     "nan", "qnan", "snan"};
/* Flags are kept in the abstracted statement; every other decoration is dropped. */
static const char *const flags[] = {"nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "nusw",
                                    "volatile", "atomic", "weak", "fast", "nnan", "ninf", "nsz", "arcp", "contract",
                                    "afn", "reassoc", "inalloca", "swifterror"};
static const char *const tails[] = {"tail", "musttail", "notail"};
/* Operators that may stand in a constant expression, today's and those that LLVM has since removed. */
static const char *const constants[] = {
    "getelementptr", "bitcast", "ptrtoint", "ptrtoaddr", "inttoptr", "addrspacecast", "trunc", "zext", "sext", "fptrunc",
    "fpext", "uitofp", "sitofp", "fptoui", "fptosi", "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or",
    "xor", "shl", "lshr", "ashr", "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "icmp", "fcmp", "select",
    "extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"};

enum { KEYWORD_SLOTS = 1024 };
static keyword keywords[KEYWORD_SLOTS];
static size_t longest_keyword;

/* Nothing of the input is ever entered here, so a hash without a key serves. */
static size_t keyword_hash(const char *s, size_t n) {
  uint64_t h = n * 0xD6E8FEB86659FD93ull, w = 0;
  memcpy(&w, s, n < 8 ? n : 8);
  h = (h ^ w) * 0xD6E8FEB86659FD93ull;
  if (n > 8) {
    memcpy(&w, s + n - 8, 8);
    h = (h ^ h >> 32 ^ w) * 0xD6E8FEB86659FD93ull;
  }
  return (size_t)(h ^ h >> 29);
}

static keyword *keyword_slot(const char *s, size_t n) {
  size_t at = keyword_hash(s, n) & (KEYWORD_SLOTS - 1);
  while (keywords[at].text && (keywords[at].n != n || memcmp(keywords[at].text, s, n)))
    at = (at + 1) & (KEYWORD_SLOTS - 1);
  return &keywords[at];
}

static void add_keyword(const char *text, int kind, opcode op) {
  keyword *k = keyword_slot(text, strlen(text));
  k->text = text;
  k->n = strlen(text);
  k->kind |= kind;
  if (kind == WORD_OPCODE) k->op = op;
  if (strlen(text) > longest_keyword) longest_keyword = strlen(text);
}

#define ADD_ALL(LIST, KIND) \
  for (size_t i = 0; i < sizeof LIST / sizeof *LIST; i++) add_keyword(LIST[i], KIND, NUM_OPCODES)

__attribute__((constructor)) static void fill_tables(void) {
  for (int c = 0; c < 256; c++)
    name_chars[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '.' || c == '$' || c == '-';
  for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) add_keyword(opcodes[i].text, WORD_OPCODE, opcodes[i].op);
  ADD_ALL(types, WORD_TYPE);
  ADD_ALL(values, WORD_VALUE);
  ADD_ALL(flags, WORD_FLAG);
  ADD_ALL(tails, WORD_TAIL);
  ADD_ALL(constants, WORD_VALUE | WORD_CONSTANT);
}

void classify(word *w) {
  if (w->n > longest_keyword) return;
  if (w->s[0] == 'i' && w->n > 1 && w->s[1] >= '0' && w->s[1] <= '9') {
    size_t i = 1;
    while (i < w->n && w->s[i] >= '0' && w->s[i] <= '9') i++;
    if (i == w->n) w->kind = WORD_TYPE;
    return;
  }
  const keyword *k = keyword_slot(w->s, w->n);
  if (!k->text) return;
  w->kind = k->kind;
  w->op = k->kind & WORD_OPCODE ? k->op : NUM_OPCODES;
}
