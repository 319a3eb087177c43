/* Owns the choice of the parts of a PTX text that are code. */
#include "compile/ptx_key.h"

#include <string.h>

struct text {
    const char *p, *end;
};

/* One line without comment and outer white space, inner white space squeezed to one space. */
static bool next_line(struct text *t, struct str *line)
{
    const char *stop, *comment;
    bool gap = false;

    str_clear(line);
    if (t->p >= t->end)
        return false;
    stop = memchr(t->p, '\n', (size_t)(t->end - t->p));
    if (!stop)
        stop = t->end;
    comment = memmem(t->p, (size_t)(stop - t->p), "//", 2);
    for (const char *p = t->p; p < (comment ? comment : stop); p++) {
        const bool blank = *p == ' ' || *p == '\t' || *p == '\r';
        if (!blank && gap && line->len)
            str_add_char(line, ' ');
        if (!blank)
            str_add_char(line, *p);
        gap = blank;
    }
    t->p = stop < t->end ? stop + 1 : t->end;
    return true;
}

static bool is_directive(const struct str *line, const char *name)
{
    const size_t n = strlen(name);

    return strncmp(str_text(line), name, n) == 0 && (line->text[n] == ' ' || line->text[n] == 0);
}

int ptx_brace_balance(const char *line, size_t len)
{
    int balance = 0;

    for (const char *p = line; p < line + len && !(p[0] == '/' && p[1] == '/'); p++)
        balance += *p == '{' ? 1 : *p == '}' ? -1 : 0;
    return balance;
}

/* After a .section line: up to and with its closing brace. */
static void skip_section(struct text *t, struct str *line)
{
    int depth = ptx_brace_balance(str_text(line), line->len);
    bool open = strchr(str_text(line), '{') != NULL;

    while ((!open || depth > 0) && next_line(t, line)) {
        open = open || strchr(str_text(line), '{') != NULL;
        depth += ptx_brace_balance(str_text(line), line->len);
    }
}

void ptx_essence(const char *ptx, size_t ptx_bytes, struct str *essence)
{
    struct text t = {.p = ptx, .end = ptx + ptx_bytes};
    struct str line = {0};

    while (next_line(&t, &line)) {
        if (line.len == 0 || is_directive(&line, ".loc") || is_directive(&line, ".file"))
            continue;
        if (is_directive(&line, ".section")) {
            skip_section(&t, &line);
            continue;
        }
        str_add_n(essence, line.text, line.len);
        str_add_char(essence, '\n');
    }
    str_finish(&line);
}
