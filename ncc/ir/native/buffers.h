/* Growing arrays, a string interner and hash tables: the memory of the reader and of the context counter. */
#ifndef NCC_BUFFERS_H
#define NCC_BUFFERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A growing array. `ok` turns 0 when memory runs out; the owner checks it once, at the end of a pass. */
#define VECTOR(T, NAME)                                                        \
  typedef struct {                                                             \
    T *data;                                                                   \
    size_t len, cap;                                                           \
  } NAME;                                                                      \
  static inline int NAME##_reserve(NAME *v, size_t more) {                     \
    if (v->len + more <= v->cap) return 1;                                     \
    size_t cap = v->cap + v->cap / 2 + more + 64;                              \
    T *data = (T *)realloc(v->data, cap * sizeof(T));                          \
    if (!data) return 0;                                                       \
    v->data = data;                                                            \
    v->cap = cap;                                                              \
    return 1;                                                                  \
  }                                                                            \
  static inline int NAME##_push(NAME *v, T item) {                             \
    if (v->len == v->cap && !NAME##_reserve(v, 1)) return 0;                   \
    v->data[v->len++] = item;                                                  \
    return 1;                                                                  \
  }

VECTOR(char, chars)
VECTOR(uint8_t, bytes)
VECTOR(int32_t, ints)
VECTOR(uint32_t, uints)
VECTOR(int64_t, longs)

/* The key of all hashes, random in each process, so that colliding names can't be prepared. */
extern uint64_t hash_key[2];

/* SipHash-1-3 (Aumasson and Bernstein 2012, "SipHash: a fast short-input PRF"). */
static inline uint64_t hash_bytes(const char *s, size_t n) {
  uint64_t v0 = hash_key[0] ^ 0x736f6d6570736575ull, v1 = hash_key[1] ^ 0x646f72616e646f6dull;
  uint64_t v2 = hash_key[0] ^ 0x6c7967656e657261ull, v3 = hash_key[1] ^ 0x7465646279746573ull;
  uint64_t last = (uint64_t)n << 56, w;
#define ROTATED(x, b) ((x) << (b) | (x) >> (64 - (b)))
#define ROUND                                                                              \
  (v0 += v1, v2 += v3, v1 = ROTATED(v1, 13) ^ v0, v3 = ROTATED(v3, 16) ^ v2,              \
   v0 = ROTATED(v0, 32), v2 += v1, v0 += v3, v1 = ROTATED(v1, 17) ^ v2,                    \
   v3 = ROTATED(v3, 21) ^ v0, v2 = ROTATED(v2, 32))
  for (; n >= 8; s += 8, n -= 8) {
    memcpy(&w, s, 8);
    v3 ^= w;
    ROUND;
    v0 ^= w;
  }
  w = 0;
  memcpy(&w, s, n);
  last |= w;
  v3 ^= last;
  ROUND;
  v0 ^= last;
  v2 ^= 0xff;
  ROUND, ROUND, ROUND;
#undef ROUND
#undef ROTATED
  return v0 ^ v1 ^ v2 ^ v3;
}

/* Maps byte strings that are stored elsewhere (in the text or an arena) to integers. Clearing takes time proportional
   to its content, so one table serves all functions. */
typedef struct {
  const char *key;
  uint32_t len;
  uint32_t epoch;
  uint64_t hash;
  int32_t value;
} slot;

typedef struct {
  slot *slots;
  size_t cap, used;
  uint32_t epoch;
} table;

static inline int table_grow(table *t) {
  size_t cap = t->cap ? t->cap * 2 : 256;
  slot *slots = (slot *)calloc(cap, sizeof(slot));
  if (!slots) return 0;
  for (size_t i = 0; i < t->cap; i++) {
    if (t->slots[i].epoch != t->epoch) continue;
    size_t at = t->slots[i].hash & (cap - 1);
    while (slots[at].epoch) at = (at + 1) & (cap - 1);
    slots[at] = t->slots[i];
    slots[at].epoch = 1;
  }
  free(t->slots);
  t->slots = slots;
  t->cap = cap;
  t->epoch = 1;
  return 1;
}

/* The slot of a key, with value -1 if it is new; NULL when memory runs out. */
static inline slot *table_slot(table *t, const char *key, size_t len) {
  if (t->used * 2 >= t->cap && !table_grow(t)) return NULL;
  uint64_t hash = hash_bytes(key, len);
  size_t at = hash & (t->cap - 1);
  while (t->slots[at].epoch == t->epoch) {
    slot *s = &t->slots[at];
    if (s->hash == hash && s->len == len && !memcmp(s->key, key, len)) return s;
    at = (at + 1) & (t->cap - 1);
  }
  t->used++;
  slot fresh = {key, (uint32_t)len, t->epoch, hash, -1};
  t->slots[at] = fresh;
  return &t->slots[at];
}

static inline int32_t table_find(const table *t, const char *key, size_t len) {
  if (!t->used) return -1;
  uint64_t hash = hash_bytes(key, len);
  size_t at = hash & (t->cap - 1);
  while (t->slots[at].epoch == t->epoch) {
    const slot *s = &t->slots[at];
    if (s->hash == hash && s->len == len && !memcmp(s->key, key, len)) return s->value;
    at = (at + 1) & (t->cap - 1);
  }
  return -1;
}

static inline void table_clear(table *t) {
  t->used = 0;
  if (++t->epoch == 0) { /* once in 2^32 functions */
    memset(t->slots, 0, t->cap * sizeof(slot));
    t->epoch = 1;
  }
}

/* Distinct strings, numbered in the order in which they first appear. */
typedef struct {
  chars text;
  longs start; /* number of strings plus one, once anything is interned */
  ints next;   /* open-addressed ids */
  uint64_t *hashes;
  size_t hashes_cap;
} interner;

static inline int interner_grow(interner *in, size_t count) {
  size_t cap = in->next.cap ? in->next.cap * 2 : 1024;
  int32_t *ids = (int32_t *)malloc(cap * sizeof(int32_t));
  uint64_t *hashes = (uint64_t *)realloc(in->hashes, cap * sizeof(uint64_t));
  if (hashes) in->hashes = hashes;
  if (!ids || !hashes) {
    free(ids);
    return 0;
  }
  for (size_t i = 0; i < cap; i++) ids[i] = -1;
  for (size_t i = 0; i < count; i++) {
    size_t at = hashes[i] & (cap - 1);
    while (ids[at] >= 0) at = (at + 1) & (cap - 1);
    ids[at] = (int32_t)i;
  }
  free(in->next.data);
  in->next.data = ids;
  in->next.cap = cap;
  return 1;
}

/* The number of a string; -1 when memory runs out. */
static inline int32_t interner_add(interner *in, const char *s, size_t n) {
  if (!in->start.len && !longs_push(&in->start, 0)) return -1;
  size_t count = in->start.len - 1;
  if (count * 2 >= in->next.cap && !interner_grow(in, count)) return -1;
  uint64_t hash = hash_bytes(s, n);
  size_t at = hash & (in->next.cap - 1);
  for (int32_t id; (id = in->next.data[at]) >= 0; at = (at + 1) & (in->next.cap - 1)) {
    size_t from = (size_t)in->start.data[id], len = (size_t)in->start.data[id + 1] - from;
    if (in->hashes[id] == hash && len == n && !memcmp(in->text.data + from, s, n)) return id;
  }
  if (!chars_reserve(&in->text, n)) return -1;
  memcpy(in->text.data + in->text.len, s, n);
  in->text.len += n;
  if (!longs_push(&in->start, (int64_t)in->text.len)) return -1;
  in->next.data[at] = (int32_t)count;
  in->hashes[count] = hash;
  return (int32_t)count;
}

static inline void interner_free(interner *in) {
  free(in->text.data);
  free(in->start.data);
  free(in->next.data);
  free(in->hashes);
}

#endif
