/* JSON documents as the text that programs read. */
#ifndef KEET_REPORT_JSON_TEXT_H
#define KEET_REPORT_JSON_TEXT_H

#include "base/str.h"

#include <jansson.h>

/* Values that may be missing: null for NULL, for what is not UTF-8, and for what is not finite. */
json_t *json_text_or_null(const char *text);
json_t *json_real_or_null(double value);

/* The lines of a text as an array; NULL: an empty one. */
json_t *json_lines(const char *text);

/* The document and a newline, `null` when it could not be made. flags: json_dumps's. The document
 * is given away. */
void json_add(struct str *out, json_t *root, size_t flags);

#endif
