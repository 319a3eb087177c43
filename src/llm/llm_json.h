/* JSON from strangers: any bytes in, capped in size and depth, valid UTF-8 out. */
#ifndef KEET_LLM_LLM_JSON_H
#define KEET_LLM_LLM_JSON_H

#include "base/arena.h"
#include "base/str.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 64 };

/* Append the bytes with everything that is not UTF-8, and NUL, replaced by U+FFFD. */
void utf8_add(struct str *out, const char *bytes, size_t len);
char *utf8_repair(struct arena *arena, const char *bytes, size_t len);

/* NULL, with *why, when it is no JSON object, or nested deeper than JSON_MAX_DEPTH. Bytes that are
 * not UTF-8, lone surrogates and escaped NULs become U+FFFD. The caller drops it with json_decref.
 */
json_t *json_from_bytes(const char *bytes, size_t len, const char **why);

/* A member's string, or "" when there is none; borrowed. json_uint: 0 likewise. */
const char *json_text(const json_t *object, const char *member);
uint64_t json_uint(const json_t *object, const char *member);

json_t *json_from_text(const char *text); /* a string, repaired as by utf8_add; NULL is "" */

#endif
