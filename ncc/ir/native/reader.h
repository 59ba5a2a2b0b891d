/* The IR reader's state, and the functions that its parts (lexing, types, values, instructions, module) share.

   The reader parses the text in one pass, by the grammar of LLVM's language reference, into arrays with one row per
   statement and one per node (an identifier: global, block, argument or result). Recursion is at most MAX_DEPTH
   deep, and every position is inside the text, which ends in a NUL byte. */
#ifndef NCC_READER_H
#define NCC_READER_H

#include "buffers.h"
#include <setjmp.h>

enum { MAX_DEPTH = 200, MAX_STRUCT_TEXT = 4096, MAX_DIGITS = 20, WIDEST_INTEGER = 1 << 23 };
#define TOO_MUCH_TEXT "structures that unfold to more than 64 times the length of the file"
enum { NODE_GLOBAL = 0, NODE_FUNCTION = 1, NODE_BLOCK = 2, NODE_ARGUMENT = 3, NODE_RESULT = 4, NODE_UNDEFINED = 5, NODE_ALIAS = 6 };
enum { KEEP_CALLEES = 1, KEEP_IMMEDIATES = 2, VERIFIED = 4, KEEP_CASTS = 8 }; /* VERIFIED: LLVM has printed the text */
enum { STATUS_OK = 0, STATUS_MEMORY = 2, STATUS_SYNTAX = 3 };
enum { AT_START, AT_TOP_LEVEL, IN_BODY, AT_END };
enum { NO_NODE = -1 };
enum { BODY_INLINED, BODY_CALLED };
#define BODY_OF "__clang_ocl_kern_imp_"
enum { BODY_OF_LEN = sizeof BODY_OF - 1 };

/* Opcode numbers are part of the package's interface: OPCODES in ncc/ir/reader/native.py has the same order. */
#define OPCODES(X)                                                                                        \
  X(define) X(ret) X(br) X(switch) X(indirectbr) X(invoke) X(resume) X(catchswitch) X(catchret)           \
  X(cleanupret) X(unreachable) X(callbr) X(fneg) X(add) X(fadd) X(sub) X(fsub) X(mul) X(fmul) X(udiv)     \
  X(sdiv) X(fdiv) X(urem) X(srem) X(frem) X(shl) X(lshr) X(ashr) X(and) X(or) X(xor) X(extractelement)    \
  X(insertelement) X(shufflevector) X(extractvalue) X(insertvalue) X(alloca) X(load) X(store) X(fence)    \
  X(cmpxchg) X(atomicrmw) X(getelementptr) X(trunc) X(zext) X(sext) X(fptrunc) X(fpext) X(fptoui)         \
  X(fptosi) X(uitofp) X(sitofp) X(ptrtoint) X(ptrtoaddr) X(inttoptr) X(bitcast) X(addrspacecast) X(icmp)  \
  X(fcmp) X(phi) X(select) X(freeze) X(call) X(va_arg) X(landingpad) X(catchpad) X(cleanuppad)

#define AS_ENUM(NAME) OP_##NAME,
typedef enum { OPCODES(AS_ENUM) NUM_OPCODES } opcode;

static inline int is_terminator(opcode op) { return op >= OP_ret && op <= OP_callbr; }

/* Classes of words; a word without a class has a meaning in one context only, or none at all. */
enum { WORD_OTHER = 0, WORD_OPCODE = 1, WORD_TYPE = 2, WORD_VALUE = 4, WORD_FLAG = 8, WORD_TAIL = 16, WORD_CONSTANT = 32,
       WORD_ATTRIBUTE = 64, WORD_LINKAGE = 128, WORD_CONVENTION = 256, WORD_PREDICATE = 512, WORD_OF_POINTER = 1024,
       WORD_OF_FUNCTION = 2048 };

typedef struct {
  const char *s;
  size_t n;
  int kind;  /* WORD_… bits */
  opcode op; /* for WORD_OPCODE */
} word;

typedef struct {
  const char *body; /* where the type's definition starts in the text */
  int64_t start;    /* its expansion in type_text, or -1 while there is none */
  int64_t len;
  int expanding;
} named_type;
VECTOR(named_type, named_types)

typedef struct {
  int32_t function, node;
} numbered_local;
VECTOR(numbered_local, numbered_locals)

/* A function whose body is being read. */
typedef struct {
  int32_t node, first_arg, num_args, first_stmt, first_block;
  size_t first_node;
  int kernel, in_block, has_block, has_alias, has_phi, in_phis, has_personality;
  uint32_t returns; /* key of its return type */
} open_function;

/* A type within the abstracted statement. */
typedef struct {
  size_t at, n;
} span;

typedef struct {
  /* input */
  const char *text, *end, *p;
  uint32_t flags;
  int32_t max_fields; /* structures of more scalars are written {...}; -1 for no limit */
  int place;          /* AT_… or IN_…: where reading continues */
  const char *pause;  /* reading stops at the first statement or entity that starts here or later */
  /* outcome */
  int32_t status;
  int64_t error_at;
  char message[160];
  jmp_buf on_error;
  /* statements: one row each */
  bytes opcode;
  ints stmt_text, stmt_block, stmt_result, stmt_debug, stmt_callee, operand_start;
  ints operand;
  uints stmt_at; /* its start in the text */
  interner texts;
  size_t most_text; /* bytes, of one statement and of all distinct ones */
  /* nodes: one row each */
  bytes node_kind;
  ints node_function, node_def;
  uints node_name, node_name_len;
  uints node_type; /* key of the type of a value's first occurrence; 0: unknown */
  /* functions: one row each */
  ints fn_node, fn_first_stmt, fn_first_block, fn_first_arg, fn_num_args;
  bytes fn_kernel;
  ints block_node;
  uints debug_id, debug_line;
  /* working state */
  chars out; /* the abstracted statement being written */
  chars scratch;
  chars type_text;
  named_types types;
  table type_names, globals, locals, known_callees, defined;
  table comdats;
  table kernel_bodies; /* kernel → BODY_…, if its body is also a separate function */
  numbered_locals numbered; /* of local %n; valid if its `function` is this one */
  int32_t next_number, function, block, debug;
  open_function body;
  const char *statement; /* start of the current one */
  span type;             /* type of the last typed value; empty for metadata */
  const char *value;     /* start of that value */
  uint32_t gives;        /* key of the type of the statement's result; 0: unknown */
  uints parameters;      /* keys of the parameters of the last function type */
  int has_signature, is_variadic; /* was the last type a function's? */
  table cases;                    /* of the current switch */
  int depth, collect_locals;
  int unseen;   /* named globals get no node */
  int defining; /* a type is being defined: others in it are not expanded */
} reader;

#define is(w, literal) ((w).n == sizeof(literal) - 1 && !memcmp((w).s, literal, sizeof(literal) - 1))

/* lexing.c */
_Noreturn void fail(reader *r, const char *message);
_Noreturn void fail_at(reader *r, const char *at, const char *message);
_Noreturn void fail_memory(reader *r);
void skip_space(reader *r);
void skip_string(reader *r);
int skip_balanced(reader *r);
void skip_number(reader *r);
void skip_digits(reader *r);
word peek_word(reader *r);
int accept(reader *r, char c);
void expect(reader *r, char c, const char *message);
int accept_word(reader *r, const char *text);
int next_operand(reader *r);
void classify(word *w);
/* One entry per byte value: may it be part of an identifier (LLVM's set)? */
extern uint8_t name_chars[256];
static inline int is_name_char(char c) { return name_chars[(uint8_t)c]; }

/* types.c */
int at_type(reader *r);
span read_type(reader *r);
span read_value_type(reader *r);
void find_definitions(reader *r);
void skip_type(reader *r);

/* agreement.c */
int is_float_number(reader *r, const char *start, span type);
void check_operator(reader *r, opcode op, span type);
void check_cast(reader *r, opcode op, span from, span to);
void check_phis(reader *r);
span element_of(const reader *r, span type);
span inside(const reader *r, span type);
void check_sequence(reader *r, span type, uint64_t count, uint32_t key);
span field_of(reader *r, span type, const char *index);
uint32_t vector_key(reader *r, span shape, span element);
uint32_t key_around(reader *r, const char *before, size_t n, span type, const char *behind);
void need(reader *r, int condition, const char *message);

/* values.c */
int32_t new_node(reader *r, int kind, const char *name, size_t len);
int32_t local_node(reader *r, const word *name);
int32_t read_local(reader *r);
int32_t define_local(reader *r, int kind, int32_t node);
int32_t define_number(reader *r, int kind);
int define_alias(reader *r, int32_t node, int32_t target);
void resolve_aliases(reader *r);
int32_t read_global(reader *r, word *name);
int32_t global_node(reader *r, const char *name, size_t len);
int32_t read_value(reader *r, size_t type_at);
int32_t read_typed_value(reader *r);
int32_t read_callee(reader *r);
void read_attributes(reader *r, span type);
int is_attribute(const reader *r, const word *w);
void read_attribute(reader *r, word w);
int accept_attribute(reader *r);
void skip_metadata(reader *r);
const char *skip_attachment(reader *r);
void name_of(reader *r, word *name);

/* entities.c */
void read_name_of_comdat(reader *r, const word *owner);
void read_variable(reader *r);
void read_metadata(reader *r);
void read_other_entity(reader *r);
void skip_line(reader *r);

/* calls.c */
int read_words_before_type(reader *r, int kinds);
int32_t read_block(reader *r);
void read_label(reader *r);
void read_label_list(reader *r);
int32_t read_call(reader *r);
int32_t read_invoke(reader *r, opcode op);
void read_landingpad(reader *r);
void read_pad(reader *r, opcode op);

/* statements.c */
void emit_word(reader *r, word w);
void skip_alignment(reader *r);
void read_comma(reader *r, const char *message);
void read_operand(reader *r);
int read_statement(reader *r);
void end_statement(reader *r, opcode op, int32_t result, int32_t callee, size_t first_operand);

/* Types: text of the abstracted statement, and keys of it */
static inline const char *text_of(const reader *r, span type) { return r->out.data + type.at; }
static inline int is_pointer(const reader *r, span type) { return type.n >= 3 && !memcmp(text_of(r, type), "ptr", 3); }
static inline int is_vector(const reader *r, span type) {
  return type.n > 1 && text_of(r, type)[0] == '<' && text_of(r, type)[1] != '{';
}
/* Not void, a label, metadata, or what has no type. */
static inline int holds_value(const reader *r, span type) {
  char c = type.n ? *text_of(r, type) : 'v';
  return c != 'v' && c != 'l' && c != 'm';
}
#define is_type(r, type, literal) \
  ((type).n == sizeof(literal) - 1 && !memcmp((r)->out.data + (type).at, literal, sizeof(literal) - 1))

/* Never 0. It is not used for lookups, so a hash without a secret suffices. */
static inline uint32_t type_key(const char *s, size_t n) {
  uint64_t key = n, part = 0;
  for (; n >= 8; s += 8, n -= 8) {
    memcpy(&part, s, 8);
    key = (key ^ part) * 0xD6E8FEB86659FD93ull;
    key ^= key >> 32;
  }
  if (n >= 4) {
    uint32_t ends[2];
    memcpy(&ends[0], s, 4);
    memcpy(&ends[1], s + n - 4, 4);
    part = (uint64_t)ends[0] << 32 | ends[1];
  } else if (n) {
    part = (uint64_t)(uint8_t)s[0] << 16 | (uint64_t)(uint8_t)s[n / 2] << 8 | (uint8_t)s[n - 1];
  }
  return (uint32_t)((key ^ part) * 0xD6E8FEB86659FD93ull >> 32) | 1;
}

static inline uint32_t key_of(const reader *r, span type) { return type_key(text_of(r, type), type.n); }

/* A local has the same type in its whole function. */
static inline void agree(reader *r, const char *at, int32_t node, uint32_t key) {
  uint32_t *known = &r->node_type.data[node];
  if (!*known) *known = key;
  else if (*known != key && key) fail_at(r, at, "a value of another type than elsewhere in its function");
}

/* out: the abstracted statement */
static inline void emit_bytes(reader *r, const char *s, size_t n) {
  if (!chars_reserve(&r->out, n)) fail_memory(r);
  memcpy(r->out.data + r->out.len, s, n);
  r->out.len += n;
}
#define emit(r, literal) emit_bytes(r, literal, sizeof(literal) - 1)

static inline void push_operand(reader *r, int32_t node) {
  if (!ints_push(&r->operand, node)) fail_memory(r);
}

#endif
