/* Owns the reading of a source as far as its top level: where kernels begin and end. */
#include "compile/split.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 512 };

/* A kernel, with the comments before it. */
struct item {
    const char *start, *end;
    const char *name;
    size_t name_len;
};

struct splitter {
    const char *source, *p;
    struct item items[MAX_ITEMS];
    unsigned nr;
    bool plain; /* false: the text is not understood */
    /* what is read now: a kernel, a function, a type, a variable */
    const char *start;
    const char *first; /* its first word, linkage aside; NULL: none yet */
    const char *word;  /* the last one */
    const char *name;  /* of a kernel */
    size_t first_len, word_len, name_len;
    unsigned braces, parens, conditions, conditions_at_start;
    bool kernel, called, indexed, assigned; /* saw __global__; `name (`, `[` or `=` before `{` */
};

/* Texts for which a line number, a place in memory or another kernel may matter, and those whose
 * headers take the compiler longer than the kernels. */
static bool is_entangled(const char *source)
{
    static const char *const words[] = {"cute/", "cutlass/", "cub/", "thrust/", "cuda/std",
        "printf", "assert", "__LINE__", "R\"", "<<<", "\?\?", NULL};

    for (const char *const *w = words; *w; w++)
        if (strstr(source, *w))
            return true;
    return false;
}

static bool is(const char *word, size_t len, const char *what)
{
    return strlen(what) == len && memcmp(word, what, len) == 0;
}

static bool is_among(const char *word, size_t len, const char *const *words)
{
    for (; *words; words++)
        if (is(word, len, *words))
            return true;
    return false;
}

static bool first_is(const struct splitter *s, const char *what)
{
    return s->first && is(s->first, s->first_len, what);
}

static void start_item(struct splitter *s)
{
    s->start = s->p;
    s->first = s->word = s->name = NULL;
    s->parens = 0;
    s->conditions_at_start = s->conditions;
    s->kernel = s->called = s->indexed = s->assigned = false;
}

/* A variable that kernels may share is no function, type or number. */
static bool is_harmless(const struct splitter *s)
{
    static const char *const types[] = {"struct", "class", "union", "enum", "using", "typedef",
        "template", "namespace", "constexpr", "const", "extern", NULL};

    if (!s->first || s->called)
        return true;
    return is_among(s->first, s->first_len, types) && (!s->indexed || first_is(s, "extern"));
}

static void end_item(struct splitter *s)
{
    s->plain = s->plain && s->nr < MAX_ITEMS && is_harmless(s) && (!s->kernel || s->name) &&
               (!s->kernel || s->conditions == s->conditions_at_start);
    if (!s->plain)
        return;
    if (s->kernel)
        s->items[s->nr++] = (struct item){s->start, s->p, s->name, s->name_len};
    start_item(s);
}

/* A directive, with its continued lines. Directives between kernels belong to no item. */
static void read_directive(struct splitter *s)
{
    const char *at = s->p + 1 + strspn(s->p + 1, " \t"), *end = strchr(s->p, '\n');

    while (end && end[-1] == '\\')
        end = strchr(end + 1, '\n');
    if (!end)
        end = s->p + strlen(s->p);
    /* what a kernel defines for those after it */
    s->plain = s->plain && !(s->first && (str_starts(at, "define") || str_starts(at, "undef") ||
                                             str_starts(at, "include")));
    if (str_starts(at, "if"))
        s->conditions++;
    else if (str_starts(at, "endif"))
        s->plain = s->plain && s->conditions-- > 0;
    s->plain = s->plain && !memmem(s->p, (size_t)(end - s->p), "__global__", 10);
    s->p = end;
    if (!s->first)
        start_item(s);
}

/* A string or a character; its quote is the next character. */
static void skip_quoted(struct splitter *s)
{
    const char quote = *s->p++;

    while (*s->p && *s->p != quote && *s->p != '\n')
        s->p += s->p[0] == '\\' && s->p[1] ? 2 : 1;
    s->plain = s->plain && *s->p == quote;
    s->p += *s->p == quote;
}

static void skip_comment(struct splitter *s)
{
    const char *end = s->p[1] == '/' ? strchr(s->p, '\n') : strstr(s->p + 2, "*/");

    /* a comment that goes on after a backslash */
    s->plain = s->plain && (s->p[1] == '*' ? end != NULL : !end || end[-1] != '\\');
    s->p = !end ? s->p + strlen(s->p) : end + (s->p[1] == '*' ? 2 : 0);
}

static void read_word(struct splitter *s)
{
    static const char *const linkages[] = {"static", "inline", NULL};

    s->word = s->p;
    while (str_word_char(*s->p))
        s->p++;
    s->word_len = (size_t)(s->p - s->word);
    if (!s->first && !is_among(s->word, s->word_len, linkages)) {
        s->first = s->word;
        s->first_len = s->word_len;
    }
    if (is(s->word, s->word_len, "__global__")) {
        s->kernel = true;
        s->plain = s->plain && s->braces == 0;
    }
}

/* `(`: the first one after a name that is no attribute begins the parameters. */
static void open_paren(struct splitter *s)
{
    static const char *const attributes[] = {"__launch_bounds__", "__attribute__",
        "__cluster_dims__", "__block_size__", "__maxnreg__", "alignas", "__align__", "decltype",
        NULL};

    if (s->braces == 0 && s->parens++ == 0 && s->word && !s->called && !s->assigned &&
        !is_among(s->word, s->word_len, attributes)) {
        s->called = true;
        if (s->kernel) {
            s->name = s->word;
            s->name_len = s->word_len;
        }
    }
}

static void read_sign(struct splitter *s)
{
    const char c = *s->p++;

    if (c == '(')
        open_paren(s);
    else if (c == ')' && s->braces == 0)
        s->plain = s->plain && s->parens-- > 0;
    else if (c == '{')
        s->braces++;
    else if (c == '}')
        s->plain = s->plain && s->braces-- > 0;
    else if (s->braces == 0 && s->parens == 0 && !s->called) {
        s->indexed |= c == '[';
        s->assigned |= c == '=' && !first_is(s, "template");
    }
    if (s->braces == 0 && s->parens == 0 &&
        (c == ';' || (c == '}' && (s->called || first_is(s, "namespace")))))
        end_item(s);
}

static void read_top_level(struct splitter *s)
{
    bool line_start = true;

    start_item(s);
    while (s->plain && *s->p) {
        const char c = *s->p;

        if (c == '\n' || isspace((unsigned char)c)) {
            line_start |= c == '\n';
            s->p++;
            continue;
        }
        if (c == '#' && line_start)
            read_directive(s);
        else if (c == '/' && (s->p[1] == '/' || s->p[1] == '*'))
            skip_comment(s);
        else if (c == '"' || (c == '\'' && !(s->p > s->source && isdigit((unsigned char)s->p[-1]))))
            skip_quoted(s);
        else if (str_word_char(c))
            read_word(s);
        else
            read_sign(s);
        line_start = false;
    }
    s->plain = s->plain && !s->first && s->braces == 0 && s->conditions == 0;
}

/* "name<32>" names the kernel `name`. */
static bool is_item_of(const struct item *item, const char *kernel)
{
    const size_t len = strcspn(kernel, "< ");

    return item->name_len == len && memcmp(item->name, kernel, len) == 0;
}

static bool has_only(const struct splitter *s, const char *const *kernels, unsigned nr_kernels)
{
    for (unsigned i = 0; i < s->nr; i++) {
        unsigned k = 0;

        while (k < nr_kernels && !is_item_of(&s->items[i], kernels[k]))
            k++;
        if (k == nr_kernels)
            return false;
    }
    for (unsigned k = 0; k < nr_kernels; k++) {
        unsigned i = 0;

        while (i < s->nr && !is_item_of(&s->items[i], kernels[k]))
            i++;
        if (i == s->nr)
            return false;
    }
    return true;
}

/* From "extern __shared__" on, up to the semicolon; NULL: there is none after `at`. */
static const char *next_shared(const char *at, size_t *len, const char **name, size_t *name_len)
{
    static const char words[] = "extern __shared__";
    const char *end;

    at = strstr(at, words);
    if (!at)
        return NULL;
    *len = strcspn(at, ";");
    end = memchr(at, '[', *len);
    end = end ? end : at + *len;
    while (end > at && !str_word_char(end[-1]))
        end--;
    *name = end;
    while (*name > at && str_word_char((*name)[-1]))
        (*name)--;
    *name_len = (size_t)(end - *name);
    return at;
}

/* C++ wants one type of all declarations of a name, wherever they stand. */
static bool shared_differs(const char *source)
{
    const char *a, *b, *name_a, *name_b;
    size_t len_a, len_b, nr_a, nr_b;

    for (a = source; (a = next_shared(a, &len_a, &name_a, &nr_a)); a++)
        for (b = a + 1; (b = next_shared(b, &len_b, &name_b, &nr_b)); b++)
            if (nr_a == nr_b && memcmp(name_a, name_b, nr_a) == 0 &&
                (len_a != len_b || memcmp(a, b, len_a) != 0))
                return true;
    return false;
}

static bool is_blank(const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line))
        line++;
    return line == end;
}

/* Leaves blank lines out, but for those that end a directive. */
static void squeeze(const char *text, struct arena *arena, struct split_part *part)
{
    unsigned nr = 0, line = 0;
    struct str out = {0};

    for (const char *p = text; *p; p = str_next_line(p))
        nr++;
    part->lines = arena_array(arena, nr + 1, sizeof(*part->lines));
    for (const char *p = text, *end; *p; p = end) {
        end = str_next_line(p);
        line++;
        if (is_blank(p, end) && !(out.len > 1 && out.text[out.len - 2] == '\\'))
            continue;
        str_add_n(&out, p, (size_t)(end - p));
        part->lines[part->nr_lines++] = line;
    }
    part->source = str_move(&out, arena);
}

bool split_kernels(const char *source, const char *const *kernels, unsigned nr_kernels,
    struct arena *arena, struct split_part *parts)
{
    struct splitter *s;
    bool plain;

    if (nr_kernels < 2 || is_entangled(source) || shared_differs(source))
        return false;
    s = xcalloc(1, sizeof(*s));
    s->source = s->p = source;
    s->plain = true;
    read_top_level(s);
    plain = s->plain && has_only(s, kernels, nr_kernels);
    for (unsigned k = 0; plain && k < nr_kernels; k++) {
        char *text = xstrdup(source);

        for (unsigned i = 0; i < s->nr; i++) {
            const struct item *item = &s->items[i];

            if (is_item_of(item, kernels[k]))
                continue;
            for (const char *p = item->start; p < item->end; p++)
                if (*p != '\n')
                    text[p - source] = ' ';
        }
        parts[k] = (struct split_part){0};
        squeeze(text, arena, &parts[k]);
        free(text);
    }
    free(s);
    return plain;
}

unsigned split_line(const struct split_part *part, unsigned line)
{
    return line > 0 && line <= part->nr_lines ? part->lines[line - 1] : 0;
}
