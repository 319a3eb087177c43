/* Owns the folding of sentences. */
#include "cli/fold.h"

#include <string.h>

void fold_text(struct str *out, const char *text, unsigned indent, unsigned width)
{
    unsigned column = indent;

    while (*text) {
        const size_t word = strcspn(text, " ");

        if (column > indent && column + 1 + word > width) {
            str_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent) {
            str_add_char(out, ' ');
            column++;
        }
        str_add_n(out, text, word);
        column += (unsigned)word;
        text += word;
        text += strspn(text, " ");
    }
    str_add_char(out, '\n');
}
