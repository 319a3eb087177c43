/* Owns reading texture(x, width, height, linear, ...) of a launch. */
#include "core/task_read.h"

#include <string.h>

/* A word about the way texels are read. False: it is another word. */
static bool read_word(struct texture_view *view, const char *word)
{
    static const char *const modes[] = {"wrap", "clamp", "mirror", "border"}; /* as the enum */

    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(word, modes[i]) == 0) {
            view->mode = (enum texture_mode)i;
            return true;
        }
    if (strcmp(word, "linear") == 0)
        return view->linear = true;
    if (strcmp(word, "normalized") == 0)
        return view->normalized = true;
    if (strcmp(word, "floats") == 0)
        return view->floats = true;
    if (strcmp(word, "layered") == 0)
        return view->layered = true;
    if (strcmp(word, "cube") == 0)
        return view->cube = true;
    return false;
}

static bool is_word(const struct cursor *c)
{
    for (const char *p = c->p; p < c->end; p++)
        if (*p < 'a' || *p > 'z')
            return false;
    return c->p < c->end;
}

static bool read_item(struct task_reader *r, struct cursor *c, struct texture_view *view)
{
    if (is_word(c) && read_word(view, arena_strndup(r->arena, c->p, (size_t)(c->end - c->p))))
        return true;
    if (view->nr_dims == 3)
        return cursor_fail(c, c->p,
            "more than three extents of a texture; expected linear, normalized, wrap, clamp, "
            "mirror, border, floats, layered or cube");
    return cursor_expr(c, &r->plan_env, &view->size[view->nr_dims++]);
}

bool reader_texture(struct task_reader *r, struct cursor *c, struct launch_arg *arg, bool *is)
{
    struct cursor all = *c, list, item;
    const char *name, *at;

    *is = false;
    if (!cursor_take(&all, "texture") || !cursor_take(&all, "("))
        return true;
    *is = true;
    struct texture_view *view = arena_alloc(r->arena, sizeof(*view));

    *view = (struct texture_view){
        .mode = TEXTURE_CLAMP, .written = arena_strndup(r->arena, c->p, (size_t)(c->end - c->p))};
    list = cursor_until(&all, ")");
    cursor_skip(&list);
    at = list.p;
    if (!cursor_name(&list, &name, "the array with the texels"))
        return false;
    const struct task_array *array = task_find_array(r->contract, r->plan, name);

    if (!array || array->record)
        return cursor_fail(
            &list, at, "'%s' is no array of numbers; expected one that is declared", name);
    while (cursor_take(&list, ",")) {
        cursor_skip(&list);
        item = cursor_until(&list, ",");
        if (!read_item(r, &item, view))
            return false;
    }
    if (view->nr_dims == 0)
        return cursor_fail(
            &list, list.p, "a texture without a width; expected texture(x, width, ...)");
    *arg = (struct launch_arg){.kind = ARG_TEXTURE, .name = array->name, .texture = view};
    return cursor_end(&list, "the texture") && cursor_expect(&all, ")", "an open parenthesis") &&
           cursor_end(&all, "the texture");
}
