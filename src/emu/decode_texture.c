/* Owns the decoding of texture fetches and surface accesses: operands to rows. */
#include "emu/decode.h"
#include "emu/texture.h"

/* Coordinates that a geometry takes; layers come first; a 3d or layered 2d vector has an unused
 * fourth (PTX ISA, tex). 0: not known here (cube maps). */
static unsigned nr_coordinates(enum ptx_geom geom)
{
    switch (geom) {
    case PTX_GEOM_1D:
        return 1;
    case PTX_GEOM_2D:
    case PTX_GEOM_A1D:
        return 2;
    case PTX_GEOM_3D:
    case PTX_GEOM_A2D:
        return 3;
    default:
        return 0;
    }
}

static bool vector_rows(
    struct decoder *d, const struct ptx_operand *o, unsigned nr, bool dest, uint32_t *rows)
{
    const struct ptx_operand *vec = o->kind == PTX_OPERAND_VECTOR ? o->vec : o;
    unsigned have = o->kind == PTX_OPERAND_VECTOR ? o->nr : 1;

    if (have < nr)
        return decode_fail(d, "a vector of this shape");
    for (unsigned i = 0; i < nr; i++) {
        bool sink =
            vec[i].kind == PTX_OPERAND_SINK || (vec[i].kind == PTX_OPERAND_REG && vec[i].reg < 0);

        if (!dest)
            rows[i] = decode_source(d, &vec[i], 4);
        else if (sink)
            rows[i] = NO_ROW;
        else if (decode_reg_bytes(d, &vec[i]) > 4)
            return decode_fail(d, "a texel in a 64-bit register");
        else
            rows[i] = d->f->reg_offset[vec[i].reg];
    }
    return true;
}

bool decode_texture(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    bool store = p->op == PTX_OP_SUST, surface = store || p->op == PTX_OP_SULD;
    const struct ptx_operand *where = &p->operand[store ? 0 : 1],
                             *value = &p->operand[store ? 1 : 0];
    struct texture_inst t = {.geom = p->geom,
        .sub = surface ? p->sub : PTX_SUB_NONE,
        .nr_coordinates = nr_coordinates(p->geom),
        .nr_values = p->vec ? p->vec : 1,
        .value_bytes = ptx_type_bytes(p->type),
        .is_store = store,
        .is_surface = surface,
        .real_coordinates = p->type2 == PTX_F32};

    if ((p->op != PTX_OP_TEX && !surface) || p->nr_dests > 1 || p->nr_operands > 2 ||
        t.nr_coordinates == 0 || t.nr_values > 4 || t.value_bytes > (surface ? 4 : 4))
        return decode_fail(d, "not known to the emulator");
    if (where->kind != PTX_OPERAND_ADDRESS || where->reg < 0)
        return decode_fail(d, "a texture that is no object");
    struct ptx_operand handle = {.kind = PTX_OPERAND_REG, .reg = where->reg};
    struct ptx_operand coordinates = {
        .kind = PTX_OPERAND_VECTOR, .nr = where->nr, .vec = where->vec};

    t.handle = decode_source(d, &handle, 8);
    if (!vector_rows(d, &coordinates, t.nr_coordinates, false, t.coordinate) ||
        !vector_rows(d, value, t.nr_values, !store, t.value))
        return false;
    struct inst *in = decode_emit(d, false);

    in->kind = INST_TEXTURE;
    in->texture = decode_copy(d, &t, sizeof(t));
    struct inst_info *info = decode_info(d);

    info->class = PTX_CLASS_MEMORY;
    info->unit = UNIT_LSU;
    info->latency = LATENCY_GLOBAL;
    return true;
}
