/* Owns CUDA arrays and texture objects in the interpreter: what they are made of. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* The type of cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned). NULL: there is
 * none. */
static const char *channel_type(struct interp *ip, const struct interp_operand *args)
{
    static const char *const names[3][3] = {
        {"char", "short", "int"}, {"uchar", "ushort", "uint"}, {NULL, NULL, "float"}};
    const int64_t kind = args[4].v.i, bits = args[0].v.i;
    const unsigned size = bits == 8 ? 0 : bits == 16 ? 1 : 2;
    unsigned lanes = 0;

    for (unsigned c = 0; c < 4; c++)
        lanes += args[c].v.kind == VALUE_INT && args[c].v.i > 0;
    if (args[4].v.kind != VALUE_INT || kind < 0 || kind > 2 || lanes == 0)
        return NULL;
    return lanes > 1 && names[kind][size]
               ? arena_printf(ip->arena, "%s%u", names[kind][size], lanes)
               : names[kind][size];
}

static struct interp_value pointed(const struct interp_value *v)
{
    return v->kind == VALUE_ADDRESS ? v->slot->v : *v;
}

/* cudaMallocArray(&array, &desc, width, height), cudaMalloc3DArray(&array, &desc, extent) */
static void make_array(
    struct interp *ip, bool deep, const struct interp_operand *args, unsigned nr_args)
{
    static const char *const names[] = {"width", "height", "depth"};
    struct memory *m = interp_memory(ip, -1, true);
    const struct interp_value desc = pointed(&args[1].v);

    m->texels = arena_alloc(ip->arena, sizeof(*m->texels));
    m->texels->type = desc.kind == VALUE_TEXT ? desc.text : NULL;
    for (unsigned d = 0; d < 3; d++)
        if (deep && args[2].v.kind == VALUE_OBJECT)
            m->texels->size[d] = interp_field(ip, args[2].v.object, names[d])->v;
        else
            m->texels->size[d] = !deep && d < 2 && d + 2 < nr_args ? args[d + 2].v : interp_int(0);
    m->name = args[0].v.slot->path ? args[0].v.slot->path : args[0].v.slot->name;
    args[0].v.slot->v = interp_pointer(m, NULL, 0);
}

bool interp_texture_call(struct interp *ip, const char *name, const struct interp_operand *args,
    unsigned nr, const struct type *type, struct interp_value *out)
{
    static const char *const parts[] = {"resource", "settings"}, *const dims[] = {
                                                                     "width", "height", "depth"};
    const bool deep = strcmp(name, "cudaMalloc3DArray") == 0;

    if (strcmp(name, "cudaCreateChannelDesc") == 0) {
        const char *text = type ? type->text : nr == 5 ? channel_type(ip, args) : NULL;

        if (text)
            *out = (struct interp_value){.kind = VALUE_TEXT, .text = text};
    } else if (strcmp(name, "make_cudaExtent") == 0 && nr == 3) {
        *out = interp_object(ip, NULL);
        for (unsigned d = 0; d < 3; d++)
            interp_field(ip, out->object, dims[d])->v = args[d].v;
    } else if ((deep || strcmp(name, "cudaMallocArray") == 0) && nr >= 3 &&
               args[0].v.kind == VALUE_ADDRESS) {
        make_array(ip, deep, args, nr);
        *out = interp_int(0);
    } else if (strcmp(name, "cudaCreateTextureObject") == 0 && nr >= 3 &&
               args[0].v.kind == VALUE_ADDRESS) {
        const struct interp_value tex = interp_object(ip, NULL);

        for (unsigned p = 0; p < 2; p++) {
            const struct interp_value part = pointed(&args[p + 1].v);

            interp_field(ip, tex.object, parts[p])->v = interp_copy(ip, part);
        }
        args[0].v.slot->v = tex;
        *out = interp_int(0);
    } else {
        return false;
    }
    return true;
}
