/* Folds sentences into lines of a width. */
#ifndef KEET_CLI_FOLD_H
#define KEET_CLI_FOLD_H

#include "base/str.h"

/* Appends the words of text and a newline. The first line goes on at column `indent`, where the
 * caller's line ends; later lines begin at column `indent`. */
void fold_text(struct str *out, const char *text, unsigned indent, unsigned width);

#endif
