/* Text that others wrote, made safe for HTML and for JSON inside HTML. Bytes that are not UTF-8,
 * and control characters other than tab and newline, become U+FFFD. */
#ifndef KEET_REPORT_ESCAPE_H
#define KEET_REPORT_ESCAPE_H

#include "base/str.h"

/* For element content and for attributes in quotes: & < > " ' escaped. NULL adds nothing. */
void escape_html(struct str *out, const char *text);
void escape_html_n(struct str *out, const char *text, size_t len);

/* A JSON string with its quotes. Every < > & is a \u escape, so that the document may stand in a
 * <script> element: neither </script> nor <!-- can occur. So is all that is not ASCII: browsers
 * keep a page of 15 MB in half the memory then, and open it sooner. NULL is null. */
void escape_json(struct str *out, const char *text);
void escape_json_n(struct str *out, const char *text, size_t len);

/* A number of six digits; null where it is not finite. */
void escape_number(struct str *out, double value);

/* 64 hex digits to base64, as a Content-Security-Policy wants them. */
void escape_base64(struct str *out, const char *hex);

#endif
