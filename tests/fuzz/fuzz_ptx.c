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

static void parse_once(const char *text, size_t len)
{
    struct ptx_problem problem;
    struct ptx_module *module = ptx_parse(text, len, &problem);

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
    parse_once((const char *)bytes, len);
    return 0;
}

#else

#include "base/file.h"
#include "base/rng.h"

/* An exact-size copy, so that reading past the end is seen by AddressSanitizer. */
static void parse_copy(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);

    memcpy(copy, text, len);
    parse_once(copy, len);
    free(copy);
}

static void mutate(char *text, size_t len, struct rng *rng)
{
    static const char bytes[] = "{}[]()<>,;:.%@!|+-0123456789abdefrpsux \n\"_$\0\xff";
    const unsigned nr = 1 + (unsigned)rng_below(rng, 4);

    for (unsigned i = 0; i < nr; i++) {
        const size_t at = (size_t)rng_below(rng, len);
        const size_t from = (size_t)rng_below(rng, len);
        size_t run = (size_t)rng_below(rng, 40);
        if (rng_below(rng, 2)) {
            text[at] = bytes[rng_below(rng, sizeof(bytes))];
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
    enum { NR_CUTS = 200, NR_MUTANTS = 300 };
    struct rng rng;
    struct err err;

    rng_seed(&rng, 1, 0);
    for (int i = 1; i < argc; i++) {
        char *text, *mutant;
        size_t len;
        if (!file_read(argv[i], 1 << 20, &text, &len, &err) || !len) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        mutant = malloc(len);
        parse_copy(text, len);
        for (size_t cut = 0; cut < NR_CUTS; cut++)
            parse_copy(text, len * cut / NR_CUTS);
        for (int n = 0; n < NR_MUTANTS; n++) {
            memcpy(mutant, text, len);
            mutate(mutant, len, &rng);
            parse_copy(mutant, len);
        }
        free(mutant);
        free(text);
    }
    printf("%d files\n", argc - 1);
    return 0;
}

#endif
