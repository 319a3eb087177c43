/* Owns textures as arguments: what a kernel fetches through them, and how host code made them. */
#include "intake/contract/contract_builder.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/syntax/spelling.h"

#include <stdlib.h>
#include <string.h>

/* tex2D<float>(t, x, y): how texels are addressed, and as which type one is read. */
struct fetch {
    unsigned nr_dims; /* layers and faces count as one */
    bool layered, cube;
    const char *type;
};

/* What host code says of a texture object. */
struct texture_making {
    struct tok_range resource,
        settings; /* the variables that cudaCreateTextureObject gets; empty: none */
    unsigned at;  /* the token of that call */
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

/* The last name of a range: tex of &tex, obj of &plan->obj; "": there is none. */
static const char *last_name(struct tok_range r)
{
    for (unsigned i = r.to; i-- > r.from;)
        if (r.toks->tok[i].kind == TOK_NAME)
            return r.toks->tok[i].text;
    return "";
}

/* The first call of a function whose first argument is the address of that name (NULL: of any), and
 * its *nr arguments. 0: there is none. */
static unsigned call_for(const struct contract_builder *b, const char *function, const char *name,
    struct tok_range args[5], unsigned *nr)
{
    const struct toks *toks = b->resolver->toks;

    for (unsigned i = toks_name(toks, function, 0); i + 1 < toks->nr;
         i = toks_again(toks, i, toks->nr)) {
        if (!tok_is(&toks->tok[i + 1], "(") || !toks->tok[i + 1].match)
            continue;
        *nr = tok_range_split((struct tok_range){toks, i + 2, toks->tok[i + 1].match}, args, 5);
        if (*nr >= 3 && (!name || strcmp(last_name(args[0]), name) == 0))
            return i;
    }
    return 0;
}

/* cudaCreateTextureObject(&tex, &resource, &settings, NULL): the call that names the argument;
 * where none does, the first one of the file. */
static struct texture_making find_making(const struct contract_builder *b, struct tok_range arg)
{
    static const char create[] = "cudaCreateTextureObject";
    struct tok_range args[5];
    unsigned nr, at = call_for(b, create, last_name(arg), args, &nr);

    if (!at)
        at = call_for(b, create, NULL, args, &nr);
    return at ? (struct texture_making){args[1], args[2], at} : (struct texture_making){0};
}

/* Finds desc.field = value or desc.res.array.array = value: the last one before the object is
 * made. */
static bool assigned(const struct texture_making *m, struct tok_range object, const char *field,
    struct tok_range *value)
{
    const struct toks *toks = object.toks;
    const char *name = toks ? last_name(object) : "";
    bool found = false;

    for (unsigned i = toks ? toks_name(toks, name, 0) : m->at; i < m->at && *name;
         i = toks_again(toks, i, m->at)) {
        unsigned end = i + 1;

        while (tok_is(&toks->tok[end], ".") && toks->tok[end + 1].kind == TOK_NAME)
            end += 2;
        if (end == i + 1 || !tok_is(&toks->tok[end - 1], field))
            continue;
        if (tok_is(&toks->tok[end], "[") && toks->tok[end].match)
            end = toks->tok[end].match + 1;
        if (!tok_is(&toks->tok[end], "="))
            continue;
        *value = (struct tok_range){toks, end + 1, toks_find(toks, end + 1, toks->nr, ";")};
        found = true;
    }
    return found;
}

static bool is_set_to(const struct texture_making *m, const char *field, const char *word)
{
    struct tok_range value;

    return assigned(m, m->settings, field, &value) && strcmp(last_name(value), word) == 0;
}

static const char *settings_text(
    struct contract_builder *b, const struct texture_making *m, bool *floats)
{
    struct tok_range value;
    const bool normalized = assigned(m, m->settings, "normalizedCoords", &value) &&
                            value.from < value.to &&
                            !tok_is(&value.toks->tok[value.from], "false") &&
                            !tok_is(&value.toks->tok[value.from], "0");
    const bool has_mode = assigned(m, m->settings, "addressMode", &value);
    const char *mode = has_mode ? last_name(value) : "cudaAddressModeWrap"; /* which is 0 */

    *floats = is_set_to(m, "readMode", "cudaReadModeNormalizedFloat");
    return arena_printf(b->arena, "%s%s%s%s",
        is_set_to(m, "filterMode", "cudaFilterModeLinear") ? ", linear" : "",
        normalized ? ", normalized" : "",
        strcmp(mode, "cudaAddressModeBorder") == 0                 ? ", border"
        : normalized && strcmp(mode, "cudaAddressModeWrap") == 0   ? ", wrap"
        : normalized && strcmp(mode, "cudaAddressModeMirror") == 0 ? ", mirror"
                                                                   : "",
        *floats ? ", floats" : "");
}

/* The type of cudaCreateChannelDesc<uchar4>() or cudaCreateChannelDesc(8, 8, 8, 8,
 * cudaChannelFormatKindUnsigned). NULL: arg is neither. */
static const char *channel_type(struct contract_builder *b, struct tok_range r)
{
    static const char *const kinds[] = {"Unsigned", "Signed", "Float"};
    static const char *const names[3][3] = {
        {"uchar", "ushort", "uint"}, {"char", "short", "int"}, {NULL, NULL, "float"}};
    unsigned i = toks_find(r.toks, r.from, r.to, "cudaCreateChannelDesc"), lanes = 0;
    int64_t bits = 0, one;
    struct tok_range args[5];

    if (i + 1 >= r.to)
        return NULL;
    if (tok_is(&r.toks->tok[i + 1], "<"))
        return toks_text(r.toks, b->arena, i + 2, toks_angle(r.toks, i + 1, r.to));
    if (!r.toks->tok[i + 1].match ||
        tok_range_split((struct tok_range){r.toks, i + 2, r.toks->tok[i + 1].match}, args, 5) != 5)
        return NULL;
    for (unsigned c = 0; c < 4; c++)
        if (resolver_constant(b->resolver, args[c], i, &one) && one > 0) {
            bits = one;
            lanes++;
        }
    for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++) {
        const char *name = bits == 8    ? names[k][0]
                           : bits == 16 ? names[k][1]
                           : bits == 32 ? names[k][2]
                                        : NULL;

        if (!name || !str_ends(last_name(args[4]), kinds[k]))
            continue;
        if (lanes > 1)
            return arena_printf(b->arena, "%s%u", name, lanes);
        return k > 0 || bits == 32 ? (k == 0 ? "unsigned int" : name)
                                   : arena_printf(b->arena, "unsigned %s", name + 1);
    }
    return NULL;
}

/* Adds an extent as text over sizes. An extent that the file does not give becomes a missing
 * size. */
static bool add_extent(
    struct contract_builder *b, struct tok_range r, unsigned at, const char *texts[3], unsigned *nr)
{
    struct str text = {0};
    const bool ok = r.from < r.to && resolver_integer(b->resolver, r, at, &text);

    if (ok && strcmp(str_text(&text), "0") != 0)
        texts[(*nr)++] = spelling_tidy(b->arena, str_text(&text));
    str_finish(&text);
    return ok;
}

/* The call make_cudaExtent(w, h, d), also where a variable was set by it. */
static struct tok_range extent_call(struct contract_builder *b, struct tok_range r, unsigned *at)
{
    struct tok_range value = r;

    if (r.to == r.from + 1)
        resolver_definition(b->resolver, r.toks->tok[r.from].text, *at, &value, at);
    const unsigned i = toks_find(value.toks, value.from, value.to, "make_cudaExtent");

    return i + 1 < value.to && value.toks->tok[i + 1].match
               ? (struct tok_range){value.toks, i + 2, value.toks->tok[i + 1].match}
               : (struct tok_range){value.toks, 0, 0};
}

/* The CUDA array with the texels, and its extents. */
struct texels {
    const char *name, *type, *size[3];
    unsigned nr, line;
};

static void read_array(
    struct contract_builder *b, const struct texture_making *m, struct texels *texels)
{
    struct tok_range value, args[5], desc;
    unsigned nr, where;

    if (!assigned(m, m->resource, "array", &value))
        return;
    const char *name = last_name(value);
    unsigned at = call_for(b, "cudaMallocArray", name, args, &nr);
    const bool deep = !at && (at = call_for(b, "cudaMalloc3DArray", name, args, &nr)) != 0;

    if (!at)
        return;
    texels->name = name;
    texels->line = b->resolver->toks->tok[at].line;
    if (resolver_definition(b->resolver, last_name(args[1]), at, &desc, &where))
        texels->type = channel_type(b, desc);
    if (deep) {
        unsigned from = at;
        const struct tok_range list = extent_call(b, args[2], &from);

        nr = 2 + tok_range_split(list, args + 2, 3);
        at = from;
    }
    for (unsigned d = 2; d < nr && d < (deep ? 5 : 4); d++) /* then flags */
        if (!add_extent(b, args[d], at, texels->size, &texels->nr))
            break;
}

/* pitch2D: read as a dense array, which kernels cannot tell from one with a pitch. */
static void read_pitched(
    struct contract_builder *b, const struct texture_making *m, struct texels *texels)
{
    struct tok_range pointer, width, height;

    if (!assigned(m, m->resource, "devPtr", &pointer) ||
        !assigned(m, m->resource, "width", &width) || !assigned(m, m->resource, "height", &height))
        return;
    texels->name = last_name(pointer);
    texels->line = pointer.toks->tok[pointer.from].line;
    if (add_extent(b, width, m->at, texels->size, &texels->nr))
        add_extent(b, height, m->at, texels->size, &texels->nr);
}

/* linear: the array behind a pointer, which may be another argument too. */
static struct array *linear_array(
    struct launching *l, const struct param *p, const struct texture_making *m)
{
    struct tok_range pointer, bytes;

    if (!assigned(m, m->resource, "devPtr", &pointer) ||
        !assigned(m, m->resource, "sizeInBytes", &bytes))
        return NULL;
    return contract_array(l->b, p, pointer, m->at, NULL);
}

const char *contract_texture(struct launching *l, unsigned i, struct str *args)
{
    struct contract_builder *b = l->b;
    const struct tok_range arg = l->site->args[i];
    const struct texture_making m = find_making(b, arg);
    struct param texel = l->params[i];
    struct texels texels = {.name = texel.name, .line = l->site->line};
    struct fetch fetch = {0};
    static const char *const names[] = {"width", "height", "depth"};
    struct array *a = NULL;
    bool floats;

    if (!find_fetch(l, texel.name, &fetch))
        return "no fetch through it was found";
    const char *settings = settings_text(b, &m, &floats);

    texel.type = resolver_type(b->resolver, fetch.type, l->kernel->body);
    texel.is_pointer = texel.reads = true;
    if (fetch.nr_dims == 1)
        a = linear_array(l, &texel, &m);
    if (a) {
        texels.nr = a->extent != NULL;
        texels.size[0] = a->extent;
    } else {
        read_array(b, &m, &texels);
        if (!texels.nr)
            read_pitched(b, &m, &texels);
    }
    if (fetch.cube && texels.nr == 2)
        texels.size[texels.nr++] = "6";
    for (; texels.nr < fetch.nr_dims; texels.nr++)
        texels.size[texels.nr] = resolver_unknown(b->resolver,
            arena_printf(b->arena, "%s_%s", texel.name, names[texels.nr]), texels.line);
    if (texels.nr != fetch.nr_dims)
        return "it has other extents than the fetches through it";
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
