/* Owns the joining: of PTX line by line, with line and file numbers changed on the way. */
#include "compile/join.h"

#include "base/str.h"
#include "compile/ptx_key.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One part on its way into the whole. */
struct joiner {
    const struct artifact *made;
    const struct split_part *part;
    const char *name;
    unsigned own;        /* number of the source itself among the part's files; 0: not found */
    unsigned first_file; /* number that the part's other files count from */
    unsigned *last_file; /* the largest number given so far */
    struct str *ptx, *files, *log;
};

static bool line_has(const char *line, const char *end, const char *what)
{
    return memmem(line, (size_t)(end - line), what, strlen(what)) != NULL;
}

/* The number of the file whose last component is the source's name. */
static unsigned find_own(const char *ptx, const char *name)
{
    struct str tail = {0};
    unsigned own = 0;

    str_addf(&tail, "%s\"", name);
    for (const char *p = ptx, *at; !own && *p; p = str_next_line(p)) {
        at = str_starts(p, "\t.file\t") ? strstr(p, str_text(&tail)) : NULL;
        if (at && at < str_next_line(p) && (at[-1] == '/' || at[-1] == '"'))
            own = (unsigned)strtoul(p + 7, NULL, 10);
    }
    str_finish(&tail);
    return own;
}

static unsigned file_of(const struct joiner *j, unsigned file)
{
    return file == j->own ? 1 : j->first_file + file;
}

static unsigned line_of(const struct joiner *j, unsigned file, unsigned line)
{
    return file == j->own ? split_line(j->part, line) : line;
}

static void add_loc(struct joiner *j, const char *line, const char *end)
{
    const char *inlined = memmem(line, (size_t)(end - line), "inlined_at ", 11);
    unsigned file, number, column;

    if (sscanf(line, " .loc %u %u %u", &file, &number, &column) != 3)
        return;
    str_addf(j->ptx, "\t.loc\t%u %u %u", file_of(j, file), line_of(j, file, number), column);
    if (inlined && sscanf(inlined, "inlined_at %u %u %u", &file, &number, &column) == 3)
        str_addf(
            j->ptx, ", inlined_at %u %u %u", file_of(j, file), line_of(j, file, number), column);
    str_add_char(j->ptx, '\n');
}

static void add_file(struct joiner *j, const char *line)
{
    char *rest;
    const unsigned file = file_of(j, (unsigned)strtoul(line + 7, &rest, 10));

    if (file == 1 && j->files->len > 0)
        return; /* the first part has named it */
    str_addf(j->files, "\t.file\t%u%.*s", file, (int)(str_next_line(rest) - rest), rest);
    *j->last_file = file > *j->last_file ? file : *j->last_file;
}

/* Shared memory of a size that the launch gives: each kernel that uses it declares it. */
static bool add_extern_shared(struct joiner *j, const char *line, const char *end)
{
    const char *name = memrchr(line, ' ', (size_t)(end - line));
    struct str text = {0};
    bool known, other;

    str_add_n(&text, line, (size_t)(end - line));
    known = strstr(str_text(j->ptx), str_text(&text)) != NULL;
    str_clear(&text);
    str_add_n(&text, name ? name : line, (size_t)(end - (name ? name : line)));
    other = !known && strstr(str_text(j->ptx), str_text(&text));
    if (!known)
        str_add_n(j->ptx, line, (size_t)(end - line));
    str_finish(&text);
    return !other;
}

/* A line outside of kernels. *entry: it begins one. */
static bool add_outer(struct joiner *j, const char *line, const char *end, bool first, bool *entry)
{
    static const char *const heads[] = {".version", ".target", ".address_size", NULL};
    const char *const *head = heads;

    while (*head && !str_starts(line, *head))
        head++;
    if (str_starts(line, ".extern .shared "))
        return add_extern_shared(j, line, end);
    *entry = line_has(line, end, ".entry ");
    if (!*head && !*entry && !isspace((unsigned char)*line) && !str_starts(line, "//"))
        return false;
    if (!*head || first)
        str_add_n(j->ptx, line, (size_t)(end - line));
    return true;
}

/* A kernel alone must be all that a part defines. */
static bool add_ptx(struct joiner *j, bool first)
{
    bool entry = false, body = false, section = false;
    unsigned nr_entries = 0;
    int depth = 0;

    for (const char *p = j->made->ptx, *end; *p; p = end) {
        end = str_next_line(p);
        if (str_starts(p, "\t.section")) {
            section = true;
        } else if (section) {
            section = *p != '}' && !str_starts(p, "\t}");
        } else if (str_starts(p, "\t.file\t")) {
            add_file(j, p);
        } else if (!entry) {
            if (!add_outer(j, p, end, first, &entry))
                return false;
            nr_entries += entry;
            body = false;
        } else if (str_starts(p, "\t.loc\t")) {
            add_loc(j, p, end);
        } else {
            str_add_n(j->ptx, p, (size_t)(end - p));
            depth += ptx_brace_balance(p, (size_t)(end - p));
            body |= depth > 0;
            entry = depth > 0 || !body;
        }
    }
    return !entry && nr_entries == 1;
}

/* Messages begin with name(line); what ptxas says of the module is said once. */
static void add_log(struct joiner *j)
{
    static const char module[] = "ptxas info    : 0 bytes gmem";
    const size_t len = strlen(j->name);

    for (const char *p = j->made->log, *end; *p; p = end) {
        char *rest = NULL;
        unsigned line = 0;

        end = str_next_line(p);
        if (str_starts(p, module) && strstr(str_text(j->log), module))
            continue;
        if (strncmp(p, j->name, len) == 0 && p[len] == '(')
            line = split_line(j->part, (unsigned)strtoul(p + len + 1, &rest, 10));
        if (line > 0)
            str_addf(j->log, "%s(%u%.*s", j->name, line, (int)(end - rest), rest);
        else
            str_add_n(j->log, p, (size_t)(end - p));
    }
}

bool join_artifacts(const struct artifact *made, const struct split_part *parts, unsigned nr,
    const char *name, struct arena *arena, struct artifact *joined)
{
    struct str ptx = {0}, files = {0}, log = {0}, cubins = {0};
    bool ok = true;
    unsigned last_file = 1;

    *joined = made[0];
    joined->nr_lowered = nr;
    joined->lowered = arena_array(arena, nr + 1, sizeof(*joined->lowered));
    for (unsigned i = 0; ok && i < nr; i++) {
        struct joiner j = {.made = &made[i],
            .part = &parts[i],
            .name = name,
            .own = find_own(made[i].ptx, name),
            .first_file = last_file,
            .last_file = &last_file,
            .ptx = &ptx,
            .files = &files,
            .log = &log};

        ok = j.own > 0 && made[i].nr_lowered == 1 && add_ptx(&j, i == 0);
        add_log(&j);
        str_add_n(&cubins, made[i].cubin, made[i].cubin_bytes);
        joined->lowered[i] = made[i].lowered[0];
    }
    str_add(&ptx, str_text(&files));
    joined->ptx_bytes = ptx.len;
    joined->cubin_bytes = cubins.len;
    joined->log_bytes = log.len;
    joined->ptx = str_move(&ptx, arena);
    joined->cubin = memcpy(arena_alloc(arena, cubins.len + 1), str_text(&cubins), cubins.len);
    joined->log = str_move(&log, arena);
    str_finish(&files);
    str_finish(&cubins);
    return ok;
}
