/* Owns the hammering of the PTX parser: any bytes must give a module or a problem, nothing else.
 *
 * With clang as a libFuzzer target:
 *     clang -std=c11 -D_GNU_SOURCE -DKEET_LIBFUZZER -g -O1 -fsanitize=fuzzer,address,undefined
 * -Isrc tests/fuzz/fuzz_ptx.c src/ptx/\*.c src/base/{arena,mem}.c -o fuzz_ptx
 *     ./fuzz_ptx -max_len=20000 CORPUS_DIR tests/ptx
 * Otherwise a plain program: each file named is parsed as it is, cut short at many places, and with
 * bytes and lines changed at random from a fixed seed. */
#include "ptx/ptx.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What any caller relies on: targets and registers in range, reconvergence in range. */
static void check_operand(const struct ptx_func *func, const struct ptx_operand *operand)
{
    if (operand->reg >= (int32_t)func->nr_regs)
        abort();
    if (operand->kind == PTX_OPERAND_REG && operand->reg < 0)
        abort();
    if (operand->kind == PTX_OPERAND_LABEL && operand->target >= func->nr_insts)
        abort();
    for (uint32_t i = 0; operand->vec && i < operand->nr; i++)
        check_operand(func, &operand->vec[i]);
}

static void check_func(const struct ptx_func *func)
{
    if (!func->external && !func->problem && !func->nr_insts)
        abort();
    for (uint32_t i = 0; i < func->nr_insts; i++) {
        const struct ptx_inst *inst = &func->insts[i];
        if (inst->nr_dests > inst->nr_operands || inst->reconverge > func->nr_insts ||
            inst->guard >= (int32_t)func->nr_regs)
            abort();
        for (int o = 0; o < inst->nr_operands; o++)
            check_operand(func, &inst->operand[o]);
    }
}

static void parse_once(const uint8_t *bytes, size_t len)
{
    struct ptx_problem problem;
    struct ptx_module *module = ptx_parse((const char *)bytes, len, &problem);

    if (!module && (!problem.text[0] || memchr(problem.text, 0, sizeof(problem.text)) == NULL))
        abort();
    for (uint32_t i = 0; module && i < module->nr_funcs; i++)
        check_func(module->funcs[i]);
    ptx_destroy(module);
}

#ifdef KEET_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    parse_once(bytes, len);
    return 0;
}

#else

#include "hammer.h"

static void mutate(uint8_t *text, size_t len, struct rng *rng)
{
    static const char bytes[] = "{}[]()<>,;:.%@!|+-0123456789abdefrpsux \n\"_$\0\xff";
    const unsigned nr = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < nr; i++) {
        const size_t at = (size_t)rng_below(rng, len);
        const size_t from = (size_t)rng_below(rng, len);
        size_t run = (size_t)rng_below(rng, 40);
        if (rng_below(rng, 2)) {
            text[at] = (uint8_t)bytes[rng_below(rng, sizeof(bytes))];
            continue;
        }
        if (at + run > len)
            run = len - at;
        if (from + run > len)
            run = len - from;
        memmove(text + at, text + from, run);
    }
}

int main(int argc, char **argv)
{
    return hammer(argc, argv, parse_once, mutate, 300);
}

#endif
