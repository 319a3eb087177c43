/* Owns the decoding of texture fetches, surface accesses and questions about both: operands to
 * rows. */
#include "emu/decode/decode.h"
#include "emu/exec/texture.h"

#include <string.h>

/* How many coordinates a geometry takes, the layer first; a vector of three has an unused fourth
 * element (PTX ISA, tex). 0: the emulator does not know the geometry. */
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
    case PTX_GEOM_CUBE:
        return 3;
    case PTX_GEOM_ACUBE:
        return 4;
    default:
        return 0;
    }
}

static bool vector_rows(struct decoder *d, const struct ptx_operand *o, unsigned nr, unsigned bytes,
    bool dest, uint32_t *rows)
{
    const struct ptx_operand *vec = o->kind == PTX_OPERAND_VECTOR ? o->vec : o;
    unsigned have = o->kind == PTX_OPERAND_VECTOR ? o->nr : 1;

    if (have < nr)
        return decode_fail(d, "a vector of this shape");
    for (unsigned i = 0; i < nr; i++) {
        if (!dest)
            rows[i] = decode_source(d, &vec[i], bytes);
        else if (decode_is_sink(&vec[i]))
            rows[i] = NO_ROW;
        else if ((decode_reg_bytes(d, &vec[i]) > 4) != (bytes == 8))
            return decode_fail(d, "a texel in a register of another width");
        else
            rows[i] = d->f->reg_offset[vec[i].reg];
    }
    return true;
}

/* Reads what may follow the address of a fetch: a level or two steps, then an offset. */
static bool fetch_operands(struct decoder *d, struct texture_inst *t, unsigned at)
{
    const struct ptx_inst *p = d->ptx;
    const bool cube = t->geom == PTX_GEOM_CUBE || t->geom == PTX_GEOM_ACUBE;
    const unsigned nr = t->nr_coordinates - texture_layered(t->geom);

    if (p->sub == PTX_SUB_LEVEL && at < p->nr_operands)
        t->level = decode_source(d, &p->operand[at++], 4);
    if (p->sub == PTX_SUB_GRAD &&
        (at + 2 > p->nr_operands || !vector_rows(d, &p->operand[at], nr, 4, false, t->dx) ||
            !vector_rows(d, &p->operand[at + 1], nr, 4, false, t->dy)))
        return decode_fail(d, "the steps of a gradient are missing");
    at += p->sub == PTX_SUB_GRAD ? 2 : 0;
    if (at < p->nr_operands && p->operand[at].kind == PTX_OPERAND_VECTOR) {
        if (cube)
            return decode_fail(d, "an offset in a cube map");
        if (!vector_rows(d, &p->operand[at++], nr, 4, false, t->offset))
            return false;
    }
    return at == p->nr_operands || decode_fail(d, "a comparison of depths");
}

/* "r", "g", "b", "a" of tld4 */
static unsigned component(char letter)
{
    static const char letters[] = "rgba";
    const char *at = strchr(letters, letter);
    return at && *at ? (unsigned)(at - letters) : 0;
}

static bool known(struct decoder *d, const struct texture_inst *t)
{
    const struct ptx_inst *p = d->ptx;
    const bool cube = t->geom == PTX_GEOM_CUBE || t->geom == PTX_GEOM_ACUBE,
               flat = t->geom == PTX_GEOM_2D || t->geom == PTX_GEOM_A2D;

    if (t->query)
        return t->query != PTX_QUERY_OTHER;
    if (t->nr_coordinates == 0 || t->nr_values > 4 || t->value_bytes > 8 || t->value_bytes == 0)
        return false;
    switch (p->op) {
    case PTX_OP_TEX:
        return p->type == PTX_F16X2
                   ? t->nr_values == 2
                   : t->nr_values == 4 && t->value_bytes <= 4 && (t->real_coordinates || !cube);
    case PTX_OP_TLD4:
        return t->nr_values == 4 && t->value_bytes == 4 && t->real_coordinates && (flat || cube);
    case PTX_OP_SURED:
        return !cube && !texture_layered(t->geom) &&
               (p->atom == PTX_ATOM_ADD || p->atom == PTX_ATOM_MIN || p->atom == PTX_ATOM_MAX ||
                   p->atom == PTX_ATOM_AND || p->atom == PTX_ATOM_OR);
    default:
        return !cube && (!t->formatted || (p->op == PTX_OP_SUST && t->value_bytes == 4));
    }
}

bool decode_texture(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const bool query = p->op == PTX_OP_TXQ || p->op == PTX_OP_SUQ,
               store = p->op == PTX_OP_SUST || p->op == PTX_OP_SURED,
               surface = store || p->op == PTX_OP_SULD;
    const unsigned at = store ? 0 : p->nr_dests;
    const struct ptx_operand *where = &p->operand[at], *value = &p->operand[store ? 1 : 0];
    struct texture_inst t;

    memset(&t, 0xff, sizeof(t)); /* rows: NO_ROW */
    t.op = p->op;
    t.geom = p->geom;
    t.sub = p->sub;
    t.query = p->query;
    t.type = p->type;
    t.atom = p->atom;
    t.nr_coordinates = query ? 0 : nr_coordinates(p->geom);
    t.nr_values = p->vec ? p->vec : 1;
    t.value_bytes = ptx_type_bytes(p->type);
    t.is_surface = surface;
    t.real_coordinates = p->type2 == PTX_F32;
    t.formatted = surface && p->frag == 'p';
    t.component = p->op == PTX_OP_TLD4 ? component(p->frag) : 0;
    if (!known(d, &t))
        return decode_unknown(d);
    if (where->kind != PTX_OPERAND_ADDRESS || where->reg < 0)
        return decode_fail(d, "a texture that is no object");
    struct ptx_operand handle = {.kind = PTX_OPERAND_REG, .reg = where->reg};
    struct ptx_operand coordinates = {
        .kind = PTX_OPERAND_VECTOR, .nr = where->nr, .vec = where->vec};

    t.handle = decode_source(d, &handle, 8);
    if (query && p->sub == PTX_SUB_LEVEL && p->nr_operands > at + 1)
        t.level = decode_source(d, &p->operand[at + 1], 4);
    else if (query && p->nr_operands != at + 1 + (p->sub == PTX_SUB_LEVEL))
        return decode_fail(d, "this number of operands");
    if (!vector_rows(d, &coordinates, t.nr_coordinates, 4, false, t.coordinate) ||
        !vector_rows(d, value, t.nr_values, t.value_bytes, !store, t.value) ||
        (!surface && !query && !fetch_operands(d, &t, at + 1)))
        return false;
    if (p->nr_dests > 1 && !decode_is_sink(&p->operand[1]))
        t.resident = decode_pred(d, &p->operand[1]);
    struct inst *in = decode_emit(d, false);

    in->kind = INST_TEXTURE;
    in->texture = decode_copy(d, &t, sizeof(t));
    decode_info(d)->class = PTX_CLASS_MEMORY; /* sured too */
    return true;
}
