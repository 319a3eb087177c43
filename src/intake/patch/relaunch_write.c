/* Owns the text of launches at their place in host code. */
#include "intake/patch/patch_parts.h"

#include "base/mem.h"
#include "core/map_code.h"
#include "intake/eval/resolver.h"
#include "intake/syntax/spelling.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FREE_SMEM_BYTES = 48 << 10 }; /* what a launch may have without cudaFuncSetAttribute */

/* ---- arguments ---- */

/* The type of a kernel's parameter, without __restrict__; NULL: the type has a template
 * parameter. */
static const char *param_type(struct arena *arena, const struct launch_words *w, unsigned number)
{
    struct param params[MAX_PARAMS];
    const char *names[MAX_TEMPLATE_ARGS];
    const unsigned nr = params_of_template(w->decls->toks, w->kernel, names, ARRAY_SIZE(names));

    if (params_read(params, arena, w->decls, w->kernel) <= number)
        return NULL;
    const char *text = params[number].written;

    for (unsigned n = 0; n < nr; n++)
        if (spelling_has_word(text, names[n]))
            return NULL;
    return *text ? text : NULL;
}

/* The type without const, for a comparison. */
static const char *bare_type(struct arena *arena, const char *type)
{
    while (strncmp(type, "const ", 6) == 0)
        type += 6;
    const char *text = spelling_dense(arena, type);
    const char *found = strstr(text, "const*");

    return found ? arena_printf(arena, "%.*s%s", (int)(found - text), text, found + 5) : text;
}

/* ---- tensor maps ---- */

struct launch_texts {
    const char *id, *grid, *block, *smem, *stream, *args;
};

static bool is_map(const struct launch_words *w, unsigned number)
{
    return w->said[number].kind == ARG_TENSOR_MAP;
}

/* The variable that holds the map of an argument. */
static const char *map_name(struct arena *arena, const struct launch_words *w, unsigned number)
{
    unsigned same = 0;

    for (unsigned i = 0; i < number; i++)
        same += is_map(w, i) && strcmp(w->said[i].name, w->said[number].name) == 0;
    return same ? arena_printf(arena, "keet_map_%s_%u", w->said[number].name, same + 1)
                : arena_printf(arena, "keet_map_%s", w->said[number].name);
}

static bool write_expr(void *context, const struct expr *expr, struct str *out)
{
    const char *text = scope_names_expr(context, expr_text(expr));

    str_add(out, text ? text : "");
    return text != NULL;
}

/* The host's own variable for a map that a launch there passes in the same words; NULL: none does.
 */
static const struct name_map *map_of_host(
    const struct relaunch *l, const struct launch_words *w, unsigned number)
{
    return scope_names_find(&l->scope, w->args[number]);
}

/* No pointer to the array stands at the launch: the host may pass a map of it, encoded by itself.
 */
static bool refuse_map(struct relaunch *l, const struct launch_arg *arg)
{
    for (unsigned k = 0; k < l->nr_old; k++)
        for (unsigned i = 0; i < l->old[k].nr_args; i++)
            if (is_map(&l->old[k], i) && strcmp(l->old[k].said[i].name, arg->name) == 0)
                return patcher_refuse(l->p,
                    "the winner passes %s, and the host code encodes a map of %s itself: by hand, "
                    "let cuTensorMapEncodeTiled there encode what the winner's launch line says, "
                    "and say the same in the file's own launch line; then the rest can be written "
                    "back",
                    arg->tensor->written, arg->name);
    return patcher_refuse(l->p,
        "the winner passes a tensor map of %s, which the launches there do not pass", arg->name);
}

/* Declares the maps of a launch and keet_encoded, which is false where the driver refuses one of
 * them. */
static void add_maps(
    struct relaunch *l, struct str *out, const struct launch_words *w, const char *in, bool *ok)
{
    struct str test = {0};

    for (unsigned i = 0; *ok && i < w->nr_args; i++) {
        if (!is_map(w, i) || map_of_host(l, w, i))
            continue;
        const struct task_array *array = task_find_array(l->p->task, l->p->plan, w->said[i].name);
        const struct name_map *pointer = scope_names_find(&l->scope, w->said[i].name);

        *ok = (array && pointer) || refuse_map(l, &w->said[i]);
        if (!*ok)
            break;
        const struct map_code map = {map_name(l->p->arena, w, i), pointer->source,
            w->said[i].tensor, array, write_expr, &l->scope};

        *ok = map_code_lists(out, in, &map);
        str_addf(&test, test.len ? " &&\n%s    " : "%.0s", in);
        *ok = *ok && map_code_call(&test, arena_printf(l->p->arena, "%s        ", in), &map);
        str_add(&test, " == cudaSuccess");
    }
    if (test.len)
        str_addf(out, "%sconst bool keet_encoded =\n%s    %s;\n", in, in, str_text(&test));
    str_finish(&test);
}

static const char *arg_text(struct relaunch *l, const struct launch_words *w, unsigned number)
{
    struct arena *arena = l->p->arena;

    if (is_map(w, number) && !map_of_host(l, w, number))
        return map_name(arena, w, number);
    const char *name = w->args[number], *type = param_type(arena, w, number);
    const struct name_map *map = scope_names_find(&l->scope, name);

    if (!map && *name == '{') {
        patcher_refuse(l->p,
            "the winner passes %s for a struct that the launches there fill in "
            "another way",
            name);
        return NULL;
    }
    if (!map)
        return scope_names_expr(&l->scope, name);
    if (!type || !strchr(type, '*') ||
        (map->type && strcmp(bare_type(arena, type), bare_type(arena, map->type)) == 0))
        return map->source;
    return arena_printf(arena, "reinterpret_cast<%s>(%s)", type, map->source);
}

static const char *args_text(struct relaunch *l, const struct launch_words *w)
{
    struct str out = {0};
    const char *text = "";

    for (unsigned i = 0; text && i < w->nr_args; i++) {
        text = arg_text(l, w, i);
        str_addf(&out, "%s%s", i ? ", " : "", text ? text : "");
    }
    const char *all = str_move(&out, l->p->arena);

    return text ? all : NULL;
}

static const char *dims_text(struct relaunch *l, const char *const dims[3])
{
    const char *text[3];
    unsigned nr = 3;

    for (unsigned i = 0; i < 3; i++)
        if (!(text[i] = scope_names_expr(&l->scope, dims[i])))
            return NULL;
    while (nr > 1 && strcmp(text[nr - 1], "1") == 0)
        nr--;
    if (nr == 1)
        return text[0];
    return nr == 2 ? arena_printf(l->p->arena, "dim3(%s, %s)", text[0], text[1])
                   : arena_printf(l->p->arena, "dim3(%s, %s, %s)", text[0], text[1], text[2]);
}

/* ---- the place ---- */

/* Adds what the texts of launch i of the contract are called at its site. */
static void add_pairs(struct relaunch *l, unsigned i, const struct site *site)
{
    const struct launch_words *w = &l->old[i];

    for (unsigned a = 0; a < w->nr_args && a < site->nr_args; a++)
        if (!scope_names_find(&l->scope, w->args[a]) && strtoll(w->args[a], NULL, 10) == 0 &&
            strcmp(w->args[a], "0") != 0)
            scope_names_add(&l->scope, w->args[a], patcher_source(l->p, site->args[a]),
                param_type(l->p->arena, w, a));
}

static bool replace_range(struct relaunch *l, struct tok_range r, const char *text)
{
    const struct toks *toks = &l->p->set->toks;

    return text && patcher_replace(l->p, toks->tok[r.from].at, toks->tok[r.to - 1].end, text);
}

/* The kernel's id in host code: as it stands there, where it is the same; else with the arguments
 * that differ. */
static const char *id_text(
    struct relaunch *l, unsigned i, const struct launch_words *w, const struct site *site)
{
    struct arena *arena = l->p->arena;
    const char *old = l->old[i].id, *angle = strchr(old, '<');
    const size_t nr = angle ? (size_t)(angle - old) : strlen(old);
    struct toks a, b;
    struct tok_range from[MAX_TEMPLATE_ARGS], to[MAX_TEMPLATE_ARGS];
    struct str out = {0};

    if (strcmp(old, w->id) == 0)
        return site->id;
    if (!angle || strncmp(old, w->id, nr + 1) != 0 || !toks_lex(&a, arena, old, strlen(old)) ||
        !toks_lex(&b, arena, w->id, strlen(w->id)))
        return w->id;
    const unsigned open = toks_find(&a, 0, a.nr, "<");
    const unsigned nr_from = tok_range_split(
                       (struct tok_range){&a, open + 1, a.nr - 1}, from, MAX_TEMPLATE_ARGS),
                   nr_to = tok_range_split(
                       (struct tok_range){&b, open + 1, b.nr - 1}, to, MAX_TEMPLATE_ARGS);

    if (nr_from != nr_to || nr_to != site->nr_template_args)
        return w->id;
    str_addf(&out, "%.*s<", (int)strcspn(site->id, "<"), site->id);
    for (unsigned t = 0; t < nr_to; t++) {
        const char *text = toks_text(&b, arena, to[t].from, to[t].to);
        const bool same = strcmp(text, toks_text(&a, arena, from[t].from, from[t].to)) == 0;

        str_addf(&out, "%s%s", t ? ", " : "",
            same ? patcher_source(l->p, site->template_args[t]) : text);
    }
    str_add_char(&out, '>');
    return str_move(&out, arena);
}

/* ---- part by part ---- */

static unsigned close_of(const struct relaunch *l, const struct site *site)
{
    const struct toks *toks = &l->p->set->toks;

    return toks->tok[toks_find(toks, site->at, toks->nr, ">>>") + 1].match;
}

static bool patch_args(struct relaunch *l, unsigned i, const struct site *site)
{
    const struct launch_words *old = &l->old[i], *w = &l->new_[i];
    const struct toks *toks = &l->p->set->toks;
    bool ok = true;

    if (w->nr_args != old->nr_args || w->nr_args != site->nr_args) {
        const unsigned close = close_of(l, site);
        const char *text = args_text(l, w);

        return text && patcher_replace(
                           l->p, toks->tok[toks->tok[close].match].end, toks->tok[close].at, text);
    }
    for (unsigned a = 0; ok && a < w->nr_args; a++) {
        const char *text =
            strcmp(old->args[a], w->args[a]) == 0 && !scope_names_find(&l->scope, w->args[a])
                ? patcher_source(l->p, site->args[a])
                : arg_text(l, w, a);

        ok = text != NULL;
        if (ok && strcmp(text, patcher_source(l->p, site->args[a])) != 0)
            ok = replace_range(l, site->args[a], text);
    }
    return ok;
}

/* The launch alone, as a whole. */
static bool run_of_one(struct relaunch *l, unsigned i, const struct site *site)
{
    struct relaunch *one = arena_alloc(l->p->arena, sizeof(*one));

    *one = *l;
    one->old[0] = l->old[i];
    one->new_[0] = l->new_[i];
    one->nr_old = one->nr_new = 1;
    one->nr_scratch = 0;
    const bool ok = relaunch_run(one, &site);

    l->first_map = one->first_map;
    return ok;
}

static bool wants_more_smem(const struct launch_words *old, const struct launch_words *w)
{
    char *end;
    const long long bytes = strtoll(w->smem, &end, 10);

    return (strcmp(old->smem, w->smem) != 0 || strcmp(old->id, w->id) != 0) &&
           (*end || bytes > FREE_SMEM_BYTES);
}

static bool same_dims(const char *const a[3], const char *const b[3])
{
    return strcmp(a[0], b[0]) == 0 && strcmp(a[1], b[1]) == 0 && strcmp(a[2], b[2]) == 0;
}

bool relaunch_parts(struct relaunch *l, unsigned i, const struct site *site)
{
    const struct launch_words *old = &l->old[i], *w = &l->new_[i];
    bool ok = true;

    if (relaunch_same(old, w))
        return true;
    if (wants_more_smem(old, w) || relaunch_is_long(w, old))
        return run_of_one(l, i, site);
    scope_names_init(&l->scope, l->p, site->at);
    add_pairs(l, i, site);
    if (strcmp(old->id, w->id) != 0)
        ok = replace_range(
            l, (struct tok_range){&l->p->set->toks, site->from, site->at}, id_text(l, i, w, site));
    for (unsigned c = 0; ok && c < 2; c++)
        if (!same_dims(old->dims[c], w->dims[c]))
            ok = replace_range(l, site->config[c], dims_text(l, w->dims[c]));
    if (ok && strcmp(old->smem, w->smem) != 0) {
        const char *text = scope_names_expr(&l->scope, w->smem);
        const struct tok_range last = site->config[site->nr_config - 1];

        ok = text &&
             (site->nr_config > 2
                     ? replace_range(l, site->config[2], text)
                     : replace_range(l, last,
                           arena_printf(l->p->arena, "%s, %s", patcher_source(l->p, last), text)));
    }
    return ok && patch_args(l, i, site);
}

/* ---- as a whole ---- */

/* Finds the statement that is the launch: [*from, *to), with its semicolon. False: the launch is
 * part of another statement. */
static bool statement(struct relaunch *l, const struct site *site, unsigned *to, bool alone)
{
    static const char *const before[] = {";", "{", "}", "else", ":", NULL};
    const struct toks *toks = &l->p->set->toks;
    const struct tok *prev = &toks->tok[site->from - 1];
    bool begins = prev->kind == TOK_DIRECTIVE;

    for (unsigned i = 0; before[i]; i++)
        begins = begins || (tok_is(prev, before[i]) && (alone || i < 3));
    if (alone && tok_is(prev, ")") && prev->match) {
        const struct tok *head = &toks->tok[prev->match - 1];

        begins = tok_is(head, "if") || tok_is(head, "for") || tok_is(head, "while");
    }
    *to = close_of(l, site) + 2;
    if (begins && tok_is(&toks->tok[*to - 1], ";"))
        return true;
    return patcher_refuse(l->p,
        "%s: the winner needs more than one statement where this launch stands, and the "
        "launch "
        "is a part of another one",
        patcher_where(l->p, site->line));
}

/* Between two launches stand only checks for errors: nothing that may look at what the first one
 * wrote. */
static bool only_checks(struct relaunch *l, unsigned from, unsigned to)
{
    static const char *const harmless[] = {"cudaGetLastError", "cudaPeekAtLastError",
        "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventRecord", NULL};
    const struct toks *toks = &l->p->set->toks;

    for (unsigned i = from; i < to; i++) {
        const struct tok *t = &toks->tok[i];
        bool call = tok_is(&toks->tok[i + 1], "(") && toks->tok[i + 1].match;
        bool known = tok_is(t, ";") || tok_is(t, "(") || tok_is(t, ")");
        const struct macro *macro = resolver_macro(&l->p->set->resolver, t->text);

        for (unsigned h = 0; harmless[h] && !known; h++)
            if (tok_is(t, harmless[h]) && call) {
                known = true;
                i = toks->tok[i + 1].match;
            }
        if (!known && !(call && macro && macro->is_function))
            return patcher_refuse(l->p,
                "the winner launches other kernels than the file, and %s stands between the "
                "launches",
                patcher_where(l->p, t->line));
    }
    return true;
}

static unsigned block_around(const struct toks *toks, unsigned at)
{
    for (unsigned i = at; i-- > 0;) {
        if (toks->tok[i].match && toks->tok[i].match < i)
            i = toks->tok[i].match;
        else if (tok_is(&toks->tok[i], "{"))
            return i;
    }
    return 0;
}

static void add_scratch_text(
    struct relaunch *l, struct str *out, const char *indent, const char *stream, bool *ok)
{
    for (unsigned s = 0; s < l->nr_scratch; s++) {
        const struct scratch *x = &l->scratch[s];

        str_addf(out, "%s    %s *%s = nullptr;\n%s    cudaMallocAsync(&%s, sizeof(%s)", indent,
            x->type, x->variable, indent, x->variable, x->type);
        for (unsigned d = 0; d < x->array->nr_dims; d++) {
            const char *dim = scope_names_expr(&l->scope, expr_text(x->array->dims[d]));

            *ok = *ok && dim;
            str_addf(out, " * (%s)", dim ? dim : "");
        }
        str_addf(out, ", %s);\n", stream);
        scope_names_add(&l->scope, x->name, x->variable, arena_printf(l->p->arena, "%s*", x->type));
    }
}

/* The launch of a kernel whose blocks stand in clusters, which <<<>>> cannot say. */
static void add_cluster_launch(struct relaunch *l, struct str *out, const struct launch_words *w,
    const struct launch_texts *t, const char *in, bool *ok)
{
    static const char axes[] = "xyz";

    str_addf(out,
        "%scudaLaunchAttribute keet_cluster = {};\n%scudaLaunchConfig_t keet_config = {};\n"
        "%skeet_cluster.id = cudaLaunchAttributeClusterDimension;\n",
        in, in, in);
    for (unsigned i = 0; i < 3; i++) {
        const char *text = scope_names_expr(&l->scope, w->dims[2][i]);

        *ok = *ok && text;
        str_addf(out, "%skeet_cluster.val.clusterDim.%c = %s;\n", in, axes[i], text ? text : "");
    }
    str_addf(out,
        "%skeet_config.gridDim = %s;\n%skeet_config.blockDim = %s;\n"
        "%skeet_config.dynamicSmemBytes = %s;\n",
        in, t->grid, in, t->block, in, t->smem);
    if (strcmp(t->stream, "0") != 0)
        str_addf(out, "%skeet_config.stream = %s;\n", in, t->stream);
    str_addf(out,
        "%skeet_config.attrs = &keet_cluster;\n%skeet_config.numAttrs = 1;\n"
        "%scudaLaunchKernelEx(&keet_config, %s%s%s);\n",
        in, in, in, t->id, *t->args ? ", " : "", t->args);
}

static void add_launch_text(struct relaunch *l, struct str *out, unsigned i,
    const struct site *const *run, const char *indent, const char *stream, bool *ok)
{
    const struct launch_words *w = &l->new_[i], none = {.id = "", .smem = "0"}, *old = &none;
    struct launch_texts t = {.id = w->id, .stream = stream};

    const size_t nr = strcspn(w->id, "<");

    for (unsigned k = 0; k < l->nr_old; k++)
        if (strcspn(l->old[k].id, "<") == nr && strncmp(l->old[k].id, w->id, nr) == 0) {
            t.id = id_text(l, k, w, run[k]);
            old = &l->old[k];
        }
    const bool apart = l->nr_new > 1 && relaunch_is_long(w, old);
    const char *in = arena_printf(l->p->arena, apart ? "%s        " : "%s    ", indent);
    if (apart)
        str_addf(out, "%s    {\n", indent);
    const size_t before = out->len;

    add_maps(l, out, w, in, ok);
    const bool maps = out->len > before;

    if (maps && (!l->first_map || run[0]->from < l->first_map))
        l->first_map = run[0]->from;
    t.grid = dims_text(l, w->dims[0]);
    t.block = dims_text(l, w->dims[1]);
    t.smem = scope_names_expr(&l->scope, w->smem);
    t.args = args_text(l, w);
    *ok = *ok && t.grid && t.block && t.smem && t.args;
    if (!*ok)
        return;
    if (maps) /* the runtime refuses a launch of no blocks, and the program's own checks see it */
        t.grid = arena_printf(l->p->arena, "keet_encoded ? %s : 0", t.grid);
    if (wants_more_smem(old, w))
        str_addf(out,
            "%scudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %s);\n", in,
            t.id, t.smem);
    if (relaunch_is_clustered(w)) {
        add_cluster_launch(l, out, w, &t, in, ok);
    } else {
        str_addf(out, "%s%s<<<%s, %s", in, t.id, t.grid, t.block);
        if (strcmp(t.smem, "0") != 0 || strcmp(stream, "0") != 0)
            str_addf(out, ", %s", t.smem);
        if (strcmp(stream, "0") != 0)
            str_addf(out, ", %s", stream);
        str_addf(out, ">>>(%s);\n", t.args);
    }
    if (apart)
        str_addf(out, "%s    }\n", indent);
}

/* The blanks at the beginning of the line of byte `at`. */
static const char *indent_of(const struct relaunch *l, size_t at)
{
    const char *source = l->p->set->text;
    size_t start = at;

    while (start > 0 && source[start - 1] != '\n')
        start--;
    return arena_strndup(l->p->arena, source + start, strspn(source + start, " \t"));
}

static bool check_run(struct relaunch *l, const struct site *const *run)
{
    const struct toks *toks = &l->p->set->toks;
    unsigned to = 0;

    for (unsigned i = 0; i < l->nr_old; i++) {
        const unsigned before = to;

        if (!statement(l, run[i], &to, l->nr_old == 1))
            return false;
        if (i && block_around(toks, run[i]->at) != block_around(toks, run[0]->at))
            return patcher_refuse(l->p, "%s and %s: the launches stand in different blocks",
                patcher_where(l->p, run[0]->line), patcher_where(l->p, run[i]->line));
        if (i && !only_checks(l, before, run[i]->from))
            return false;
    }
    return true;
}

/* One statement as it is, or several in braces. */
static const char *as_statement(struct relaunch *l, const char *lines, const char *indent)
{
    const size_t len = strlen(lines);
    const char *newline = strchr(lines, '\n');

    if (newline && newline + 1 == lines + len)
        return arena_printf(l->p->arena, "%.*s", (int)strcspn(lines + strspn(lines, " \t"), "\n"),
            lines + strspn(lines, " \t"));
    return arena_printf(l->p->arena, "{\n%s%s}", lines, indent);
}

/* Removes a text, together with its line where nothing else stands there. */
static bool remove_text(struct relaunch *l, size_t from, size_t to)
{
    const char *source = l->p->set->text;
    size_t start = from, end = to;

    while (start > 0 && (source[start - 1] == ' ' || source[start - 1] == '\t'))
        start--;
    while (source[end] == ' ' || source[end] == '\t' || source[end] == '\r')
        end++;
    if ((start == 0 || source[start - 1] == '\n') && source[end] == '\n')
        return patcher_replace(l->p, start, end + 1, "");
    return patcher_replace(l->p, from, to, "");
}

bool relaunch_run(struct relaunch *l, const struct site *const *run)
{
    const struct toks *toks = &l->p->set->toks;
    const struct site *first = run[0];
    const char *stream = first->nr_config > 3 ? patcher_source(l->p, first->config[3]) : "0";
    const char *indent = indent_of(l, toks->tok[first->from].at);
    struct str out = {0};
    bool ok = check_run(l, run);
    unsigned to;

    if (!ok)
        return false;
    scope_names_init(&l->scope, l->p, first->at);
    for (unsigned i = 0; i < l->nr_old; i++)
        add_pairs(l, i, run[i]);
    add_scratch_text(l, &out, indent, stream, &ok);
    for (unsigned i = 0; ok && i < l->nr_new; i++)
        add_launch_text(l, &out, i, run, indent, stream, &ok);
    for (unsigned s = l->nr_scratch; s-- > 0;)
        str_addf(&out, "%s    cudaFreeAsync(%s, %s);\n", indent, l->scratch[s].variable, stream);
    for (unsigned i = 0; ok && i < l->nr_old; i++) {
        const size_t from = toks->tok[run[i]->from].at;

        ok = statement(l, run[i], &to, l->nr_old == 1);
        const size_t end = toks->tok[to - 1].end;

        ok = ok && (i ? remove_text(l, from, end)
                      : patcher_replace(l->p, from, end, as_statement(l, str_text(&out), indent)));
    }
    str_finish(&out);
    return ok;
}
