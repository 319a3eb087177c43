/* Owns the way from an operation's row in ptx/ops.def to the function that picks its loop. */
#include "emu/sem/lanes.h"

static sem_fn *by_type(const struct ptx_inst *p, struct inst *in)
{
    switch (p->type) {
    case PTX_F32:
    case PTX_F64:
        return LANES(sem_float)(p, in);
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
        return LANES(sem_half)(p, in);
    case PTX_U16X2:
    case PTX_S16X2:
        return LANES(sem_pairs)(p, in);
    case PTX_PRED:
        return LANES(sem_pred)(p, in);
    default:
        return LANES(sem_int)(p, in);
    }
}

sem_fn *LANES(sem_find)(const struct ptx_inst *p, struct inst *in)
{
#undef LOOP
#undef VIDEO
#undef TOGETHER
#undef NO_LOOP
#define BY_TYPE(...) by_type
#define LOOP(name) LANES(sem_##name)
#define VIDEO(what, parts) LANES(sem_video)
#define TOGETHER(name) NULL
#define NO_LOOP NULL
    static sem_pick *const picks[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    return picks[p->op] ? picks[p->op](p, in) : NULL;
}
