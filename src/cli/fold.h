/* Sentences in lines of a width. */
#ifndef KEET_CLI_FOLD_H
#define KEET_CLI_FOLD_H

#include "base/str.h"

/* Appends the words of text and a newline. The first line goes on where the caller is, at column
 * indent; later lines begin there. */
void fold_text(struct str *out, const char *text, unsigned indent, unsigned width);

#endif
