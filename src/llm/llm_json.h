/* JSON that others wrote: any bytes in, at most JSON_MAX_DEPTH deep, valid UTF-8 out. */
#ifndef KEET_LLM_LLM_JSON_H
#define KEET_LLM_LLM_JSON_H

#include "base/arena.h"
#include "base/str.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_MAX_DEPTH = 64 };

/* Append the bytes, with U+FFFD in the place of NUL and of all that is not UTF-8. */
void utf8_add(struct str *out, const char *bytes, size_t len);
char *utf8_repair(struct arena *arena, const char *bytes, size_t len);

/* The JSON object in the bytes; the caller drops it with json_decref. Bytes that are not UTF-8,
 * lone surrogates and escaped NULs become U+FFFD. NULL, with *why, when the bytes are no JSON
 * object, or one that is nested deeper than JSON_MAX_DEPTH. */
json_t *json_from_bytes(const char *bytes, size_t len, const char **why);

/* A member's string, borrowed, or ""; a member's number, or 0. */
const char *json_text(const json_t *object, const char *member);
uint64_t json_uint(const json_t *object, const char *member);

json_t *json_from_text(const char *text); /* a JSON string, repaired as by utf8_add; NULL: "" */

#endif
