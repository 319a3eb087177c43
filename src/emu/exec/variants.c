/* Owns the choice of instruction set for the sem_*.c loops, and of the sem file for an operation.
 */
#include "emu/exec/exec.h"
#include "emu/sem/sem.h"

#define DECLARE(name)                                                                              \
    sem_fn *name##_base(const struct ptx_inst *, struct inst *);                                   \
    sem_fn *name##_avx2(const struct ptx_inst *, struct inst *);                                   \
    sem_fn *name##_avx512(const struct ptx_inst *, struct inst *);
DECLARE(sem_int)
DECLARE(sem_float)
DECLARE(sem_half)
DECLARE(sem_choose)
DECLARE(sem_cvt)
DECLARE(sem_pack)
DECLARE(sem_video)
DECLARE(sem_tensor)
DECLARE(sem_shuffle)
bool exec_block_base(struct worker *k);
bool exec_block_avx2(struct worker *k);
bool exec_block_avx512(struct worker *k);
typedef unsigned shape_data_fn(enum access_kind, uint32_t, unsigned, const uint64_t *);
shape_data_fn shape_data_base, shape_data_avx2, shape_data_avx512;
sem_fn *sem_moves_base(enum sem_move move);
sem_fn *sem_moves_avx2(enum sem_move move);
sem_fn *sem_moves_avx512(enum sem_move move);

typedef sem_fn *sem_pick(const struct ptx_inst *, struct inst *);

enum { NR_PICKS = 9 };

struct variant {
    sem_pick *pick[NR_PICKS];
    sem_fn *(*move)(enum sem_move);
    bool (*block)(struct worker *k);
    shape_data_fn *data;
};

#define VARIANT(isa)                                                                               \
    {                                                                                              \
        {sem_int_##isa, sem_float_##isa, sem_half_##isa, sem_choose_##isa, sem_cvt_##isa,          \
            sem_pack_##isa, sem_video_##isa, sem_tensor_##isa, sem_shuffle_##isa},                 \
            sem_moves_##isa, exec_block_##isa, shape_data_##isa                                    \
    }
static const struct variant base = VARIANT(base);
#ifdef KEET_X86
static const struct variant avx2 = VARIANT(avx2);
static const struct variant avx512 = VARIANT(avx512);
#endif

static const struct variant *limited; /* by sem_use */

static const struct variant *variant_of(enum sem_isa isa)
{
#ifdef KEET_X86
    if (isa == SEM_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                   ? &avx512
                   : NULL;
    if (isa == SEM_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : NULL;
#endif
    return isa == SEM_BASE ? &base : NULL;
}

static const struct variant *best(void)
{
    if (limited)
        return limited;
    const struct variant *v = variant_of(SEM_AVX512);
    v = v ? v : variant_of(SEM_AVX2);
    return v ? v : &base;
}

bool sem_use(enum sem_isa isa)
{
    const struct variant *v = variant_of(isa);
    limited = v ? v : limited;
    return v != NULL;
}

sem_fn *sem_find(const struct ptx_inst *ptx, struct inst *in)
{
    const struct variant *v = best();
    for (int i = 0; i < NR_PICKS; i++) {
        sem_fn *run = v->pick[i](ptx, in);
        if (run)
            return run;
    }
    return NULL;
}

sem_fn *sem_move(enum sem_move move)
{
    return best()->move(move);
}

bool exec_block(struct worker *k)
{
    return best()->block(k);
}

unsigned shape_data(enum access_kind kind, uint32_t mask, unsigned bytes, const uint64_t *address)
{
    return best()->data(kind, mask, bytes, address);
}
