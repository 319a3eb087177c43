/* Owns the guess at the line that writes an array. */
#include "check/check_line.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Comments become blanks, lines stay. */
static void blank_comments(char *s)
{
    while (*s) {
        if (s[0] == '/' && s[1] == '/') {
            for (; *s && *s != '\n'; s++)
                *s = ' ';
        } else if (s[0] == '/' && s[1] == '*') {
            s[0] = s[1] = ' ';
            for (; *s && !(s[0] == '*' && s[1] == '/'); s++)
                *s = *s == '\n' ? '\n' : ' ';
            if (*s)
                s[0] = s[1] = ' ';
        } else {
            s++;
        }
    }
}

static const char *find_word(const char *from, const char *to, const char *word)
{
    return str_find_word(from, to, word, strlen(word));
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* The matching close of the bracket at p, or NULL. */
static const char *match(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        depth += *p == '(' || *p == '[' || *p == '{';
        depth -= *p == ')' || *p == ']' || *p == '}';
        if (depth == 0)
            return p;
    }
    return NULL;
}

/* The parenthesis that opens the parameters of the definition of a kernel. */
static const char *find_definition(const char *code, const char *name)
{
    const char *end = code + strlen(code), *at = code;

    while ((at = find_word(at, end, "__global__")) != NULL) {
        const char *brace = strpbrk(at, "{;"), *here;

        if (!brace)
            return NULL;
        here = find_word(at, brace, name);
        if (*brace == '{' && here && *skip_space(here + strlen(name)) == '(')
            return skip_space(here + strlen(name));
        at = brace;
    }
    return NULL;
}

/* The name of parameter number `which`: the last word before its comma. */
static bool parameter_name(const char *open, unsigned which, char *name, size_t room)
{
    const char *close = match(open), *from = open + 1, *p;
    size_t len;

    for (p = from; close && p < close; p++) {
        if (*p == ',' && which-- == 0)
            break;
        if (*p == ',')
            from = p + 1;
    }
    if (!close || (p == close && which > 0))
        return false;
    while (p > from && !str_word_char(p[-1]))
        p--;
    for (len = 0; p - len > from && str_word_char(p[-(ptrdiff_t)len - 1]);)
        len++;
    if (len == 0 || len >= room)
        return false;
    memcpy(name, p - len, len);
    name[len] = 0;
    return true;
}

/* Does a store go through the word at `at`? name[...] = or +=, *name =, &name[...] in an atomic. */
static bool is_store(const char *at, const char *begin, size_t len)
{
    const char *p = skip_space(at + len);

    while (*p == ')' && begin < at) /* ((float *)x)[i] */
        p = skip_space(p + 1);
    if (*p == '[') {
        if (at > begin && at[-1] == '&')
            return true;
        p = match(p);
        if (!p)
            return false;
        p = skip_space(p + 1);
        if (*p == '.')
            for (p++; str_word_char(*p); p++)
                ;
        p = skip_space(p);
        if (*p && strchr("+-*/|&^", *p) && p[1] == '=')
            return true;
        return *p == '=' && p[1] != '=';
    }
    return at > begin && at[-1] == '*' && *p == '=' && p[1] != '=';
}

static unsigned line_of(const char *code, const char *at)
{
    unsigned line = 1;

    for (; code < at; code++)
        line += *code == '\n';
    return line;
}

static unsigned find_store(const char *code, const char *open, const char *name)
{
    const char *close = match(open), *brace = close ? strchr(close, '{') : NULL;
    const char *end = brace ? match(brace) : NULL, *at = brace;

    if (!end)
        return 0;
    while ((at = find_word(at, end, name)) != NULL) {
        if (is_store(at, brace, strlen(name)))
            return line_of(code, at);
        at += strlen(name);
    }
    return 0;
}

static unsigned kernel_line(const char *code, const char *kernel, unsigned which)
{
    char name[128], parameter[128];
    const char *open, *colon = strrchr(kernel, ':');
    size_t len;
    unsigned line;

    if (colon)
        kernel = colon + 1;
    len = strcspn(kernel, "< ");
    if (len == 0 || len >= sizeof(name))
        return 0;
    memcpy(name, kernel, len);
    name[len] = 0;
    open = find_definition(code, name);
    if (!open)
        return 0;
    if (parameter_name(open, which, parameter, sizeof(parameter))) {
        line = find_store(code, open, parameter);
        if (line)
            return line;
    }
    return line_of(code, open);
}

/* The argument is the array, or a struct with a pointer to it. */
static bool is_passed(const struct launch_arg *arg, const char *array)
{
    bool found = arg->kind == ARG_ARRAY && strcmp(arg->name, array) == 0;

    for (unsigned f = 0; f < arg->nr_fields && !found; f++)
        found = is_passed(&arg->fields[f], array);
    return found;
}

unsigned check_write_line(const struct candidate *c, const char *array)
{
    char *code = task_code(c->source, c->source_bytes);
    bool own = c->plan.launches != c->task->plan.launches ||
               (c->source_bytes == c->task->source_bytes &&
                   memcmp(c->source, c->task->source, c->source_bytes) == 0);
    unsigned line = 0;

    blank_comments(code);
    for (unsigned i = c->plan.nr_launches; line == 0 && i-- > 0;) {
        const struct launch *launch = &c->plan.launches[i];

        for (unsigned a = 0; line == 0 && a < launch->nr_args; a++) {
            if (!is_passed(&launch->args[a], array))
                continue;
            line = kernel_line(code, launch->kernel, a);
            if (line == 0 && own)
                line = launch->line;
        }
    }
    free(code);
    return line;
}
