/* Finds the literals of statements: numbers, and names of globals. Lookalikes are skipped: locals, types, metadata,
   attribute groups, alignments, and attributes in parentheses. */
#include "buffers.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
  const char *text, *end;
  interner tokens;  /* as in the text; a name begins with @ */
  ints token, stop; /* all literals; for each statement so far, the end of its literals */
  const uint32_t *at; /* starts of statements */
  int64_t num_statements;
} literals;

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || (uint8_t)c >= 0x80; }
static int is_word(char c) { return is_letter(c) || is_digit(c); }
static int is_name(char c) { return is_word(c) || c == '.' || c == '$' || c == '-'; }

static const char *const attributes[] = {"align", "alignstack", "addrspace", "captures", "dereferenceable",
                                         "dereferenceable_or_null", "initializes", "inrange", "memory", "nofpclass",
                                         "range", "allocsize", "vscale_range"};

/* End of a name at p, quoted or not; NULL if there is none. */
static const char *skip_name(const char *p, const char *end) {
  if (p < end && *p == '"') {
    const char *quote = memchr(p + 1, '"', (size_t)(end - p - 1));
    return quote ? quote + 1 : NULL;
  }
  const char *first = p;
  while (p < end && is_name(*p)) p++;
  return p > first ? p : NULL;
}

static const char *skip_digits(const char *p, const char *end) {
  while (p < end && is_digit(*p)) p++;
  return p;
}

/* End of the parenthesis that was opened before p; NULL if it is missing, or contains more than two levels. */
static const char *skip_parentheses(const char *p, const char *end) {
  for (int depth = 1; p < end; p++) {
    if (*p == '(' && ++depth > 2) return NULL;
    if (*p == ')' && !--depth) return p + 1;
  }
  return NULL;
}

/* End of an attribute with numbers that are not the program's; NULL if there is none. */
static const char *skip_attribute(const char *p, const char *end) {
  const char *word = p;
  while (p < end && is_word(*p)) p++;
  size_t n = (size_t)(p - word);
  if (p + 1 < end && *p == ' ' && n == 5 && !memcmp(word, "align", 5) && is_digit(p[1])) return skip_digits(p + 1, end);
  if (p >= end || *p != '(') return NULL;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (strlen(attributes[i]) == n && !memcmp(attributes[i], word, n)) return skip_parentheses(p + 1, end);
  return NULL;
}

static int ends_number(const char *p, const char *end) { return p >= end || !(is_word(*p) || *p == '.' || *p == ':'); }

/* End of a number as LLVM prints it; NULL if there is none. */
static const char *skip_number(const char *p, const char *end) {
  const char *first = p;
  if (*p == '-') p++;
  const char *digits = p;
  p = skip_digits(p, end);
  if (p == digits) return NULL;
  if (p + 1 < end && *p == '.' && is_digit(p[1])) {
    p = skip_digits(p + 1, end);
    if (p < end && *p == 'e') {
      const char *exponent = p + 1 < end && (p[1] == '+' || p[1] == '-') ? p + 2 : p + 1;
      if (exponent < end && is_digit(*exponent)) p = skip_digits(exponent, end);
    }
  } else if (p == first + 1 && *first == '0' && p < end && *p == 'x') {
    if (++p < end && memchr("HKLMR", *p, 5)) p++;
    const char *hex = p;
    while (p < end && (is_digit(*p) || (*p >= 'A' && *p <= 'F'))) p++;
    if (p == hex) return NULL;
  }
  return ends_number(p, end) ? p : NULL;
}

static int add_literal(literals *l, const char *from, const char *to) {
  int32_t id = interner_add(&l->tokens, from, (size_t)(to - from));
  return id >= 0 && ints_push(&l->token, id);
}

static int read_literals(literals *l, const char *start, const char *end) {
  for (const char *p = start, *next; p < end; p = next) {
    char c = *p, before = p > start ? p[-1] : ' ';
    next = NULL;
    if (c == '%') {
      next = skip_name(p + 1, end);
    } else if (c == '!' || c == '#') {
      for (next = p + 1; next < end && (is_word(*next) || *next == '.');) next++;
    } else if (c == '@') {
      next = skip_name(p + 1, end);
      if (next && !add_literal(l, p, next)) return 0;
    } else if (is_letter(c)) {
      if (!is_word(before)) next = skip_attribute(p, end);
      if (!next)
        for (next = p + 1; next < end && is_word(*next);) next++;
    } else if ((is_digit(c) || c == '-') && !is_word(before) && before != '.') {
      next = skip_number(p, end);
      if (next && !add_literal(l, p, next)) return 0;
    }
    if (!next) next = p + 1;
  }
  return 1;
}

/* End of a statement: that of its line, or the closing bracket of a switch's cases. */
static const char *end_of(const literals *l, const char *start) {
  const char *line = memchr(start, '\n', (size_t)(l->end - start));
  if (!line) return l->end;
  const char *last = line;
  while (last > start && last[-1] == '\r') last--;
  if (last == start || last[-1] != '[') return line;
  const char *bracket = memchr(line, ']', (size_t)(l->end - line));
  return bracket ? bracket + 1 : line;
}

EXPORT void ncc_literals_close(literals *l) {
  if (!l) return;
  interner_free(&l->tokens);
  free(l->token.data);
  free(l->stop.data);
  free(l);
}

/* A finder for statements that start at these offsets of this text; both must outlive it. NULL when memory runs
   out. */
EXPORT literals *ncc_literals_open(const char *text, int64_t len, const uint32_t *at, int64_t num_statements) {
  literals *l = calloc(1, sizeof *l);
  if (l) l->text = text, l->end = text + len, l->at = at, l->num_statements = num_statements;
  return l;
}

/* Reads a number of statements: returns 0 if there are more, 1 at the end, 2 when memory runs out. */
EXPORT int32_t ncc_literals_read(literals *l, int64_t n) {
  for (; n && (int64_t)l->stop.len < l->num_statements; n--) {
    const char *start = l->text + l->at[l->stop.len];
    if (!read_literals(l, start, end_of(l, start)) || !ints_push(&l->stop, (int32_t)l->token.len)) return 2;
  }
  return (int64_t)l->stop.len == l->num_statements;
}

/* The result: ends of each statement's literals, all literals, and their distinct texts with offsets. */
EXPORT void ncc_literals_view(const literals *l, const void **data, int64_t *len) {
  int i = 0;
#define VIEW(V) data[i] = (V).data, len[i++] = (int64_t)(V).len
  VIEW(l->stop), VIEW(l->token), VIEW(l->tokens.text), VIEW(l->tokens.start);
}
