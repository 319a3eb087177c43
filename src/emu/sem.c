/* Owns the choice of instruction set for the sem_*.c loops, and of the sem file for an operation.
 */
#include "emu/exec.h"
#include "emu/sem.h"

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
DECLARE(sem_tensor)
bool exec_block_base(struct worker *k);
bool exec_block_avx2(struct worker *k);
bool exec_block_avx512(struct worker *k);
sem_fn *sem_moves_base(enum sem_move move);
sem_fn *sem_moves_avx2(enum sem_move move);
sem_fn *sem_moves_avx512(enum sem_move move);

typedef sem_fn *sem_pick(const struct ptx_inst *, struct inst *);

enum { NR_PICKS = 7 };

struct variant {
    sem_pick *pick[NR_PICKS];
    sem_fn *(*move)(enum sem_move);
    bool (*block)(struct worker *k);
};

#define VARIANT(isa)                                                                               \
    {                                                                                              \
        {sem_int_##isa, sem_float_##isa, sem_half_##isa, sem_choose_##isa, sem_cvt_##isa,          \
            sem_pack_##isa, sem_tensor_##isa},                                                     \
            sem_moves_##isa, exec_block_##isa                                                      \
    }
static const struct variant base = VARIANT(base);
#ifdef KEET_X86
static const struct variant avx2 = VARIANT(avx2);
static const struct variant avx512 = VARIANT(avx512);
#endif

static const struct variant *best(void)
{
#ifdef KEET_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &avx2;
#endif
    return &base;
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
