/* Owns the formats of NVRTC's and ptxas's messages. They look like this:
 *
 *     softmax.cu(12): error: identifier "x" is undefined
 *     __nv_name_map(2): error: ... Input name expression was: " row_sum<float>"
 *               detected during instantiation of "T g(T) [with T=float]" at line 4
 *     ptxas error   : Entry function 'k' uses too much shared data (0x80000 bytes, 0x38c00 max)
 *     ptxas info    : Compiling entry function 'k' for 'sm_90a'
 *     ptxas info    : Function properties for k
 *     ptxas         .     8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
 *     ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem, 400 bytes cmem[0]
 */
#include "compile/log_read.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The shared memory of a launch that does not opt in to more (CUDA C++ Programming Guide, 16.7). */
enum { STATIC_SMEM_BYTES = 48 << 10 };

static const char *line_end(const char *p)
{
    const char *newline = strchr(p, '\n');

    return newline ? newline : p + strlen(p);
}

static const char *find_in(const char *p, const char *end, const char *what)
{
    return memmem(p, (size_t)(end - p), what, strlen(what));
}

/* The number whose last digit is right before `at`; 0 when there is none. */
static unsigned number_up_to(const char *p, const char *at)
{
    const char *digits = at;

    while (digits > p && isdigit((unsigned char)digits[-1]))
        digits--;
    return digits < at ? (unsigned)strtoul(digits, NULL, 10) : 0;
}

static unsigned number_before(const char *p, const char *end, const char *what)
{
    const char *at = find_in(p, end, what);

    return at ? number_up_to(p, at) : 0;
}

static struct kernel_facts *find_kernel(
    struct kernel_facts *kernels, unsigned nr, const char *name, size_t len)
{
    for (unsigned i = 0; i < nr; i++) {
        if (strlen(kernels[i].lowered) == len && memcmp(kernels[i].lowered, name, len) == 0)
            return &kernels[i];
    }
    return NULL;
}

/* The rest of the line behind `prefix`; NULL: the line does not begin with it. */
static const char *after(const char *p, const char *end, const char *prefix)
{
    const char *at = find_in(p, end, prefix);

    return at ? at + strlen(prefix) : NULL;
}

void log_read_facts(const char *log, struct kernel_facts *kernels, unsigned nr_kernels)
{
    struct kernel_facts *entry = NULL, *described = NULL;

    for (const char *p = log; *p; p = str_next_line(p)) {
        const char *end = line_end(p), *name;

        if (strncmp(p, "ptxas", 5) != 0)
            continue;
        if ((name = after(p, end, "Compiling entry function '"))) {
            const char *quote = memchr(name, '\'', (size_t)(end - name));
            entry = quote ? find_kernel(kernels, nr_kernels, name, (size_t)(quote - name)) : NULL;
        } else if ((name = after(p, end, "Function properties for "))) {
            described = find_kernel(kernels, nr_kernels, name, (size_t)(end - name));
        } else if (described && find_in(p, end, " bytes stack frame")) {
            described->stack_bytes = number_before(p, end, " bytes stack frame");
            described->spill_store_bytes = number_before(p, end, " bytes spill stores");
            described->spill_load_bytes = number_before(p, end, " bytes spill loads");
        } else if (entry && after(p, end, ": Used ")) {
            entry->registers = number_before(p, end, " registers");
            entry->nr_barriers = number_before(p, end, " barriers");
            entry->smem_static_bytes = number_before(p, end, " bytes smem");
            entry->const_bytes = 0;
            for (const char *c = p; (c = find_in(c, end, " bytes cmem[")); c++)
                entry->const_bytes += number_up_to(p, c);
        }
    }
}

/* "name(12): error: text": true, with the parts. Severities are error and catastrophic error; a
 * number such as "error #20:" may be part of it. */
static bool split_error(
    const char *p, const char *end, const char **name_end, unsigned *line, const char **text)
{
    const char *mark = find_in(p, end, "): error"), *open;

    if (!mark)
        mark = find_in(p, end, "): catastrophic error");
    if (!mark)
        return false;
    open = mark;
    while (open > p && isdigit((unsigned char)open[-1]))
        open--;
    if (open == p || open[-1] != '(')
        return false;
    *name_end = open - 1;
    *line = (unsigned)strtoul(open, NULL, 10);
    *text = mark + 3;
    return true;
}

/* In the indented lines after an error: the last "at line N" speaks of the outermost instantiation,
 * the one that the candidate's own text asked for. */
static unsigned instantiated_at(const char *p, const char *source_name)
{
    unsigned line = 0;

    while (*p) {
        const char *end = line_end(p), *at = find_in(p, end, "at line "), *of;

        if (*p != ' ' || p == end)
            break;
        if (at) {
            of = find_in(at, end, " of ");
            if (!of || find_in(of, end, source_name))
                line = (unsigned)strtoul(at + 8, NULL, 10);
        }
        p = *end ? end + 1 : end;
    }
    return line;
}

static bool missing_kernel(
    const char *p, const char *const *kernels, unsigned nr_kernels, unsigned *missing)
{
    const char *was = strstr(p, "Input name expression was: \"");
    const char *name = was ? was + strlen("Input name expression was: \"") : NULL;

    while (name && *name == ' ')
        name++;
    for (unsigned i = 0; name && i < nr_kernels; i++) {
        const size_t len = strlen(kernels[i]);
        if (strncmp(name, kernels[i], len) == 0 && name[len] == '"') {
            *missing = i;
            return true;
        }
    }
    return false;
}

static unsigned count_errors(const char *log)
{
    unsigned nr = 0;

    for (const char *p = log; *p; p = str_next_line(p)) {
        const char *end = line_end(p), *name_end, *text;
        unsigned line;
        nr += split_error(p, end, &name_end, &line, &text) && strncmp(p, "__nv_name_map", 13) != 0;
    }
    return nr;
}

static void read_compiler_error(const char *p, const char *source_name, const char *const *kernels,
    unsigned nr_kernels, struct arena *arena, struct diagnosis *d)
{
    const char *end = line_end(p), *name_end, *text;
    const size_t name_len = strlen(source_name);
    unsigned line;

    split_error(p, end, &name_end, &line, &text);
    if (strncmp(p, "__nv_name_map", 13) == 0) {
        d->is_missing = missing_kernel(p, kernels, nr_kernels, &d->missing);
        d->text = arena_strndup(arena, text, (size_t)(end - text));
    } else if ((size_t)(name_end - p) == name_len && memcmp(p, source_name, name_len) == 0) {
        d->line = line;
        d->text = arena_strndup(arena, text, (size_t)(end - text));
    } else {
        /* The error is in a header: name its last component, and the line that asked for it. */
        const char *slash = memrchr(p, '/', (size_t)(name_end - p));
        const char *name = slash ? slash + 1 : p;
        d->line = *end ? instantiated_at(end + 1, source_name) : 0;
        d->text = arena_printf(arena, "%.*s (in %.*s, line %u)", (int)(end - text), text,
            (int)(name_end - name), name, line);
    }
}

/* NVRTC 13.0 refuses a kernel with too much static shared memory without a word; only ptxas's
 * report shows it. */
static bool read_silent_refusal(const char *log, struct arena *arena, struct diagnosis *d)
{
    const char *symbol = NULL;

    for (const char *p = log; *p; p = str_next_line(p)) {
        const char *end = line_end(p), *name = after(p, end, "Compiling entry function '");
        const unsigned smem_bytes = number_before(p, end, " bytes smem");

        if (name)
            symbol = name;
        if (!symbol || smem_bytes <= STATIC_SMEM_BYTES)
            continue;
        d->text = arena_printf(arena,
            "error: the kernel declares %u bytes of static shared memory, more than a block can "
            "have",
            smem_bytes);
        d->symbol = arena_strndup(arena, symbol, strcspn(symbol, "'\n"));
        return true;
    }
    return false;
}

static void read_ptxas_error(const char *p, struct arena *arena, struct diagnosis *d)
{
    const char *end = line_end(p), *name = after(p, end, "unction '"), *quote;

    d->text = arena_strndup(arena, p, (size_t)(end - p));
    quote = name ? memchr(name, '\'', (size_t)(end - name)) : NULL;
    if (quote)
        d->symbol = arena_strndup(arena, name, (size_t)(quote - name));
}

bool log_read_error(const char *log, const char *source_name, const char *const *kernels,
    unsigned nr_kernels, struct arena *arena, struct diagnosis *d)
{
    const unsigned nr = count_errors(log);

    *d = (struct diagnosis){.nr_more = nr ? nr - 1 : 0};
    for (const char *p = log; *p; p = str_next_line(p)) {
        const char *end = line_end(p), *name_end, *text;
        unsigned line;

        if (split_error(p, end, &name_end, &line, &text)) {
            read_compiler_error(p, source_name, kernels, nr_kernels, arena, d);
            return true;
        }
        if (strncmp(p, "ptxas", 5) == 0 && (find_in(p, end, "error") || find_in(p, end, "fatal"))) {
            read_ptxas_error(p, arena, d);
            return true;
        }
    }
    return read_silent_refusal(log, arena, d);
}

const char *log_read_stable(const char *log, struct arena *arena)
{
    struct str out = {0};
    const char *text;

    for (const char *p = log; *p;) {
        const char *end = str_next_line(p);
        if (strncmp(p, "ptxas", 5) != 0 || !find_in(p, end, "Compile time ="))
            str_add_n(&out, p, (size_t)(end - p));
        p = end;
    }
    text = arena_strndup(arena, str_text(&out), out.len);
    str_finish(&out);
    return text;
}
