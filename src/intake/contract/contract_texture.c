/* Owns textures as arguments: what a kernel fetches through them, and how host code made them. */
#include "intake/contract/contract_builder.h"
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <string.h>

/* tex2D<float>(t, x, y): how texels are addressed, and as which type one is read. */
struct fetch {
    unsigned nr_dims; /* layers and faces count as one */
    bool layered, cube;
    const char *type;
};

/* The array with the texels, as the contract has it. */
struct texel_array {
    const char *name, *type, *size[3];
    unsigned nr, line;
};

static bool read_fetch_name(const char *name, struct fetch *fetch)
{
    static const struct {
        const char *head;
        unsigned nr_dims;
    } heads[] = {{"tex1D", 1}, {"tex2D", 2}, {"tex3D", 3}, {"texCubemap", 3}};

    for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
        if (str_starts(name, heads[i].head)) {
            fetch->layered = strstr(name, "Layered") != NULL;
            fetch->cube = heads[i].head[3] == 'C';
            fetch->nr_dims = heads[i].nr_dims + (fetch->layered && !fetch->cube);
            return true;
        }
    return false;
}

/* Finds the first fetch of fn through that parameter (NULL: through any). */
static bool fetch_in(
    const struct contract_builder *b, const struct decl *fn, const char *param, struct fetch *fetch)
{
    const struct toks *toks = b->resolver->toks;

    for (unsigned i = fn->body; i + 2 < fn->to; i++) {
        const unsigned close = tok_is(&toks->tok[i + 1], "<") ? toks_angle(toks, i + 1, fn->to) : 0;

        if (!close || !tok_is(&toks->tok[close + 1], "(") ||
            !read_fetch_name(toks->tok[i].text, fetch) ||
            (param && !tok_is(&toks->tok[close + 2], param)))
            continue;
        fetch->type = toks_text(toks, b->arena, i + 2, close);
        return true;
    }
    return false;
}

static bool find_fetch(const struct launching *l, const char *param, struct fetch *fetch)
{
    const struct decls *decls = l->b->resolver->decls;

    if (fetch_in(l->b, l->kernel, param, fetch))
        return true;
    for (unsigned i = 0; i < decls->nr; i++) {
        const struct decl *d = &decls->decl[i];

        if (d->kind == DECL_FUNCTION && d->keep && d->body && d->is_device && !d->is_kernel &&
            fetch_in(l->b, d, NULL, fetch))
            return true;
    }
    return false;
}

/* What stands at a path such as "settings.readMode" in what cudaCreateTextureObject got; UNKNOWN:
 * it was not set. */
static struct interp_value set_value(
    struct contract_builder *b, const struct interp_value *tex, const char *path)
{
    struct interp_value v = *tex;

    for (size_t nr; *path; path += nr + (path[nr] == '.')) {
        nr = strcspn(path, ".");
        if (v.kind != VALUE_OBJECT)
            return (struct interp_value){0};
        v = interp_field(b->interp, v.object, arena_strndup(b->arena, path, nr))->v;
    }
    return v;
}

static bool is_set_to(
    struct contract_builder *b, const struct interp_value *tex, const char *path, int64_t value)
{
    const struct interp_value v = set_value(b, tex, path);

    return v.kind == VALUE_INT && v.i == value;
}

/* The settings as text; numbers are those of CUDA's enumerations. */
static const char *settings_text(
    struct contract_builder *b, const struct interp_value *tex, bool *floats)
{
    const struct interp_value coords = set_value(b, tex, "settings.normalizedCoords"),
                              modes = set_value(b, tex, "settings.addressMode");
    const struct interp_value mode =
        modes.kind == VALUE_MEMORY ? interp_cell(modes.memory, 0) : interp_int(0);
    const bool normalized = coords.kind == VALUE_INT && coords.i != 0;

    *floats = is_set_to(b, tex, "settings.readMode", 1);
    return arena_printf(b->arena, "%s%s%s%s",
        is_set_to(b, tex, "settings.filterMode", 1) ? ", linear" : "",
        normalized ? ", normalized" : "",
        mode.i == 3                 ? ", border"
        : normalized && mode.i == 0 ? ", wrap"
        : normalized && mode.i == 2 ? ", mirror"
                                    : "",
        *floats ? ", floats" : "");
}

/* Reads what the texture was made of: a CUDA array, or pitched memory, which is read as a dense
 * array: kernels cannot tell it from one with a pitch. */
static void read_resource(
    struct contract_builder *b, const struct interp_value *tex, struct texel_array *texels)
{
    static const char *const paths[] = {"resource.res.array.array", "resource.res.pitch2D.devPtr"};
    struct interp_value sizes[3] = {{0}};

    for (unsigned i = 0; i < ARRAY_SIZE(paths); i++) {
        const struct interp_value v = set_value(b, tex, paths[i]);

        if (v.kind != VALUE_MEMORY)
            continue;
        texels->name = v.memory->name ? v.memory->name : texels->name;
        texels->line = v.memory->line;
        if (i == 0 && v.memory->texels) {
            texels->type = v.memory->texels->type;
            memcpy(sizes, v.memory->texels->size, sizeof(sizes));
        } else if (i == 1) {
            sizes[0] = set_value(b, tex, "resource.res.pitch2D.width");
            sizes[1] = set_value(b, tex, "resource.res.pitch2D.height");
        }
        for (unsigned d = 0; d < 3 && !(sizes[d].kind == VALUE_INT && sizes[d].i == 0); d++)
            if ((texels->size[texels->nr] = contract_text(b, &sizes[d], false)) != NULL)
                texels->nr++;
        return;
    }
}

const char *contract_texture(struct launching *l, unsigned i, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct interp_value *tex = &l->seen->args[i];
    struct param texel = l->params[i];
    struct texel_array texels = {.name = texel.name, .line = l->site->line};
    struct fetch fetch = {0};
    static const char *const names[] = {"width", "height", "depth"};
    struct array *a = NULL;
    bool floats;

    if (!find_fetch(l, texel.name, &fetch))
        return "no fetch through it was found";
    const char *settings = settings_text(b, tex, &floats);

    texel.type = resolver_type(b->resolver, fetch.type, l->kernel->body);
    texel.is_pointer = texel.reads = true;
    const struct interp_value linear = set_value(b, tex, "resource.res.linear.devPtr");

    if (fetch.nr_dims == 1) /* the memory behind a pointer, which may be another argument too */
        a = contract_array(b, &texel, &linear, NULL);
    if (a) {
        texels.nr = a->extent != NULL;
        texels.size[0] = a->extent;
    } else {
        read_resource(b, tex, &texels);
    }
    if (fetch.cube && texels.nr == 2)
        texels.size[texels.nr++] = "6";
    for (; texels.nr < fetch.nr_dims; texels.nr++)
        texels.size[texels.nr] = resolver_unknown(b->resolver,
            arena_printf(b->arena, "%s_%s", texel.name, names[texels.nr]), texels.line);
    if (texels.nr != fetch.nr_dims)
        return "it has other extents than the fetches through it";
    for (unsigned d = 0; d < texels.nr && !a; d++)
        if (!texels.size[d])
            return "there are too many sizes";
    if (floats && !texels.type)
        texels.type = strpbrk(texel.type, "4") ? "uchar4" : "unsigned char";
    a = a ? a
          : contract_texel_array(b, texels.name, texels.type ? texels.type : texel.type,
                texels.size, texels.nr, texels.line);
    if (!a)
        return "there are too many arrays";
    contract_use_array(a, &texel, b->nr_launches);
    str_addf(args, "texture(%s", a->id);
    for (unsigned d = 0; d < texels.nr; d++)
        str_addf(args, ", %s", texels.size[d] ? texels.size[d] : "1");
    str_addf(
        args, "%s%s%s)", settings, fetch.layered ? ", layered" : "", fetch.cube ? ", cube" : "");
    return NULL;
}
