/* Lexing: white space, comments, words, strings, brackets and errors. */
#include "reader.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

uint8_t name_chars[256];

void skip_space(reader *r) {
  const char *p = r->p;
  for (;;) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    int is_long = *p == '/' && p[1] == '*'; /* since LLVM 21 */
    if (*p != ';' && !is_long) break;
    const char *close = is_long ? strstr(p + 2, "*/") : memchr(p, '\n', (size_t)(r->end - p));
    p = close ? close + 2 * is_long : r->end;
  }
  r->p = p;
}

void skip_string(reader *r) {
  skip_space(r);
  if (*r->p != '"') fail(r, "expected a string");
  const char *close = memchr(r->p + 1, '"', (size_t)(r->end - r->p - 1));
  if (!close) fail(r, "string that does not end");
  r->p = close + 1;
}

/* Skips from an opening bracket past its closing one; records the locals inside as operands if asked to. Returns the
   node of the first global inside, or NO_NODE. */
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
    } else if (c == ';' || (c == '/' && r->p[1] == '*')) {
      skip_space(r);
    } else if (c == '@') {
      word name;
      int32_t node = read_global(r, &name);
      if (global == NO_NODE) global = node;
    } else if (c == '%' && r->collect_locals && depth == 2) { /* deeper: types, and blocks of blockaddress */
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

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* "inf", "nan", "qnan", "snan(0x1)" after a sign, as LLVM prints them since version 23; NULL for other text. */
static const char *after_named_number(const char *p) {
  if (*p == 'q' || *p == 's') p++;
  if (strncmp(p, "nan", 3) && strncmp(p, "inf", 3)) return NULL;
  p += 3;
  if (strncmp(p, "(0x", 3)) return p;
  p += 3;
  while (isxdigit((unsigned char)*p)) p++;
  return *p == ')' ? p + 1 : NULL;
}

/* "12", "-1", "1.5e+00", "-inf", "0x3FF0", "0xK4000C8…": the whole word must be a number. */
void skip_number(reader *r) {
  const char *p = r->p;
  if (p[0] == '0' && p[1] == 'x') {
    p += 2;
    if (*p == 'K' || *p == 'L' || *p == 'M' || *p == 'H' || *p == 'R') p++;
    const char *start = p;
    while (is_digit(*p) || (*p >= 'A' && *p <= 'F') || (*p >= 'a' && *p <= 'f')) p++;
    if (p == start) fail(r, "expected a hexadecimal number");
  } else {
    const char *named = NULL;
    if (*p == '-' || *p == '+') named = after_named_number(++p);
    if (!named && !is_digit(*p)) fail(r, "expected a number");
    if (named) p = named;
    while (is_digit(*p)) p++;
    if (*p == '.') {
      p++;
      while (is_digit(*p)) p++;
      if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '-' || *p == '+') p++;
        if (!is_digit(*p)) fail(r, "expected an exponent");
        while (is_digit(*p)) p++;
      }
    }
  }
  if (name_chars[(uint8_t)*p]) fail(r, "expected a number");
  r->p = p;
}

/* A plain number: an index, an alignment, the number of a group of attributes. */
void skip_digits(reader *r) {
  const char *start = r->p;
  while (is_digit(*r->p)) r->p++;
  if (r->p == start || r->p - start > MAX_DIGITS || name_chars[(uint8_t)*r->p]) fail_at(r, start, "expected a number");
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

/* After an operand: is there a comma, followed by something other than attached metadata? */
int next_operand(reader *r) {
  skip_space(r);
  if (*r->p != ',') return 0;
  const char *comma = r->p++;
  skip_space(r);
  if (*r->p != '!') return 1;
  r->p = comma;
  return 0;
}

/* The word at the cursor, not consumed; empty if there is none. */
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
#define AS_WORD(NAME) {#NAME, WORD_OPCODE, OP_##NAME, sizeof #NAME - 1, 0, 0},
typedef struct {
  const char *text;
  int kind;
  opcode op;
  size_t n;
  uint64_t first, last;
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
/* Attributes of pointers alone where they stand behind a type, of functions alone, and others. */
static const char *const of_pointers[] = {
    "align", "byref", "byval", "captures", "dead_on_return", "dead_on_unwind", "dereferenceable",
    "dereferenceable_or_null", "inalloca", "initializes", "nest", "noalias", "nofree", "nonnull",
    "preallocated", "readnone", "readonly", "sret", "swifterror", "writable", "writeonly"};
static const char *const of_functions[] = {
    "allockind", "alwaysinline", "argmemonly", "builtin", "cold", "convergent", "coro_elide_safe",
    "coro_only_destroy_when_complete", "denormal_fpenv", "disable_sanitizer_instrumentation", "flatten",
    "fn_ret_thunk_extern", "hot", "inaccessiblemem_or_argmemonly", "inaccessiblememonly", "inlinehint", "jumptable",
    "memory", "minsize", "mustprogress", "naked", "nobuiltin", "nocallback", "nocf_check", "noduplicate",
    "noimplicitfloat", "noinline", "nomerge", "nonlazybind", "nooutline", "noprofile", "norecurse", "noredzone",
    "noreturn", "nosanitize_bounds", "nosanitize_coverage", "nosync", "nounwind", "null_pointer_is_valid", "optdebug",
    "optforfuzzing", "optnone", "optsize", "presplitcoroutine", "returns_twice", "safestack", "sanitize_address",
    "sanitize_alloc_token", "sanitize_hwaddress", "sanitize_memory", "sanitize_memtag", "sanitize_numerical_stability",
    "sanitize_realtime", "sanitize_realtime_blocking", "sanitize_thread", "sanitize_type", "shadowcallstack",
    "skipprofile", "speculatable", "speculative_load_hardening", "ssp", "sspreq", "sspstrong", "strictfp", "uwtable",
    "vscale_range", "willreturn"};
static const char *const attributes[] = {
    "alignstack", "allocalign", "allocptr", "allocsize", "elementtype", "hybrid_patchable", "immarg", "inreg",
    "nocapture", "nocreateundeforpoison", "nodivergencesource", "noext", "nofpclass", "noundef", "range", "returned", "signext",
    "swiftasync", "swiftself", "zeroext"};
/* Words before the type of a global or function: linkage, visibility, storage and sharing. */
static const char *const linkages[] = {
    "private", "internal", "weak", "weak_odr", "linkonce", "linkonce_odr", "available_externally", "appending", "common",
    "external", "extern_weak", "dllimport", "dllexport", "dso_local", "dso_preemptable", "default", "hidden",
    "protected", "unnamed_addr", "local_unnamed_addr", "thread_local", "externally_initialized", "addrspace"};
static const char *const conventions[] = {
    "ccc", "fastcc", "coldcc", "cfguard_checkcc", "preserve_mostcc", "preserve_allcc", "preserve_nonecc", "ghccc",
    "anyregcc", "webkit_jscc", "swiftcc", "swifttailcc", "cxx_fast_tlscc", "tailcc", "x86_stdcallcc", "x86_fastcallcc",
    "x86_thiscallcc", "x86_vectorcallcc", "x86_regcallcc", "x86_intrcc", "x86_64_sysvcc", "x86_64_win64cc", "win64cc",
    "intel_ocl_bicc", "spir_func", "spir_kernel", "arm_apcscc", "arm_aapcscc", "arm_aapcs_vfpcc", "aarch64_vector_pcs",
    "aarch64_sve_vector_pcs", "aarch64_sme_preservemost_from_x0", "aarch64_sme_preservemost_from_x1",
    "aarch64_sme_preservemost_from_x2", "msp430_intrcc", "avr_intrcc", "avr_signalcc", "ptx_kernel", "ptx_device",
    "amdgpu_vs", "amdgpu_gs", "amdgpu_ps", "amdgpu_cs", "amdgpu_ls", "amdgpu_hs", "amdgpu_es", "amdgpu_gfx",
    "amdgpu_kernel", "amdgpu_cs_chain", "amdgpu_cs_chain_preserve", "amdgpu_gfx_whole_wave", "hhvmcc", "hhvm_ccc",
    "riscv_vector_cc", "riscv_vls_cc", "m68k_rtdcc", "graalcc", "cc"};
static const char *const predicates[] = {"eq",  "ne",  "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle",
                                         "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "une", "uno"};
static const char *const tails[] = {"tail", "musttail", "notail"};
/* Operators of constant expressions, including those that LLVM has removed. */
static const char *const constants[] = {
    "getelementptr", "bitcast", "ptrtoint", "ptrtoaddr", "inttoptr", "addrspacecast", "trunc", "zext", "sext", "fptrunc",
    "fpext", "uitofp", "sitofp", "fptoui", "fptosi", "add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or",
    "xor", "shl", "lshr", "ashr", "fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "icmp", "fcmp", "select",
    "extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"};

enum { KEYWORD_SLOTS = 1024 };
static keyword keywords[KEYWORD_SLOTS];
static size_t longest_keyword;

/* Input is never inserted here, so a hash without a key suffices. */
static size_t keyword_hash(uint64_t first, uint64_t last, size_t n) {
  uint64_t h = (first ^ n << 56) * 0xD6E8FEB86659FD93ull;
  h = (h ^ h >> 32 ^ last) * 0xD6E8FEB86659FD93ull;
  return (size_t)(h ^ h >> 29);
}

/* The first and last eight bytes, which overlap in a short word and cover it up to sixteen. */
static void ends_of(const char *s, size_t n, uint64_t *first, uint64_t *last) {
  if (n >= 8) {
    memcpy(first, s, 8);
    memcpy(last, s + n - 8, 8);
  } else if (n >= 4) {
    uint32_t a, b;
    memcpy(&a, s, 4);
    memcpy(&b, s + n - 4, 4);
    *first = a, *last = b;
  } else {
    *first = (uint8_t)s[0] | (uint64_t)(uint8_t)s[n / 2] << 8;
    *last = (uint8_t)s[n - 1];
  }
}

static keyword *keyword_slot(const char *s, size_t n) {
  uint64_t first, last;
  ends_of(s, n, &first, &last);
  size_t at = keyword_hash(first, last, n) & (KEYWORD_SLOTS - 1);
  for (keyword *k; (k = &keywords[at])->text; at = (at + 1) & (KEYWORD_SLOTS - 1))
    if (k->n == n && k->first == first && k->last == last && (n <= 16 || !memcmp(k->text, s, n))) break;
  return &keywords[at];
}

static void add_keyword(const char *text, int kind, opcode op) {
  keyword *k = keyword_slot(text, strlen(text));
  k->text = text;
  k->n = strlen(text);
  ends_of(text, k->n, &k->first, &k->last);
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
  ADD_ALL(of_pointers, WORD_ATTRIBUTE | WORD_OF_POINTER);
  ADD_ALL(of_functions, WORD_ATTRIBUTE | WORD_OF_FUNCTION);
  ADD_ALL(attributes, WORD_ATTRIBUTE);
  ADD_ALL(linkages, WORD_LINKAGE);
  ADD_ALL(conventions, WORD_CONVENTION);
  ADD_ALL(predicates, WORD_PREDICATE);
  ADD_ALL(constants, WORD_VALUE | WORD_CONSTANT);
}

void classify(word *w) {
  if (w->n > longest_keyword) return;
  if (w->s[0] == 'i' && w->n > 1 && w->s[1] >= '0' && w->s[1] <= '9') {
    size_t i = 1, width = 0;
    for (; i < w->n && i < 9 && w->s[i] >= '0' && w->s[i] <= '9'; i++) width = width * 10 + (size_t)(w->s[i] - '0');
    if (i == w->n && width && width <= WIDEST_INTEGER) w->kind = WORD_TYPE;
    return;
  }
  const keyword *k = keyword_slot(w->s, w->n);
  if (!k->text) return;
  w->kind = k->kind;
  w->op = k->kind & WORD_OPCODE ? k->op : NUM_OPCODES;
}
