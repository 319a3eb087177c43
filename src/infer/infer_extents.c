/* Owns the extents of arrays that only a run of the kernel reveals. */
#include "base/mem.h"
#include "infer/infer_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_FORMS = 1024,
    MAX_TERMS = 10,           /* how many sizes enter the products that are looked at */
    FIRST_ROOM = 1 << 12,     /* elements that an array of unknown extent begins with */
    LAST_ROOM = 1 << 22,      /* elements that the array may grow to */
    ENLARGED_ELEMS = 1 << 20, /* elements of all arrays together, where sizes are chosen */
};

/* After a trial with more thread instructions than this, no larger trial is made. */
static const uint64_t enlarged_insts = 16 * 1000 * 1000;

/* A candidate for an extent: its text, its value at the chosen sizes, and its value at sizes that
 * are twice as large. */
struct extent_form {
    const char *text;
    int64_t value, doubled;
    unsigned rank; /* simpler forms have a lower rank */
};

static unsigned nr_extents(const struct inference *s)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < s->nr_numbers; i++)
        nr += s->numbers[i].kind == AN_EXTENT;
    return nr;
}

/* Give all arrays of unknown extent more and more room until the original stays inside its arrays.
 * The room grows slowly, because every later trial fills all of it. */
bool infer_room(struct inference *s, enum outcome *outcome, struct err *err)
{
    const char *before = s->why;

    for (int64_t room = FIRST_ROOM; room <= LAST_ROOM; room *= 2) {
        for (unsigned i = 0; i < s->nr_numbers; i++)
            if (s->numbers[i].kind == AN_EXTENT)
                s->sizes[s->numbers[i].at].value = room;
        if (room > FIRST_ROOM)
            s->why = before; /* the verdict of the largest room is the one to report */
        if (!trial_run(s, outcome, err))
            return false;
        if (*outcome != STRAY || nr_extents(s) == 0)
            return true;
    }
    return true;
}

/* The values with all chosen sizes doubled, and the extents that follow. */
static void double_sizes(const struct inference *s, struct binding *sizes)
{
    const struct env env = {sizes, s->shape.sizes.nr};
    struct err ignored;

    memcpy(sizes, s->sizes, env.nr * sizeof(*sizes));
    for (unsigned i = 0; i < s->nr_numbers; i++)
        if (s->numbers[i].kind == A_SIZE)
            sizes[s->numbers[i].at].value *= 2;
    for (unsigned i = 0; i < s->nr_numbers; i++) {
        const struct missing_number *n = &s->numbers[i];
        const struct expr *form =
            n->form ? expr_parse(s->arena, n->form, strlen(n->form), &ignored) : NULL;

        if (form)
            expr_eval(form, &env, &sizes[n->at].value, &ignored);
    }
}

struct forms {
    struct extent_form all[MAX_FORMS];
    unsigned nr;
    struct binding *doubled; /* the sizes themselves */
};

static void add_form(struct inference *s, struct forms *forms, const char *text)
{
    struct extent_form f = {.text = text, .rank = forms->nr};
    const struct env doubled = {forms->doubled, s->shape.sizes.nr};
    struct err ignored;
    const struct expr *expr = expr_parse(s->arena, text, strlen(text), &ignored);

    if (!expr || forms->nr == MAX_FORMS || !expr_eval(expr, &s->shape.sizes, &f.value, &ignored) ||
        !expr_eval(expr, &doubled, &f.doubled, &ignored) || f.value < 1)
        return;
    for (unsigned i = 0; i < forms->nr; i++)
        if (forms->all[i].value == f.value && forms->all[i].doubled == f.doubled)
            return;
    forms->all[forms->nr++] = f;
}

static int by_value(const void *a, const void *b)
{
    const struct extent_form *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->doubled != y->doubled)
        return x->doubled < y->doubled ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Products of up to four sizes, of the block and grid dimensions of launches, and of small factors;
 * in rising order. */
static void make_forms(struct inference *s, struct forms *forms)
{
    const char *terms[MAX_TERMS + 1] = {"1"};
    unsigned nr = 1;

    forms->nr = 0;
    for (size_t i = 0; i < s->shape.sizes.nr && nr <= MAX_TERMS; i++) {
        bool extent = false;

        for (unsigned k = 0; k < s->nr_numbers; k++)
            extent |= s->numbers[k].kind == AN_EXTENT && s->numbers[k].at == i;
        if (!extent)
            terms[nr++] = s->shape.sizes.bindings[i].name;
    }
    for (unsigned i = 0; i < nr; i++)
        add_form(s, forms, terms[i]);
    for (unsigned i = 1; i < nr; i++)
        for (unsigned k = i + 1; k < nr; k++)
            add_form(s, forms, arena_printf(s->arena, "%s*%s", terms[i], terms[k]));
    for (unsigned i = 0; i < s->task.plan.nr_launches; i++) {
        const struct launch *l = &s->task.plan.launches[i];
        const char *x = expr_text(l->grid[0]), *y = expr_text(l->grid[1]);

        add_form(s, forms, x);
        add_form(s, forms, arena_printf(s->arena, "(%s)*(%s)", x, y));
        add_form(s, forms, arena_printf(s->arena, "(%s)*(%s)", x, expr_text(l->block[0])));
    }
    for (unsigned i = 1; i < nr; i++)
        for (unsigned k = i + 1; k < nr; k++)
            for (unsigned m = k + 1; m < nr; m++)
                add_form(
                    s, forms, arena_printf(s->arena, "%s*%s*%s", terms[i], terms[k], terms[m]));
    for (unsigned i = 1; i < nr; i++)
        add_form(s, forms, arena_printf(s->arena, "%s*%s", terms[i], terms[i]));
    for (unsigned i = 1; i < nr && nr <= 7; i++)
        for (unsigned k = i + 1; k < nr; k++)
            for (unsigned m = k + 1; m < nr; m++)
                for (unsigned n = m + 1; n < nr; n++)
                    add_form(s, forms,
                        arena_printf(
                            s->arena, "%s*%s*%s*%s", terms[i], terms[k], terms[m], terms[n]));
    for (unsigned i = 1; i < nr; i++)
        add_form(s, forms, arena_printf(s->arena, "%s + 1", terms[i]));
    for (unsigned f = 2; f <= 4; f++)
        for (unsigned i = 0; i < nr; i++)
            for (unsigned k = i; k < nr; k++)
                add_form(s, forms,
                    k == i ? arena_printf(s->arena, "%u*%s", f, terms[i])
                           : arena_printf(s->arena, "%u*%s*%s", f, terms[i], terms[k]));
    qsort(forms->all, forms->nr, sizeof(*forms->all), by_value);
}

/* Find the least of the values [from, to) that suffices for one extent, while the other extents
 * keep their values; *found == to: no value suffices. */
static bool least_enough(struct inference *s, const struct missing_number *n, const int64_t *values,
    unsigned from, unsigned to, unsigned *found, struct err *err)
{
    const int64_t enough = s->sizes[n->at].value;
    unsigned low = from, high = to;
    bool ok = true;

    while (ok && low < high) {
        const unsigned middle = low + (high - low) / 2;
        enum outcome outcome = CLEAN;

        s->sizes[n->at].value = values[middle];
        if (values[middle] < enough)
            ok = trial_run(s, &outcome, err);
        if (outcome == CLEAN)
            high = middle;
        else
            low = middle + 1;
    }
    s->sizes[n->at].value = low < to && values[low] < enough ? values[low] : enough;
    *found = low;
    return ok;
}

/* Where no form fits, bisect to the element between a value that is too small and a value that
 * suffices. */
static bool bisect(
    struct inference *s, const struct missing_number *n, int64_t little, struct err *err)
{
    int64_t enough = s->sizes[n->at].value;
    enum outcome outcome;

    while (enough - little > 1) {
        s->sizes[n->at].value = little + (enough - little) / 2;
        if (!trial_run(s, &outcome, err))
            return false;
        if (outcome == CLEAN)
            enough = s->sizes[n->at].value;
        else
            little = s->sizes[n->at].value;
    }
    s->sizes[n->at].value = enough;
    return true;
}

/* Find the least extent that suffices: the forms with that value, or else a plain number. */
static bool narrow(
    struct inference *s, struct missing_number *n, const struct forms *forms, struct err *err)
{
    int64_t *values = arena_array(s->arena, forms->nr + 1, sizeof(*values));
    const int64_t room = s->sizes[n->at].value;
    unsigned found;

    for (unsigned i = 0; i < forms->nr; i++)
        values[i] = forms->all[i].value;
    if (!least_enough(s, n, values, 0, forms->nr, &found, err))
        return false;
    n->first_form = n->end_form = found;
    if (found == forms->nr || values[found] > room)
        return bisect(s, n, found > 0 ? values[found - 1] : 0, err);
    while (n->end_form < forms->nr && values[n->end_form] == values[found])
        n->end_form++;
    return true;
}

/* Of the forms that fit an extent, take the form that also fits at doubled sizes. Where the
 * original does not run at doubled sizes, take the simplest form. */
static bool tell_apart(struct inference *s, const struct forms *forms, struct err *err)
{
    struct binding *before = s->sizes;
    int64_t *values = arena_array(s->arena, forms->nr + 1, sizeof(*values));
    enum outcome outcome;
    unsigned found;
    bool ok;

    for (unsigned i = 0; i < s->nr_numbers; i++) {
        struct missing_number *n = &s->numbers[i];

        n->form = NULL;
        for (unsigned f = n->first_form; f < n->end_form; f++)
            if (!n->form || forms->all[f].rank < n->rank) {
                n->form = forms->all[f].text;
                n->rank = forms->all[f].rank;
            }
        if (n->kind == AN_EXTENT)
            forms->doubled[n->at].value = LAST_ROOM;
    }
    for (unsigned i = 0; i < forms->nr; i++)
        values[i] = forms->all[i].doubled;
    s->sizes = forms->doubled;
    s->shape.sizes.bindings = forms->doubled;
    ok = trial_run(s, &outcome, err);
    for (unsigned i = 0; ok && outcome == CLEAN && i < s->nr_numbers; i++) {
        struct missing_number *n = &s->numbers[i];

        if (n->first_form == n->end_form)
            continue;
        ok = least_enough(s, n, values, n->first_form, n->end_form, &found, err);
        n->form = found < n->end_form ? forms->all[found].text : NULL;
    }
    s->sizes = before;
    s->shape.sizes.bindings = before;
    return ok;
}

/* Double the sizes as long as the original runs and the trial is cheap: a kernel that is optimised
 * should not be tiny. A form that holds at the first sizes but not at the doubled ones becomes a
 * number. */
static bool enlarge(struct inference *s, struct err *err)
{
    struct binding *now = s->sizes;
    struct binding *next = arena_array(s->arena, s->shape.sizes.nr + 1, sizeof(*next));
    enum outcome outcome = CLEAN;
    bool ok = true, forms = true, sizes = false;
    const char *before = s->why;

    for (unsigned i = 0; i < s->nr_numbers; i++) {
        forms &= s->numbers[i].kind != AN_EXTENT || s->numbers[i].form;
        sizes |= s->numbers[i].kind == A_SIZE;
    }
    while (ok && forms && sizes && outcome == CLEAN) {
        const uint64_t insts = s->insts;

        double_sizes(s, next);
        s->sizes = next;
        s->shape.sizes.bindings = next;
        ok = trial_run(s, &outcome, err);
        for (unsigned i = 0; outcome == STRAY && i < s->nr_numbers; i++)
            s->numbers[i].form = NULL;
        if (outcome == CLEAN && task_elems(&s->task, &s->shape.sizes) <= ENLARGED_ELEMS) {
            next = now;
            now = s->sizes;
        } else {
            outcome = UNCLEAN;
        }
        if (s->insts - insts > enlarged_insts)
            break;
    }
    s->sizes = now;
    s->shape.sizes.bindings = now;
    s->why = before;
    return ok;
}

bool infer_extents(struct inference *s, struct err *err)
{
    struct forms *forms = arena_alloc(s->arena, sizeof(*forms));

    for (unsigned i = 0; i < s->nr_numbers; i++) {
        s->numbers[i].form = NULL;
        s->numbers[i].widened = false;
        s->numbers[i].first_form = s->numbers[i].end_form = 0;
    }
    forms->doubled = arena_array(s->arena, s->shape.sizes.nr + 1, sizeof(*forms->doubled));
    double_sizes(s, forms->doubled);
    make_forms(s, forms);
    for (unsigned i = 0; i < s->nr_numbers; i++)
        if (s->numbers[i].kind == AN_EXTENT && !narrow(s, &s->numbers[i], forms, err))
            return false;
    return (nr_extents(s) == 0 || tell_apart(s, forms, err)) && enlarge(s, err);
}
