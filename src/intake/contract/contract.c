/* Owns the inferred contract: which launches it has, and which of its sizes are free. */
#include "intake/gather/source_set.h"

#include "base/mem.h"
#include "core/chip.h"
#include "intake/contract/contract_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The launch gets no memory and sets none: it is a warm-up. */
static bool touches_nothing(const struct contract_builder *b, const struct decl *kernel)
{
    struct param params[MAX_PARAMS];
    const struct decls *decls = b->resolver->decls;

    if (params_read(params, NULL, decls, kernel) > 0)
        return false;
    for (unsigned i = 0; i < decls->nr; i++)
        for (unsigned t = kernel->body;
             decls->decl[i].kind == DECL_VARIABLE && decls->decl[i].keep && t < kernel->to; t++)
            if (tok_is(&decls->toks->tok[t], decls->decl[i].name))
                return false;
    return true;
}

/* The same kernel is launched in the same words again: one of the two is a warm-up, or a loop takes
 * times. */
static bool repeats(const struct site *sites, unsigned i)
{
    for (unsigned k = 0; k < i; k++) {
        bool same =
            strcmp(sites[k].kernel, sites[i].kernel) == 0 && sites[k].nr_args == sites[i].nr_args;

        for (unsigned a = 0; same && a < sites[i].nr_args; a++)
            same = tok_range_same(sites[k].args[a], sites[i].args[a]);
        if (same)
            return true;
    }
    return false;
}

static void add_note(struct contract_builder *b, const char *text)
{
    struct intake *in = b->in;

    in->note = in->note ? arena_printf(b->arena, "%s\n%s", in->note, text) : text;
}

/* The launch reads or writes memory that an earlier launch of the contract wrote. */
static bool continues(const struct contract_builder *b, const struct interp_launch *l)
{
    for (unsigned a = 0; a < b->nr_arrays; a++)
        for (unsigned i = 0; i < l->site.nr_args; i++)
            if (b->arrays[a].written && b->arrays[a].memory && l->args[i].kind == VALUE_MEMORY &&
                l->args[i].memory == b->arrays[a].memory)
                return true;
    return false;
}

/* Adds what launch l does with the memory. False: the launch does not get it. */
static bool launch_gets(const struct interp_launch *l, const struct param *params, unsigned nr,
    const struct memory *memory, bool *reads, bool *writes)
{
    bool gets = false;

    for (unsigned k = 0; k < l->site.nr_args && k < nr; k++)
        if (l->args[k].kind == VALUE_MEMORY && l->args[k].memory == memory) {
            gets = true;
            *reads |= params[k].reads;
            *writes |= params[k].writes;
        }
    return gets;
}

/* The array with which launch i of the interpreter begins another task. A launch of the contract
 * wrote that array. Then the host set it anew, or the host took its contents and launch i only
 * overwrites them. of: by launch of the contract, which launch of the interpreter it is. */
static const struct array *begins_anew(struct contract_builder *b, unsigned i, const unsigned *of)
{
    const struct interp *ip = b->interp;
    const struct interp_launch *l = &ip->launches[i];
    struct param params[MAX_PARAMS];

    if (b->nr_arrays == 0 || ip->nr_transfers == 0 || ip->transfers[0].before > i)
        return NULL;
    const unsigned nr = params_read(params, NULL, b->resolver->decls, l->kernel);

    param_access_pointers(params, nr, contract_types(b), l->kernel);
    for (unsigned c = 0; c < ip->nr_transfers && ip->transfers[c].before <= i; c++)
        for (unsigned a = 0; a < b->nr_arrays; a++) {
            const struct array *array = &b->arrays[a];
            bool reads = false, writes = false;

            if (array->memory == ip->transfers[c].memory && array->written &&
                ip->transfers[c].before > of[array->first_write] &&
                launch_gets(l, params, nr, array->memory, &reads, &writes) &&
                (!ip->transfers[c].taken || (writes && !reads)))
                return array;
        }
    return NULL;
}

/* The launch is of a kernel of the user's file, no warm-up, and was not left out. */
static bool is_candidate(const struct contract_builder *b, const struct interp_launch *l)
{
    for (unsigned i = 0; i < b->nr_left_out; i++)
        if (b->left_out[i].at == l->site.at && strcmp(b->left_out[i].kernel, l->site.kernel) == 0)
            return false;
    return l->kernel->from < b->resolver->own_tokens &&
           (b->interp->nr_launches == 1 || b->all_idle || !touches_nothing(b, l->kernel));
}

/* Adds launches as the interpreter saw them. */
static void add_seen(struct contract_builder *b)
{
    const struct decl *first = NULL;
    const struct array *anew;
    struct site sites[INTERP_MAX_LAUNCHES];
    const struct interp *ip = b->interp;
    unsigned nr = 0, of[MAX_LAUNCHES] = {0};

    for (unsigned i = 0; i < ip->nr_launches && b->nr_launches < MAX_LAUNCHES; i++) {
        const struct interp_launch *l = &ip->launches[i];

        sites[nr] = l->site;
        if (!is_candidate(b, l) || repeats(sites, nr) ||
            (b->nr_launches && l->from != first && !continues(b, l)))
            continue;
        if ((anew = begins_anew(b, i, of)) != NULL) {
            b->end_note = arena_printf(b->arena,
                "the host is done with %s before %s: this launch and what follows are another task",
                anew->name, contract_shown(b, l->site.line));
            break;
        }
        first = b->nr_launches ? first : l->from;
        nr++;
        of[b->nr_launches] = i;
        b->resolver->launched[b->nr_launches] = l->site.at;
        b->resolver->kernels[b->nr_launches] = l->kernel;
        b->resolver->seen[b->nr_launches] = l;
        contract_launch(b, l);
    }
}

/* Follows the program with these arguments; where that reaches no launch, with arguments of which
 * nothing is known; and at last the functions that launch. */
static struct interp *followed(struct contract_builder *b, const struct intake_args *args)
{
    struct interp *ip = interp_create(b->arena, b->resolver);

    b->in->followed = interp_main(ip, args->args, args->nr, true);
    if (b->in->followed)
        return ip;
    if (args->given)
        add_note(b,
            arena_printf(b->arena, "with these arguments the program %s it launches anything: %s",
                ip->spent ? "takes too long to follow until" : "ends before",
                contract_shown(b, ip->end_line)));
    ip = interp_create(b->arena, b->resolver);
    b->in->followed = interp_main(ip, NULL, 0, false);
    if (!b->in->followed)
        interp_launchers(ip = interp_create(b->arena, b->resolver));
    return ip;
}

/* ---- launches that cannot be described ---- */

/* What the launch lacks beyond numbers; NULL: nothing. */
static const char *lacks(struct contract_builder *b, unsigned launch)
{
    const char *why = b->launches[launch].why;

    for (unsigned a = 0; a < b->nr_arrays && !why; a++)
        if (b->arrays[a].launches >> launch & 1)
            why = contract_array_lacks(b, &b->arrays[a]);
    return why ? why : b->launches[launch].is_empty ? "nothing runs, its grid is empty" : NULL;
}

/* Notes the launches that lack something; with `only`, those that are another one. False: there is
 * none. */
static bool leave_out(struct contract_builder *b, const struct left_out *only)
{
    const unsigned before = b->nr_left_out;

    for (unsigned i = 0; i < b->nr_launches && b->nr_left_out < MAX_LEFT_OUT; i++) {
        const struct contract_launch *l = &b->launches[i];
        const unsigned at = b->resolver->launched[i];
        const char *why = !only ? lacks(b, i)
                          : at == only->at && strcmp(l->kernel, only->kernel) == 0
                              ? NULL
                              : "no numbers were found with which all launches run";

        if (why)
            b->left_out[b->nr_left_out++] = (struct left_out){at, l->kernel,
                arena_printf(
                    b->arena, "left out: %s, %s: %s", l->kernel, contract_shown(b, l->line), why)};
    }
    return b->nr_left_out > before;
}

/* Begins the contract anew with all launches that are not left out. */
static void add_launches(struct contract_builder *b, struct interp *interp)
{
    b->nr_arrays = b->nr_scalars = b->nr_launches = 0;
    b->resolver->nr_sizes = b->resolver->nr_arrays = b->resolver->nr_fixed = 0;
    b->end_note = NULL;
    b->resolver->interp = b->interp = interp;
    for (unsigned i = 0; i < interp->nr_launches; i++)
        for (unsigned k = is_candidate(b, &interp->launches[i]) ? interp->launches[i].nr_dims[1]
                                                                : 0;
             k-- > 0;)
            resolver_fix(b->resolver, interp->launches[i].dims[1][k].said);
    add_seen(b);
    if (b->nr_launches == 0 && !b->all_idle) { /* there are only warm-ups: kernels that print */
        b->all_idle = true;
        add_launches(b, interp);
        return;
    }
    contract_part_arrays(b);
}

/* Adds the launches that can be described. Where none can, it adds all of them, and the user
 * completes them. */
static void add_describable(struct contract_builder *b, struct interp *interp, unsigned only)
{
    struct contract_builder *all = arena_alloc(b->arena, sizeof(*all));
    struct resolver *resolver = arena_alloc(b->arena, sizeof(*resolver));

    add_launches(b, interp);
    *all = *b;
    *resolver = *b->resolver;
    while (leave_out(b, NULL))
        add_launches(b, interp);
    if (b->nr_launches == 0) {
        *b = *all;
        *b->resolver = *resolver;
    }
    if (only && only <= b->nr_launches) {
        const struct left_out it = {
            .at = b->resolver->launched[only - 1], .kernel = b->launches[only - 1].kernel};

        while (leave_out(b, &it))
            add_launches(b, interp);
    }
    for (unsigned i = 0; i < b->nr_left_out; i++)
        add_note(b, b->left_out[i].text);
    if (b->end_note)
        add_note(b, b->end_note);
    b->in->nr_left_out = b->nr_left_out;
}

bool contract_infer(struct intake *in, struct resolver *resolver, const char *path,
    const struct intake_args *args, struct err *err)
{
    struct contract_builder *b = arena_alloc(resolver->arena, sizeof(*b));

    *b = (struct contract_builder){.arena = resolver->arena, .resolver = resolver, .in = in};
    for (unsigned i = 0;
         i < resolver->decls->nr && resolver->decls->decl[i].from < resolver->own_tokens; i++)
        in->nr_kernels += resolver->decls->decl[i].is_kernel && resolver->decls->decl[i].body;
    add_describable(b, followed(b, args), args->only);
    in->nr_launches = b->nr_launches;
    if (in->nr_kernels == 0)
        return err_set(err,
            "%s: there is no __global__ function with a body; name a file that has the kernel",
            path);
    if (b->nr_launches == 0)
        return err_set(err,
            "%s: %u kernel(s), but no kernel<<<grid, block>>>(...) of one of them; add `#pragma "
            "keet` "
            "lines by hand (see docs/reference/task-language.md)",
            path, in->nr_kernels);
    for (unsigned i = 0; i < b->nr_launches; i++)
        resolver->ids[i] = b->launches[i].id;
    contract_lines(b);
    if (b->interp->chip_asked)
        add_note(
            b, arena_printf(b->arena, "what the program asks of its device is answered as by %s",
                   chip_default()->name));
    return true;
}
