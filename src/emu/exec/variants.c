/* Owns the choice of instruction set: best for this machine, or what sem_use() asks for.
 *
 * The sem_*.c files and the hot files of the interpreter are compiled once for each instruction set
 * (CMakeLists.txt). A struct isa_variant holds the entry points of one such copy. The functions at
 * the end are those that the rest of emu/ calls; each goes on to the chosen copy. */
#include "emu/exec/exec.h"
#include "emu/sem/sem.h"

struct isa_variant {
    sem_fn *(*find)(const struct ptx_inst *, struct inst *);
    sem_fn *(*move)(enum sem_move);
    bool (*block)(struct block_worker *k);
    unsigned (*data)(enum access_kind, uint32_t, unsigned, const uint64_t *);
};

#define DECLARE(isa)                                                                               \
    sem_fn *sem_find_##isa(const struct ptx_inst *, struct inst *);                                \
    sem_fn *sem_moves_##isa(enum sem_move);                                                        \
    bool exec_block_##isa(struct block_worker *k);                                                 \
    unsigned shape_data_##isa(enum access_kind, uint32_t, unsigned, const uint64_t *);
DECLARE(base)
DECLARE(avx2)
DECLARE(avx512)

#define VARIANT(isa)                                                                               \
    {                                                                                              \
        sem_find_##isa, sem_moves_##isa, exec_block_##isa, shape_data_##isa                        \
    }
static const struct isa_variant base = VARIANT(base);
#ifdef KEET_AVX2
static const struct isa_variant avx2 = VARIANT(avx2);
#endif
#ifdef KEET_AVX512
static const struct isa_variant avx512 = VARIANT(avx512);
#endif

static const struct isa_variant *limited; /* by sem_use */

static const struct isa_variant *variant_of(enum sem_isa isa)
{
#ifdef KEET_AVX512
    if (isa == SEM_AVX512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                   ? &avx512
                   : NULL;
#endif
#ifdef KEET_AVX2
    if (isa == SEM_AVX2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2 : NULL;
#endif
    return isa == SEM_BASE ? &base : NULL;
}

static const struct isa_variant *best(void)
{
    if (limited)
        return limited;
    const struct isa_variant *v = variant_of(SEM_AVX512);
    v = v ? v : variant_of(SEM_AVX2);
    return v ? v : &base;
}

bool sem_use(enum sem_isa isa)
{
    const struct isa_variant *v = variant_of(isa);
    limited = v ? v : limited;
    return v != NULL;
}

sem_fn *sem_find(const struct ptx_inst *ptx, struct inst *in)
{
    return best()->find(ptx, in);
}

sem_fn *sem_move(enum sem_move move)
{
    return best()->move(move);
}

bool exec_block(struct block_worker *k)
{
    return best()->block(k);
}

unsigned shape_data(enum access_kind kind, uint32_t mask, unsigned bytes, const uint64_t *address)
{
    return best()->data(kind, mask, bytes, address);
}
