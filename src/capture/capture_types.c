/* Owns what a mangled name says of a kernel: its name with template arguments, and the types of its
 * parameters. */
#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

/* Of the C++ runtime library (Itanium C++ ABI, <cxxabi.h>). */
char *demangle(const char *mangled, char *buffer, size_t *bytes, int *status) __asm__(
    "__cxa_demangle");

/* The end of what goes to the next comma or closing parenthesis outside of brackets. */
static const char *type_end(const char *at)
{
    unsigned depth = 0;

    for (; *at != '\0'; at++) {
        if (depth == 0 && (*at == ',' || *at == ')'))
            return at;
        depth += *at == '(' || *at == '<' || *at == '[';
        depth -= (*at == ')' || *at == '>' || *at == ']') && depth > 0;
    }
    return at;
}

/* The parameters' opening parenthesis: the first one outside of template arguments, and not that of
 * "(anonymous namespace)". */
static const char *params_of(const char *text)
{
    static const char anonymous[] = "(anonymous namespace)";
    unsigned depth = 0;

    for (const char *at = text; *at != '\0'; at++) {
        if (str_starts(at, anonymous)) {
            at += sizeof(anonymous) - 2;
            continue;
        }
        depth += *at == '<';
        depth -= *at == '>' && depth > 0;
        if (*at == '(' && depth == 0)
            return at;
    }
    return NULL;
}

/* Templates have their return type in front: "void scale<float>". */
static const char *without_return_type(const char *text, const char *end)
{
    unsigned depth = 0;
    const char *from = text;

    for (const char *at = text; at < end; at++) {
        depth += *at == '<' || *at == '(';
        depth -= (*at == '>' || *at == ')') && depth > 0;
        if (*at == ' ' && depth == 0)
            from = at + 1;
    }
    return from;
}

const char *capture_name(struct arena *arena, const char *symbol, const char **types, unsigned nr)
{
    int status = 0;
    char *text = demangle(symbol, NULL, NULL, &status);
    const char *params = text != NULL ? params_of(text) : NULL, *name, *at;

    for (unsigned i = 0; i < nr; i++)
        types[i] = NULL;
    if (params == NULL) {
        free(text);
        return arena_strdup(arena, symbol); /* extern "C" */
    }
    name = without_return_type(text, params);
    at = params + 1;
    for (unsigned i = 0; i < nr && *at != ')' && *at != '\0'; i++) {
        const char *end = type_end(at);

        types[i] = arena_strndup(arena, at, (size_t)(end - at));
        at = *end == ',' ? end + 1 : end;
        at += *at == ' ';
    }
    name = arena_strndup(arena, name, (size_t)(params - name));
    free(text);
    return name;
}

bool capture_is_const(const char *type)
{
    return type != NULL && strstr(type, "const") != NULL;
}

bool capture_elem(const char *type, enum elem *elem)
{
    static const struct {
        const char *name;
        enum elem elem;
    } known[] = {
        {"unsigned long long", ELEM_U64},
        {"unsigned long", ELEM_U64},
        {"unsigned int", ELEM_U32},
        {"unsigned short", ELEM_U16},
        {"unsigned char", ELEM_U8},
        {"signed char", ELEM_I8},
        {"long long", ELEM_I64},
        {"long", ELEM_I64},
        {"int", ELEM_I32},
        {"short", ELEM_I16},
        {"char", ELEM_I8},
        {"float", ELEM_F32},
        {"double", ELEM_F64},
        {"bool", ELEM_BOOL},
        {"__half", ELEM_F16},
        {"__nv_bfloat16", ELEM_BF16},
        {"uint", ELEM_U32},
        {"uchar", ELEM_U8},
        {"ushort", ELEM_U16},
    };

    for (size_t i = 0; type != NULL && i < sizeof(known) / sizeof(*known); i++) {
        const size_t len = strlen(known[i].name);
        const char *rest = type + len;

        if (!str_starts(type, known[i].name))
            continue;
        rest += *rest >= '1' && *rest <= '4'; /* float4, int2: as many numbers side by side */
        if (*rest == '\0' || *rest == ' ' || *rest == '*' || *rest == '&') {
            *elem = known[i].elem;
            return true;
        }
    }
    return false;
}
