/* Owns what a number literal stands for. */
#include "intake/syntax/literal.h"

#include <stdlib.h>
#include <string.h>

bool literal_read(struct number_literal *literal, const char *text)
{
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    char digits[64], *end;
    size_t nr = 0;

    for (const char *p = text; *p && nr + 1 < sizeof(digits); p++)
        if (*p != '\'')
            digits[nr++] = *p;
    digits[nr] = 0;
    *literal = (struct number_literal){
        .is_hex = hex, .is_real = strpbrk(digits, hex ? ".pP" : ".eEfF") != NULL};
    if (literal->is_real) {
        literal->real = strtod(digits, &end);
    } else {
        literal->integer = binary ? strtoull(digits + 2, &end, 2) : strtoull(digits, &end, 0);
        literal->real = (double)literal->integer;
    }
    literal->is_float = strpbrk(end, "fF") != NULL;
    literal->is_unsigned = strpbrk(end, "uU") != NULL;
    literal->is_long = strpbrk(end, "lL") != NULL;
    return end > digits && strspn(end, "fFlLuU") == strlen(end);
}

const char *literal_type(const struct number_literal *literal)
{
    const uint64_t n = literal->integer;

    if (literal->is_real)
        return literal->is_float ? "float" : "double";
    if (literal->is_long || n > (literal->is_hex ? UINT32_MAX : INT32_MAX))
        return literal->is_unsigned ? "unsigned long long" : "long long";
    return literal->is_unsigned || n > INT32_MAX ? "unsigned int" : "int";
}
