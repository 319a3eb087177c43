/* Owns the hammering of the PTX parser: any bytes must give a module or a problem, nothing else.
 * For hours, see hammer.h:
 *     build/fuzz/fuzz_ptx -max_len=20000 build/corpus tests/ptx tests/fuzz/ptx */
#include "ptx/ptx.h"

#include "hammer.h"

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

const struct fuzzer fuzzer = {
    .once = parse_once, .marks = "{}[]()<>,;:.%@!|+-0123456789abdefrpsux \n\"_$"};
