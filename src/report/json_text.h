/* JSON documents as the text that programs read. */
#ifndef KEET_REPORT_JSON_TEXT_H
#define KEET_REPORT_JSON_TEXT_H

#include "base/str.h"

#include <jansson.h>

/* Values that may be missing: null for NULL, for a text that is not UTF-8, and for a number that is
 * not finite. */
json_t *json_text_or_null(const char *text);
json_t *json_real_or_null(double value);

/* A text of any bytes: U+FFFD stands for each byte that is not of UTF-8. NULL is null. */
json_t *json_any_text(const char *text);

/* The lines of a text as an array; NULL gives an empty array. */
json_t *json_lines(const char *text);

/* Adds the document and a newline; adds `null` when json_dumps fails. flags: those of json_dumps.
 * json_add releases the document. */
void json_add(struct str *out, json_t *root, size_t flags);

#endif
