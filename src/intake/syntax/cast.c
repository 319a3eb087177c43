/* Owns which tokens are a cast. */
#include "intake/syntax/cast.h"

#include "base/str.h"
#include "intake/syntax/spelling.h"

bool cast_is_type(const struct toks *toks, unsigned from, unsigned to)
{
    static const char *const words[] = {
        "*", "::", "std", "const", "unsigned", "signed", "long", "void", "struct", NULL};

    for (unsigned i = from; i < to; i++)
        if (!str_among(toks->tok[i].text, words) && spelling_bytes(toks->tok[i].text) == 0)
            return false;
    return from < to;
}

bool cast_is_named(const struct tok *t)
{
    return tok_is(t, "static_cast") || tok_is(t, "reinterpret_cast") || tok_is(t, "const_cast");
}
