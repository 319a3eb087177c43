/* Makes text that others wrote safe for HTML, and for JSON inside HTML. Bytes that are not UTF-8,
 * and control characters other than tab and newline, become U+FFFD. */
#ifndef KEET_REPORT_ESCAPE_H
#define KEET_REPORT_ESCAPE_H

#include "base/str.h"

/* Adds the content of an element or of an attribute in quotes: & < > " ' are escaped. NULL adds
 * nothing. */
void escape_html(struct str *out, const char *text);
void escape_html_n(struct str *out, const char *text, size_t len);

/* Adds a JSON string with its quotes. Every < > & becomes a \u escape, so that the document may
 * stand in a <script> element: neither </script> nor <!-- can occur. Every character outside ASCII
 * becomes a \u escape, too: a browser then keeps a page of 15 MB in half the memory, and opens the
 * page sooner. NULL becomes null. */
void escape_json(struct str *out, const char *text);
void escape_json_n(struct str *out, const char *text, size_t len);

/* Adds a number with six digits; adds null when the number is not finite. */
void escape_number(struct str *out, double value);

/* Adds the bytes of 64 hex digits in base64, the form of a hash in a Content-Security-Policy. */
void escape_base64(struct str *out, const char *hex);

#endif
