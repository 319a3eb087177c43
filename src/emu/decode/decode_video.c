/* Owns the decoding of video instructions: parts of registers and modifiers become inst->imm, see
 * video.h. */
#include "emu/decode/decode.h"
#include "emu/state/video.h"

/* What ptx/ops.def says of video instructions. */
struct video_row {
    enum video what;
    unsigned parts; /* 1: scalar */
};
#define NO                                                                                         \
    {                                                                                              \
        VIDEO_ADD, 0                                                                               \
    }
#define VIDEO(what, parts)                                                                         \
    {                                                                                              \
        VIDEO_##what, parts                                                                        \
    }
#define BY_TYPE(...) NO
#define LOOP(name) NO
#define TOGETHER(name) NO
#define NO_LOOP NO
static const struct video_row rows[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
};

static uint64_t part_code(const struct ptx_part *part)
{
    return part->unit == 'b' ? 1u + part->digit[0] : part->unit == 'h' ? 5u + part->digit[0] : 0;
}

/* For each part of an operand, which of the parts of a and then b it is; digits are written from
 * the highest part down. */
static uint64_t picks(const struct ptx_part *part, unsigned nr, unsigned first)
{
    uint64_t code = 0;
    for (unsigned i = 0; i < nr; i++)
        code |= (uint64_t)(part->unit ? part->digit[nr - 1 - i] : first + i) << 3 * i;
    return code;
}

static uint64_t mask_of(const struct ptx_part *part, unsigned nr)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < part->nr; i++)
        mask |= UINT64_C(1) << part->digit[i];
    return part->unit ? mask : (UINT64_C(1) << nr) - 1;
}

static uint64_t second(enum ptx_atom atom)
{
    return atom == PTX_ATOM_ADD   ? VIDEO_THEN_ADD
           : atom == PTX_ATOM_MIN ? VIDEO_THEN_MIN
           : atom == PTX_ATOM_MAX ? VIDEO_THEN_MAX
                                  : VIDEO_THEN_NOTHING;
}

static uint64_t encode(const struct ptx_inst *p, const struct video_row *op)
{
    const struct ptx_operand *o = p->operand;
    /* vset names the types of a and b only; its result, 0 or 1, meets c as of a's type on an H100
     */
    const bool set = op->what == VIDEO_SET;
    const enum ptx_type a = set ? p->type : p->type2, b = set ? p->type2 : p->type3;
    uint64_t code = (ptx_type_is_signed(a) ? VIDEO_SIGNED_A : 0) |
                    (ptx_type_is_signed(b) ? VIDEO_SIGNED_B : 0) |
                    (ptx_type_is_signed(p->type) ? VIDEO_SIGNED_D : 0) |
                    (p->po ? VIDEO_PLUS_ONE : 0) |
                    (o[1].negated != o[2].negated ? VIDEO_MINUS_PRODUCT : 0) |
                    (p->nr_operands > 3 && o[3].negated ? VIDEO_MINUS_C : 0);
    code |= second(p->atom) << VIDEO_SECOND | (uint64_t)p->cmp << VIDEO_CMP |
            (uint64_t)p->wrap << VIDEO_WRAP;
    code |= (uint64_t)(p->shr7 ? 7 : p->shr15 ? 15 : 0) << VIDEO_SCALE;
    if (op->parts == 1)
        return code | part_code(&o[1].part) << VIDEO_A | part_code(&o[2].part) << VIDEO_B |
               part_code(&o[0].part) << VIDEO_TO;
    return code | picks(&o[1].part, op->parts, 0) << VIDEO_PICK_A |
           picks(&o[2].part, op->parts, op->parts) << VIDEO_PICK_B |
           mask_of(&o[0].part, op->parts) << VIDEO_MASK;
}

bool decode_video(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const struct video_row *op = &rows[p->op];
    uint32_t source[3];
    for (unsigned i = 0; i < 3; i++) {
        struct ptx_operand o = {.kind = PTX_OPERAND_IMM};
        if (i + 1 < p->nr_operands)
            o = p->operand[1 + i];
        o.negated = false;
        source[i] = decode_source(d, &o, 4);
    }
    const uint32_t dest = decode_dest(d, &p->operand[0], 4, false);
    struct inst *in = decode_emit(d, false);
    in->d = dest;
    in->a = source[0], in->b = source[1], in->c = source[2];
    in->flags |= p->sat ? INST_SAT : 0;
    in->sub = (uint8_t)op->what;
    in->elem_bytes = (uint8_t)(4 / op->parts);
    in->imm = (int64_t)encode(p, op);
    return decode_run(d, in, p);
}
