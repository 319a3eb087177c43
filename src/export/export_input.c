/* Owns the reading of the exports' input from the run, and expressions in other languages. */
#include "export/export_input.h"

#include "base/file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "kernels/matmul-2.cu" -> "matmul_2" */
static const char *identifier(struct arena *arena, const char *path)
{
    const char *file = file_name(path), *dot = strchr(file, '.');
    char *name = arena_strndup(arena, file, dot ? (size_t)(dot - file) : strlen(file));

    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c))
            *c = '_';
    }
    if (!*name || isdigit((unsigned char)*name) || task_reserves(name))
        return arena_printf(arena, "kernel_%s", name);
    return name;
}

bool export_input_read(struct export_input *in, const struct page *page, struct err *err)
{
    const char *original = page->run.original;
    enum verdict verdict;
    struct err why;

    *in = (struct export_input){.arena = page->arena, .page = page};
    in->best = &page->path[page->nr_path - 1];
    in->name = identifier(in->arena, page->run.kernel_path);
    if (!task_parse(&in->task, in->arena, page->run.kernel_path, original, strlen(original), err))
        return err_wrap(err, "%s: the original", page->db_path);
    if (in->best->verdict != VERDICT_OK)
        return err_set(err, "%s: no kernel in it is right", page->db_path);
    if (!plan_parse(&in->plan, &in->task, in->arena, in->best->source, in->best->source_bytes,
            &verdict, &why))
        return err_set(
            err, "%s: node %" PRId64 ": %.1000s", page->db_path, in->best->node, why.text);
    in->pytorch = in->task.pytorch;
    return true;
}

static void say_line(const char *comment, const char *text, struct str *out)
{
    str_addf(out, "%s ", comment);
    for (const char *c = text; *c; c++)
        str_add_char(out, (unsigned char)*c < ' ' ? ' ' : *c);
    str_add_char(out, '\n');
}

void export_provenance(const struct export_input *in, const char *comment, struct str *out)
{
    const struct page *page = in->page;
    struct str line = {0};

    str_addf(&line, "%s: node %" PRId64 " of a run of keet-opt %s on %s, policy %s, seed %" PRIu64,
        file_name(page->run.kernel_path), in->best->node, page->run.version, page->device_name,
        page->run.policy, page->run.seed);
    say_line(comment, str_text(&line), out);
    str_clear(&line);
    page_result(page, &line);
    say_line(comment, str_text(&line), out);
    str_finish(&line);
}

const char *export_ctype(enum elem elem)
{
    static const char *const names[NR_ELEMS] = {[ELEM_F64] = "double",
        [ELEM_F32] = "float",
        [ELEM_TF32] = "float",
        [ELEM_F16] = "__half",
        [ELEM_BF16] = "__nv_bfloat16",
        [ELEM_E4M3] = "__nv_fp8_e4m3",
        [ELEM_E5M2] = "__nv_fp8_e5m2",
        [ELEM_I64] = "int64_t",
        [ELEM_I32] = "int32_t",
        [ELEM_I16] = "int16_t",
        [ELEM_I8] = "int8_t",
        [ELEM_U64] = "uint64_t",
        [ELEM_U32] = "uint32_t",
        [ELEM_U16] = "uint16_t",
        [ELEM_U8] = "uint8_t",
        [ELEM_BOOL] = "bool"};

    return names[elem];
}

unsigned export_nr_in(const struct export_input *in)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < in->task.nr_arrays; i++)
        nr += in->task.arrays[i].role != ROLE_OUT;
    return nr;
}

unsigned export_nr_out(const struct export_input *in)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < in->task.nr_arrays; i++)
        nr += in->task.arrays[i].role != ROLE_IN;
    return nr;
}

/* ---- expressions ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whole numbers are 64 bits wide in the task language; 1e6 is a whole number, too. */
static void add_number(enum language language, const char *text, size_t len, struct str *out)
{
    const bool hex = len > 1 && (text[1] == 'x' || text[1] == 'X');
    int64_t value = hex ? strtoll(text, NULL, 16) : 0;

    if (!hex && memchr(text, 'e', len))
        value = (int64_t)strtod(text, NULL);
    else if (!hex)
        value = strtoll(text, NULL, 10);
    str_addf(out, "%" PRId64 "%s", value, language == LANGUAGE_CPP && value > 65535 ? "LL" : "");
}

static void add_name(enum language language, const char *text, size_t len, struct str *out)
{
    static const char *const functions[] = {"ceil_div", "min", "max"};

    for (unsigned i = 0; i < 3; i++) {
        if (strlen(functions[i]) != len || strncmp(functions[i], text, len) != 0)
            continue;
        if (language == LANGUAGE_CPP)
            str_add(out, "keet_");
        else if (i == 0)
            str_add(out, "keet_");
    }
    str_add_n(out, text, len);
}

/* Adds an operator in Python's spelling. A division of C is Python's //, since the task divides
 * only numbers of at least 0. */
static size_t add_python_operator(const char *text, struct str *out)
{
    static const struct {
        const char *c, *python;
    } table[] = {{"&&", " and "}, {"||", " or "}, {"!=", "!="}, {"!", " not "}, {"/", "//"}};

    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const size_t len = strlen(table[i].c);

        if (strncmp(text, table[i].c, len) == 0) {
            str_add(out, table[i].python);
            return len;
        }
    }
    str_add_char(out, *text);
    return 1;
}

bool export_expr(enum language language, const struct expr *expr, struct str *out)
{
    const char *at = expr_text(expr);

    if (language == LANGUAGE_PYTHON && strchr(at, '?'))
        return false;
    while (*at) {
        const char *from = at;

        while (is_word(*at))
            at++;
        if (at > from && isdigit((unsigned char)*from))
            add_number(language, from, (size_t)(at - from), out);
        else if (at > from)
            add_name(language, from, (size_t)(at - from), out);
        else if (language == LANGUAGE_PYTHON)
            at += add_python_operator(at, out);
        else
            str_add_char(out, *at++);
    }
    return true;
}

bool export_dims(enum language language, const struct task_array *array, struct str *out)
{
    bool ok = true;

    str_add_char(out, language == LANGUAGE_CPP ? '{' : '(');
    for (unsigned d = 0; ok && d < array->nr_dims; d++) {
        str_add(out, d ? ", " : "");
        ok = export_expr(language, array->dims[d], out);
    }
    if (language == LANGUAGE_PYTHON && array->nr_dims == 1)
        str_add_char(out, ',');
    str_add_char(out, language == LANGUAGE_CPP ? '}' : ')');
    return ok;
}
