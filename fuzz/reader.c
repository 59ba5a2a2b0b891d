/* libFuzzer's way into the reader of IR: any bytes are read, and what comes out must fit together.

   The last byte chooses the options, so that every module is an input as it stands. See fuzz/coverage.py. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../ncc/ir/native/reader.h"

enum { NUM_FIELDS = 25 };

void ncc_key(uint64_t first, uint64_t second);
reader *ncc_open(const char *text, int64_t len, uint32_t flags, int32_t max_fields, const char *known_callees);
int32_t ncc_read(reader *r, int64_t bytes);
void ncc_view(const reader *r, const void **data, int64_t *len);
const char *ncc_refusal(const reader *r, int64_t *error_at);
void ncc_free(reader *r);

static void require(int holds) {
  if (!holds) abort();
}

static void require_range(const int32_t *values, size_t n, int64_t least, int64_t end) {
  for (size_t i = 0; i < n; i++) require(values[i] >= least && values[i] < end);
}

static void require_sense(const reader *r) {
  int64_t statements = (int64_t)r->opcode.len, nodes = (int64_t)r->node_kind.len, len = r->end - r->text;
  require((int64_t)r->stmt_text.len == statements && (int64_t)r->stmt_block.len == statements);
  require((int64_t)r->stmt_result.len == statements && (int64_t)r->stmt_at.len == statements);
  require((int64_t)r->node_name.len == nodes && (int64_t)r->node_def.len == nodes);
  require_range(r->stmt_text.data, r->stmt_text.len, 0, (int64_t)r->texts.start.len - 1);
  require_range(r->stmt_block.data, r->stmt_block.len, -1, (int64_t)r->block_node.len);
  require_range(r->stmt_result.data, r->stmt_result.len, -1, nodes);
  require_range(r->stmt_callee.data, r->stmt_callee.len, -1, nodes);
  require_range(r->operand.data, r->operand.len, -1, nodes);
  require_range(r->operand_start.data, r->operand_start.len, 0, (int64_t)r->operand.len + 1);
  require_range(r->node_def.data, r->node_def.len, -1, statements);
  require_range(r->fn_node.data, r->fn_node.len, 0, nodes);
  require_range(r->fn_first_stmt.data, r->fn_first_stmt.len, 0, statements);
  require_range(r->block_node.data, r->block_node.len, 0, nodes);
  for (int64_t i = 0; i < nodes; i++) /* a name of length 0 is a number */
    require(!r->node_name_len.data[i] || (int64_t)r->node_name.data[i] + r->node_name_len.data[i] <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const void *fields[NUM_FIELDS];
  int64_t lengths[NUM_FIELDS], at;
  int32_t status;
  uint8_t options = size ? data[size - 1] : 0;
  char *text = malloc(size + 1); /* of its own, so that a byte too far is seen */
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  ncc_key(1, 2);
  reader *r = ncc_open(text, (int64_t)size, options & 7, options & 8 ? 4 : -1, "get_global_id\nsqrt");
  require(r != NULL);
  do status = ncc_read(r, options & 16 ? 50 : 1 << 22);
  while (!status);
  ncc_view(r, fields, lengths);
  if (status == 1) require_sense(r);
  else require(ncc_refusal(r, &at) && at >= 0 && at <= (int64_t)size);
  ncc_free(r);
  free(text);
  return 0;
}
