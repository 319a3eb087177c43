/* Owns which strings of a Python file have CUDA. */
#include "intake/gather/source_set.h"

#include "base/str.h"

#include <string.h>

struct literal {
    size_t from, to; /* the bytes between the quotes */
    bool raw, formatted;
};

bool python_is(const char *path)
{
    return str_ends(path, ".py");
}

/* Reads the string whose quote stands at *i, and moves *i behind it. False: the string is not
 * closed. */
static bool read_literal(const char *text, size_t bytes, size_t *i, struct literal *s)
{
    const char quote = text[*i];
    const size_t nr = *i + 2 < bytes && text[*i + 1] == quote && text[*i + 2] == quote ? 3 : 1;
    size_t at = *i, end = *i + nr;

    *s = (struct literal){.from = end};
    while (at > 0 && strchr("rRbBuUfF", text[at - 1])) {
        at--;
        s->raw = s->raw || text[at] == 'r' || text[at] == 'R';
        s->formatted = s->formatted || text[at] == 'f' || text[at] == 'F';
    }
    for (; end < bytes; end++) {
        if (text[end] == '\\')
            end++;
        else if (nr == 1 && text[end] == '\n')
            break;
        else if (text[end] == quote &&
                 (nr == 1 || (end + 2 < bytes && text[end + 1] == quote && text[end + 2] == quote)))
            break;
    }
    s->to = end < bytes ? end : bytes;
    *i = s->to + nr;
    return s->to < bytes && text[s->to] == quote;
}

/* Finds the next string at or after *i. */
static bool next_literal(const char *text, size_t bytes, size_t *i, struct literal *s)
{
    for (; *i < bytes; ++*i) {
        if (text[*i] == '#')
            while (*i < bytes && text[*i] != '\n')
                ++*i;
        else if ((text[*i] == '"' || text[*i] == '\'') && read_literal(text, bytes, i, s))
            return true;
    }
    return false;
}

static bool has(const char *text, const struct literal *s, const char *word)
{
    return memmem(text + s->from, s->to - s->from, word, strlen(word)) != NULL;
}

char *python_cuda(struct arena *arena, const char *text, size_t bytes)
{
    char *out = arena_alloc(arena, bytes + 1);
    struct literal s;
    bool any = false;

    for (size_t i = 0; i < bytes; i++)
        out[i] = text[i] == '\n' ? '\n' : ' ';
    for (size_t i = 0; next_literal(text, bytes, &i, &s);) {
        const bool kernel = has(text, &s, "__global__");

        if (s.formatted || (!kernel && !has(text, &s, "#include") && !has(text, &s, "<<<") &&
                               !has(text, &s, "torch::")))
            continue;
        any = any || kernel;
        memcpy(out + s.from, text + s.from, s.to - s.from);
        for (size_t k = s.from; !s.raw && k + 1 < s.to; k++)
            if (out[k] == '\\') {
                out[k] = ' ';
                k += out[k + 1] == '\\';
            }
    }
    return any ? out : NULL;
}

const char *python_quoted(struct arena *arena, const char *file, size_t at, const char *text)
{
    struct literal s = {0};
    struct str out = {0};

    for (size_t i = 0; next_literal(file, strlen(file), &i, &s) && s.to < at;)
        ;
    if (s.raw || at < s.from || !strchr(text, '\\'))
        return text;
    for (const char *p = text; *p; p++) {
        if (*p == '\\')
            str_add_char(&out, '\\');
        str_add_char(&out, *p);
    }
    return str_move(&out, arena);
}
