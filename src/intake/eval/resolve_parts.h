/* Private to the resolver's own files: how resolve.c, resolve_name.c, resolve_member.c and
 * resolve_size.c call one another.
 *
 * Each resolve_* function adds to out what a part of an expression comes down to, as text of the
 * task language. `at` is the token where the part is used; a depth of 0 is too deep. False:
 * resolver->why says what could not be resolved, and what was added is of no use. */
#ifndef KEET_INTAKE_EVAL_RESOLVE_PARTS_H
#define KEET_INTAKE_EVAL_RESOLVE_PARTS_H

#include "intake/eval/resolver.h"

enum { RESOLVE_MAX_DEPTH = 24 };

/* ---- resolve.c ---- */

bool resolve_expression(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out);

/* The same between parentheses. */
bool resolve_in_parentheses(
    struct resolver *resolver, struct tok_range r, unsigned at, unsigned depth, struct str *out);

/* ---- resolve_size.c ---- */

/* Returns false, and sets resolver->why to "what name". */
bool resolve_refuse(struct resolver *resolver, const char *what, const char *name);

/* The name of a size of that value: an old one, or a new one with a fresh spelling. NULL: there are
 * too many sizes. */
const char *resolve_as_size(
    struct resolver *resolver, const char *name, int64_t value, bool known, unsigned line);

/* A name without what a size's name may not have: cfg.n is cfg_n, sizes[0] is sizes_0. */
const char *resolve_clean_name(struct resolver *resolver, const char *name);

/* Cuts out to length mark, and adds a size that the user gives a number. False, without a reason:
 * the resolver is strict, or there are too many sizes. */
bool resolve_ask(
    struct resolver *resolver, const char *name, unsigned line, struct str *out, size_t mark);

/* Cuts text to length mark. */
void resolve_cut(struct str *text, size_t mark);

/* ---- resolve_name.c ---- */

bool resolve_name(
    struct resolver *resolver, const char *name, unsigned at, unsigned depth, struct str *out);

/* Numbers, operators and names of number types, no list in braces. */
bool resolve_only_numbers(struct tok_range r);

/* A name whose value is written as a plain number: a size, or where in_device says that it may not
 * change, the number. */
bool resolve_constant(struct resolver *resolver, const char *name, struct tok_range value,
    unsigned line, bool in_device, struct str *out);

/* The interpreter saw a number in a variable. */
bool resolve_was_seen(const struct resolver *resolver, const char *name, unsigned at, double *seen);

/* The number that the interpreter saw in a variable, as a size of that name, in place of what
 * stands from mark on where that comes to another number. nr_sizes: how many sizes there were
 * before that text was made. False: it saw no whole number. */
bool resolve_as_seen(struct resolver *resolver, const char *name, unsigned at, struct str *out,
    size_t mark, unsigned nr_sizes);

/* ---- resolve_member.c ---- */

/* object.member at token *i of r; *i becomes the last token of it. */
bool resolve_member(struct resolver *resolver, struct tok_range r, unsigned *i, unsigned at,
    unsigned depth, struct str *out);

#endif
