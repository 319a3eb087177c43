/* Owns the tests of the PTX parser: small hand-written texts, fields checked by hand. */
#include "ptx/ptx.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n" /* three lines */
#define REGS                                                                                       \
    ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; "     \
    ".reg .f64 %fd<9>;\n"

static struct ptx_module *parse(const char *text)
{
    struct ptx_problem problem;
    struct ptx_module *module = ptx_parse(text, strlen(text), &problem);

    if (!module)
        fail_msg("line %u: %s", problem.text_line, problem.text);
    return module;
}

/* A kernel of one body. */
static struct ptx_module *parse_body(const char *body)
{
    struct str s = {0};
    struct ptx_module *module;

    str_add(&s, HEAD ".visible .entry k(.param .u64 k_param_0, .param .align 8 .b8 k_param_1[24])\n"
                     "{" REGS);
    str_add(&s, body);
    str_add(&s, " }\n");
    module = parse(str_text(&s));
    str_finish(&s);
    return module;
}

static const struct ptx_inst *inst(const struct ptx_module *module, uint32_t i)
{
    const struct ptx_func *func = ptx_find_func(module, "k");

    assert_non_null(func);
    assert_true(i < func->nr_insts);
    return &func->insts[i];
}

static const char *reg_of(const struct ptx_module *module, const struct ptx_operand *operand)
{
    assert_true(operand->reg >= 0);
    return ptx_find_func(module, "k")->regs[operand->reg].name;
}

static void assert_problem(
    const char *text, uint32_t text_line, bool unsupported, const char *contains)
{
    struct ptx_problem problem;
    struct ptx_module *module = ptx_parse(text, strlen(text), &problem);

    /* what is unknown in a body is the function's problem, and the module stands */
    for (uint32_t i = 0; module && i < module->nr_funcs; i++) {
        if (module->funcs[i]->problem)
            problem = *module->funcs[i]->problem;
    }
    assert_true(!module || problem.unsupported);
    ptx_destroy(module);
    if (!strstr(problem.text, contains))
        fail_msg("'%s' does not speak of '%s'", problem.text, contains);
    assert_int_equal(problem.text_line, text_line);
    assert_int_equal(problem.unsupported, unsupported);
}

/* The body starts on text line 5. */
static void assert_body_problem(const char *body, bool unsupported, const char *contains)
{
    struct str s = {0};

    str_add(&s, HEAD ".visible .entry k() {" REGS);
    str_add(&s, body);
    str_add(&s, " }\n");
    assert_problem(str_text(&s), 5, unsupported, contains);
    str_finish(&s);
}

static void test_modifiers_are_fields(void **state)
{
    struct ptx_module *m = parse_body("fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;\n"
                                      "mul.wide.s32 %rd1, %r1, %r2;\n"
                                      "setp.geu.and.f64 %p1, %fd1, %fd2, !%p2;\n"
                                      "cvt.rzi.s32.f32 %r1, %f1;\n"
                                      "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, _, %f3, "
                                      "%f4}, [%rd1+-16];\n"
                                      "st.release.gpu.global.u32 [%rd2], %r3;\n"
                                      "shf.l.wrap.b32 %r1, %r2, %r3, %r4;\n"
                                      "atom.acq_rel.sys.shared::cta.cas.b32 %r1, [%r2+4], %r3, 7;\n"
                                      "red.global.add.noftz.f16x2 [%rd1], %r2;\n");
    const struct ptx_inst *i = inst(m, 0);

    assert_int_equal(i->op, PTX_OP_FMA);
    assert_int_equal(i->type, PTX_F32);
    assert_int_equal(i->round, PTX_RN);
    assert_true(i->ftz && i->sat && !i->approx);
    assert_int_equal(i->nr_dests, 1);
    assert_int_equal(i->nr_operands, 4);
    assert_string_equal(reg_of(m, &i->operand[3]), "%f4");
    assert_string_equal(i->mods, ".rn.ftz.sat.f32");

    i = inst(m, 1);
    assert_int_equal(i->mul, PTX_MUL_WIDE);
    assert_int_equal(i->type, PTX_S32);

    i = inst(m, 2);
    assert_int_equal(i->cmp, PTX_GEU);
    assert_int_equal(i->boolop, PTX_BOOL_AND);
    assert_int_equal(i->atom, PTX_ATOM_NONE);
    assert_true(i->operand[3].negated);
    assert_string_equal(reg_of(m, &i->operand[3]), "%p2");

    i = inst(m, 3);
    assert_int_equal(i->round, PTX_RZI);
    assert_int_equal(i->type, PTX_S32);
    assert_int_equal(i->type2, PTX_F32);

    i = inst(m, 4);
    assert_int_equal(i->space, PTX_GLOBAL);
    assert_int_equal(i->vec, 4);
    assert_true(i->nc);
    assert_int_equal(i->operand[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(i->operand[0].nr, 4);
    assert_int_equal(i->operand[0].vec[1].kind, PTX_OPERAND_SINK);
    assert_string_equal(reg_of(m, &i->operand[0].vec[3]), "%f4");
    assert_int_equal(i->operand[1].kind, PTX_OPERAND_ADDRESS);
    assert_true((int64_t)i->operand[1].imm == -16);

    i = inst(m, 5);
    assert_int_equal(i->sem, PTX_SEM_RELEASE);
    assert_int_equal(i->scope, PTX_SCOPE_GPU);
    assert_int_equal(i->nr_dests, 0);

    i = inst(m, 6);
    assert_int_equal(i->shfl, PTX_SHFL_UP);
    assert_true(i->wrap);

    i = inst(m, 7);
    assert_int_equal(i->atom, PTX_ATOM_CAS);
    assert_int_equal(i->space, PTX_SHARED);
    assert_int_equal(i->scope, PTX_SCOPE_SYS);
    assert_int_equal(i->operand[1].imm, 4);
    assert_int_equal(i->operand[3].imm, 7);

    i = inst(m, 8);
    assert_int_equal(i->atom, PTX_ATOM_ADD);
    assert_true(i->noftz);
    assert_int_equal(i->type, PTX_F16X2);
    ptx_destroy(m);
}

static void test_two_destinations_and_guards(void **state)
{
    struct ptx_module *m =
        parse_body("@!%p3 shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;\n"
                   "setp.lt.s32 %p1|%p2, %r1, %r2;\n"
                   "shfl.sync.idx.b32 %f1, %f2, 0, 31, %r1;\n"
                   "vote.sync.ballot.b32 %r1, %p1, -1;\n"
                   "bar.red.popc.u32 %r1, 0, %p1;\n"
                   "bar.sync 1, 128;\n"
                   "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r2;\n"
                   "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, "
                   "{%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3};\n");
    const struct ptx_inst *i = inst(m, 0);

    assert_true(i->guard_negated);
    assert_string_equal(ptx_find_func(m, "k")->regs[i->guard].name, "%p3");
    assert_int_equal(i->shfl, PTX_SHFL_BFLY);
    assert_true(i->sync);
    assert_int_equal(i->nr_dests, 2);
    assert_int_equal(i->nr_operands, 6);
    assert_string_equal(reg_of(m, &i->operand[1]), "%p1");
    assert_int_equal(i->operand[3].imm, 16);
    assert_true((uint32_t)i->operand[5].imm == UINT32_MAX);
    assert_int_equal(inst(m, 1)->nr_dests, 2);
    assert_int_equal(inst(m, 1)->guard, -1);
    assert_int_equal(inst(m, 2)->nr_dests, 1);
    assert_int_equal(inst(m, 3)->vote, PTX_VOTE_BALLOT);
    i = inst(m, 4);
    assert_int_equal(i->sub, PTX_SUB_RED);
    assert_int_equal(i->atom, PTX_ATOM_POPC);
    assert_int_equal(i->nr_dests, 1);
    i = inst(m, 5);
    assert_int_equal(i->sub, PTX_SUB_NONE);
    assert_true(i->sync);
    assert_int_equal(i->operand[1].imm, 128);
    i = inst(m, 6);
    assert_int_equal(i->sub, PTX_SUB_ARRIVE);
    assert_true(i->expect_tx);
    assert_int_equal(i->operand[0].kind, PTX_OPERAND_SINK);
    i = inst(m, 7);
    assert_int_equal(i->m, 16);
    assert_int_equal(i->n, 8);
    assert_int_equal(i->k, 16);
    assert_int_equal(i->layout_a, PTX_ROW);
    assert_int_equal(i->layout_b, PTX_COL);
    assert_int_equal(i->type3, PTX_F16);
    assert_int_equal(i->type4, PTX_F32);
    assert_int_equal(i->operand[1].nr, 4);
    ptx_destroy(m);
}

static void test_constants(void **state)
{
    struct ptx_module *m = parse_body("mov.f32 %f1, 0f3F800000;\n"
                                      "add.f32 %f1, %f1, 1.5;\n"
                                      "mov.f64 %fd1, 0d3FF8000000000000;\n"
                                      "mov.f64 %fd1, 0f3F800000;\n"
                                      "add.s32 %r1, %r1, -1;\n"
                                      "and.b32 %r1, %r1, 0x1F;\n"
                                      "mov.b64 %rd1, {%r1, %r2};\n"
                                      "add.s32 %r1, %r2, (1 + 2 * 3) << 4;\n"
                                      "mov.u32 %r1, WARP_SZ;\n"
                                      "mov.f32 %f1, -2.0;\n"
                                      "mov.u32 %r1, %tid.x;\n"
                                      "mov.u64 %rd1, %clock64;\n");

    assert_int_equal(inst(m, 0)->operand[1].imm, 0x3f800000);
    assert_int_equal(inst(m, 1)->operand[2].imm, 0x3fc00000);
    assert_true(inst(m, 2)->operand[1].imm == UINT64_C(0x3ff8000000000000));
    assert_true(inst(m, 3)->operand[1].imm == UINT64_C(0x3ff0000000000000));
    assert_true((int64_t)inst(m, 4)->operand[2].imm == -1);
    assert_int_equal(inst(m, 5)->operand[2].imm, 31);
    assert_int_equal(inst(m, 6)->operand[1].nr, 2);
    assert_int_equal(inst(m, 7)->operand[2].imm, 112);
    assert_int_equal(inst(m, 8)->operand[1].imm, 32);
    assert_int_equal(inst(m, 9)->operand[1].imm, 0xc0000000);
    assert_int_equal(inst(m, 10)->operand[1].special, PTX_SR_TID_X);
    assert_int_equal(inst(m, 11)->operand[1].special, PTX_SR_CLOCK64);
    ptx_destroy(m);
}

static void test_scopes_shadow(void **state)
{
    struct ptx_module *m =
        parse_body("mov.u32 %r1, 1;\n"
                   "{ .reg .b32 %r<3>; .reg .b32 t; mov.u32 %r1, 2; mov.u32 t, 3;\n"
                   "  mov.u32 %r4, 4; }\n"
                   "mov.u32 %r1, 5;\n"
                   "{ .reg .b32 t; mov.u32 t, 6; }\n");
    const int32_t outer = inst(m, 0)->operand[0].reg;

    assert_int_not_equal(inst(m, 1)->operand[0].reg, outer);
    assert_int_equal(inst(m, 4)->operand[0].reg, outer);
    assert_int_equal(inst(m, 3)->operand[0].reg, outer + 3); /* %r4 is beyond the inner range */
    assert_int_not_equal(inst(m, 2)->operand[0].reg, inst(m, 5)->operand[0].reg);
    ptx_destroy(m);
    assert_body_problem("{ .reg .b32 t; } mov.u32 t, 1;", false, "'t' is not declared");
    assert_body_problem(".reg .b32 a, a;", false, "declared twice");
    assert_body_problem("mov.u32 %r9, 1;", false, "'%r9' is not declared");
    assert_body_problem("mov.u32 %r01, 1;", false, "'%r01' is not declared");
}

static void test_labels_are_scoped(void **state)
{
    struct ptx_module *m = parse_body("{ W: @%p1 bra D; bra W; D: }\n" /* 0 1 */
                                      "{ W: @%p1 bra D; bra W; D: }\n" /* 2 3 */
                                      "{ bra OUT; }\n"                 /* 4 */
                                      "OUT: ret;\n");                  /* 5 */

    assert_int_equal(inst(m, 0)->operand[0].target, 2);
    assert_int_equal(inst(m, 1)->operand[0].target, 0);
    assert_int_equal(inst(m, 2)->operand[0].target, 4);
    assert_int_equal(inst(m, 3)->operand[0].target, 2);
    assert_int_equal(inst(m, 4)->operand[0].target, 5);
    ptx_destroy(m);
    assert_body_problem("{ L: } bra L;", false, "label 'L' is not declared");
}

static void test_memory_layout(void **state)
{
    struct ptx_module *m = parse(HEAD
        ".const .align 4 .b8 tab[8] = {0, 0, 128, 63, 255};\n"
        ".global .align 4 .u32 counter = -5;\n"
        ".global .align 4 .f32 grid[2][3] = {{1.0}, {0f40000000, 3.0}};\n"
        ".global .align 1 .b8 text[3] = {104, 105};\n"
        ".global .align 8 .u64 names[2] = {generic(text), generic(grid)+12};\n"
        ".extern .shared .align 16 .b8 dyn[];\n"
        ".shared .align 4 .b8 common[100];\n"
        ".visible .entry k(.param .u32 a, .param .u64 b, .param .align 8 .b8 c[24], .param .u8 d)\n"
        ".maxntid 256, 1, 1 .minnctapersm 2 {\n"
        ".shared .align 4 .b8 s1[12]; .shared .align 8 .b8 s2[8];\n"
        ".local .align 16 .b8 __local_depot0[40];\n" REGS "ld.param.v2.f32 {%f1, %f2}, [c+8];\n"
        "mov.u32 %r1, s2; mov.u32 %r2, common; st.shared.f32 [dyn+8], %f1; }\n"
        ".visible .entry other() { .shared .align 4 .b8 t[20]; .reg .b32 %r<2>; mov.u32 %r1, t; "
        "}\n");
    const struct ptx_func *k = ptx_find_func(m, "k"), *other = ptx_find_func(m, "other");
    static const uint8_t tab[8] = {0, 0, 128, 63, 255, 0, 0, 0};
    const struct ptx_symbol *names;
    float grid[6];
    int32_t counter;
    uint64_t addend;

    assert_int_equal(m->version_major, 9);
    assert_string_equal(m->target, "sm_90a");
    assert_int_equal(m->nr_globals, 5);
    assert_memory_equal(m->globals[0]->init, tab, 8);
    memcpy(&counter, m->globals[1]->init, 4);
    assert_int_equal(counter, -5);
    assert_int_equal(m->globals[2]->bytes, 24);
    memcpy(grid, m->globals[2]->init, 24);
    assert_true(grid[0] == 1 && grid[1] == 0 && grid[2] == 0 && grid[3] == 2 && grid[4] == 3);
    names = m->globals[4];
    assert_int_equal(names->nr_init_symbols, 2);
    assert_int_equal(names->init_at[1], 8);
    assert_string_equal(names->init_symbol[1]->name, "grid");
    memcpy(&addend, names->init + 8, 8);
    assert_int_equal(addend, 12);

    assert_int_equal(k->nr_params, 4);
    assert_int_equal(k->params[1].offset, 8);
    assert_int_equal(k->params[2].offset, 16);
    assert_int_equal(k->params[3].offset, 40);
    assert_int_equal(k->param_bytes, 41);
    assert_int_equal(k->maxntid[0], 256);
    assert_int_equal(k->minnctapersm, 2);
    assert_int_equal(k->local_bytes, 40);
    /* common (100 bytes), then the kernel's own at the next multiple of 128: s1 at 128, s2 at 144
     */
    assert_int_equal(k->shared_static_bytes, 152);
    assert_int_equal(inst(m, 1)->operand[1].symbol->offset, 144);
    assert_int_equal(inst(m, 2)->operand[1].symbol->offset, 0);
    assert_true(inst(m, 3)->operand[0].symbol->external);
    assert_int_equal(inst(m, 3)->operand[0].symbol->bytes, 0);
    assert_int_equal(inst(m, 0)->operand[1].imm, 8);
    assert_string_equal(inst(m, 0)->operand[1].symbol->name, "c");
    assert_false(inst(m, 0)->param_of_call);
    assert_int_equal(other->shared_static_bytes, 20); /* it does not touch common */
    ptx_destroy(m);
}

/* Relocatable code has the shared variables of all kernels at the top of the module. */
static void test_shared_of_one_kernel(void **state)
{
    struct ptx_module *m = parse(HEAD
        ".shared .align 4 .b8 a[1000]; .shared .align 8 .b8 b[2004]; .shared .align 4 .b8 "
        "both[20];\n"
        ".shared .align 4 .b8 called[40]; .shared .align 4 .b8 unused[60000];\n"
        ".func f() {" REGS "st.shared.u32 [called], %r1; ret; }\n"
        ".visible .entry k1() {" REGS "st.shared.u32 [a+4], %r1; mov.u32 %r2, both; ret; }\n"
        ".visible .entry k2() {" REGS "mov.u32 %r1, b; st.shared.u32 [both], %r1; ret; }\n"
        ".visible .entry k3() {" REGS "st.shared.u32 [called], %r1; call.uni f, (); ret; }\n"
        ".visible .entry k4() {" REGS ".shared .align 4 .b8 own[8]; st.shared.u32 [own], %r1; }\n"
        ".visible .entry k5() {" REGS "ret; }\n");
    const struct ptx_func *k1 = ptx_find_func(m, "k1"), *k2 = ptx_find_func(m, "k2"),
                          *k3 = ptx_find_func(m, "k3");
    const uint64_t both = k2->insts[1].operand[0].symbol->offset,
                   called = k3->insts[0].operand[0].symbol->offset;

    /* what several name, or a .func, comes first, each kernel's own behind it */
    assert_int_equal(both, 0);
    assert_int_equal(called, 20);
    assert_int_equal(k1->insts[0].operand[0].symbol->offset, 60);
    assert_int_equal(k1->shared_static_bytes, 1060);
    assert_int_equal(k2->insts[0].operand[1].symbol->offset, 64);
    assert_int_equal(k2->shared_static_bytes, 2068);
    assert_int_equal(k3->shared_static_bytes, 60);
    assert_int_equal(ptx_find_func(m, "k4")->shared_static_bytes, 8);
    assert_int_equal(ptx_find_func(m, "k5")->shared_static_bytes, 0);
    ptx_destroy(m);
}

static void test_calls(void **state)
{
    struct ptx_module *m = parse(HEAD
        ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 "
        "vprintf_param_1);\n"
        ".func (.param .b32 func_retval0) f(.param .b32 f_param_0) {\n" REGS
        "ld.param.f32 %f1, [f_param_0]; st.param.f32 [func_retval0+0], %f1; ret; }\n"
        ".visible .entry k() {" REGS "{ .reg .b32 temp_param_reg; .param .b32 param0;\n"
        "st.param.f32 [param0+0], %f1; .param .b32 retval0;\n"
        "call.uni (retval0), f, (param0);\n"
        "ld.param.f32 %f2, [retval0+0]; } }\n");
    const struct ptx_func *f = ptx_find_func(m, "f");
    const struct ptx_inst *call = inst(m, 1);

    assert_true(ptx_find_func(m, "vprintf")->external);
    assert_int_equal(ptx_find_func(m, "vprintf")->nr_insts, 0);
    assert_false(f->external);
    assert_int_equal(f->nr_rets, 1);
    assert_int_equal(f->insts[1].operand[0].symbol->role, PTX_ROLE_RETURN);
    assert_int_equal(call->op, PTX_OP_CALL);
    assert_true(call->uni);
    assert_ptr_equal(call->operand[1].func, f);
    assert_int_equal(call->operand[0].nr, 1);
    assert_string_equal(call->operand[0].vec[0].symbol->name, "retval0");
    assert_string_equal(call->operand[2].vec[0].symbol->name, "param0");
    assert_true(inst(m, 0)->param_of_call);
    assert_int_equal(ptx_find_func(m, "k")->call_param_bytes, 8);
    ptx_destroy(m);
}

static void test_lines(void **state)
{
    /* File 2 is a header. 5 is inlined at 1:20; the shuffle of file 2 inside 1:5. */
    struct ptx_module *m =
        parse_body(".loc 1 10 0\nmov.u32 %r1, 1;\n"
                   ".loc 1 5 3, function_name $L__info_string0, inlined_at 1 20 7\n"
                   "mov.u32 %r1, 2;\n"
                   ".loc 2 400 9, function_name $L__info_string1, inlined_at 1 5 3\n"
                   "mov.u32 %r1, 3;\n"
                   ".loc 2 77 1, function_name $L__info_string1, inlined_at 1 21 2\n"
                   ".loc 2 99 1, function_name $L__info_string2, inlined_at 2 77 1\n"
                   "mov.u32 %r1, 4;\n"
                   ".loc 1 0 2\n"
                   "mov.u32 %r1, 5;\n"
                   ".loc 3 8 2\n"
                   "mov.u32 %r1, 6;\n");

    assert_int_equal(inst(m, 0)->line, 10);
    assert_int_equal(inst(m, 0)->text_line, 7); /* head 3, entry 1, registers 1, .loc 1 */
    assert_int_equal(inst(m, 1)->line, 5);
    assert_int_equal(inst(m, 2)->line, 5);
    assert_int_equal(inst(m, 3)->line, 21);
    assert_int_equal(inst(m, 4)->line, 21);
    assert_int_equal(inst(m, 5)->line, 0);
    ptx_destroy(m);
}

static void test_reconvergence(void **state)
{
    /* if / else in a loop, behind the usual bounds check */
    struct ptx_module *m = parse_body("@%p1 bra END;\n"      /* 0: leaves; the others go on at 1 */
                                      "mov.u32 %r1, 0;\n"    /* 1 */
                                      "LOOP: @%p2 bra B;\n"  /* 2: meets at 5 */
                                      "mov.u32 %r2, 1;\n"    /* 3 */
                                      "bra M;\n"             /* 4 */
                                      "B: mov.u32 %r2, 2;\n" /* 5 */
                                      "M: add.s32 %r1, %r1, 1;\n" /* 6 */
                                      "@%p3 bra LOOP;\n"          /* 7: meets at 8 */
                                      "mov.u32 %r3, 3;\n"         /* 8 */
                                      "END: ret;\n");             /* 9 */

    assert_int_equal(inst(m, 0)->operand[0].target, 9);
    assert_int_equal(inst(m, 0)->reconverge, 1);
    assert_int_equal(inst(m, 2)->operand[0].target, 5);
    assert_int_equal(inst(m, 2)->reconverge, 6);
    assert_int_equal(inst(m, 4)->reconverge, 6);
    assert_int_equal(inst(m, 7)->operand[0].target, 2);
    assert_int_equal(inst(m, 7)->reconverge, 8);
    ptx_destroy(m);

    /* an assertion's trap inside an if does not push the meeting point to the end */
    m = parse_body("@%p1 bra REST;\n"        /* 0: meets at 4 */
                   "@%p2 bra REST;\n"        /* 1: the other way is a trap */
                   "mov.u32 %r1, 1;\n"       /* 2 */
                   "trap;\n"                 /* 3 */
                   "REST: mov.u32 %r2, 2;\n" /* 4 */
                   "st.global.u32 [%rd1], %r2;\nret;\n");
    assert_int_equal(inst(m, 0)->reconverge, 4);
    assert_int_equal(inst(m, 1)->reconverge, 4);
    ptx_destroy(m);

    /* a loop without way out, an if inside it */
    m = parse_body("L: @%p1 bra A;\n"  /* 0: meets at 2 */
                   "mov.u32 %r1, 1;\n" /* 1 */
                   "A: mov.u32 %r2, 1;\nbra L;\n");
    assert_int_equal(inst(m, 0)->reconverge, 2);
    ptx_destroy(m);
}

static void test_large_functions_are_fast(void **state)
{
    enum { NR = 10000 };
    struct str s = {0};
    struct ptx_module *m;

    /* nested ifs: each branch jumps over all that follow it inside */
    for (int i = 0; i < NR; i++)
        str_addf(&s, "@%%p1 bra E%d;\n", i);
    for (int i = NR; i-- > 0;)
        str_addf(&s, "E%d: add.s32 %%r1, %%r1, 1;\n", i);
    m = parse_body(str_text(&s));
    assert_int_equal(inst(m, 0)->reconverge, 2 * NR - 1);
    assert_int_equal(inst(m, NR - 1)->reconverge, NR);
    ptx_destroy(m);
    str_finish(&s);
}

static void test_problems_name_the_line(void **state)
{
    assert_problem("", 1, false, ".version");
    assert_problem(".version 9.0\n.target sm_90a\n.address_size 32\n", 4, true, "32 bits");
    assert_problem(HEAD ".visible .entry k() {\nfrob.u32 %r1;\n}", 5, true, "instruction 'frob'");
    assert_problem(HEAD ".visible .entry k() {\n ret;\n", 6, false, "ends inside a function");
    assert_body_problem("add.s32 %r1, %rd1, 1;", false, "%rd1 is .b64, where .s32");
    assert_body_problem("add.s32 %f1, %r1, 1;", false, "%f1 is .f32");
    assert_body_problem("add.f32 %f1, %f1, 2;", false, "constant");
    assert_body_problem("add.s32 %r1, %r2;", false, "too few");
    assert_body_problem("add.s32 %r1, %r2, %r3, %r4;", false, "too many");
    assert_body_problem("add.s32 %r1, %r2, -%r3;", false, "negated");
    assert_body_problem("mul.s32 %r1, %r2, %r3;", false, "needed");
    assert_body_problem("add.wide.s32 %r1, %r2, %r3;", false, ".wide does not belong");
    assert_body_problem("add.nonsense.s32 %r1, %r2, %r3;", true, ".nonsense");
    assert_body_problem("add %r1, %r2, %r3;", false, "type is missing");
    assert_body_problem("and.s32 %r1, %r2, %r3;", false, "not for .s32");
    assert_body_problem("setp.s32 %p1, %r2, %r3;", false, "modifier is missing");
    assert_body_problem("div.f32 %f1, %f2, %f3;", false, "rounding");
    assert_body_problem(".reg .b16 %h<3>; setp.eq.f16 %p1|%p2, %h1, %h2;", false, "one half");
    assert_body_problem("lop3.xor.b32 %r1|%p1, %r2, %r3, %r4, 3, %p2;", false, ".xor");
    assert_body_problem(".reg .b16 %h<3>; cvt.sat.u32.u16 %r1, %h1;", false, "every value fits");
    assert_body_problem("cvt.sat.s64.s64 %rd1, %rd2;", false, "every value fits");
    assert_body_problem("ld.global.v2.f32 %f1, [%rd1];", false, "vector of 2");
    assert_body_problem("ld.global.f32 {%f1, %f2}, [%rd1];", false, "wrong kind");
    assert_body_problem("ld.global.f32 {}, [%rd1];", false, "wrong kind");
    assert_body_problem("ld.global.f32 {%p1}, [%rd1];", false, "%p1");
    assert_body_problem("ld.global.f32 %f1, [%r1];", false, "cannot hold this address");
    assert_body_problem("ld.global.f32 %f1, %rd1;", false, "address in []");
    assert_body_problem("bra L;", false, "label 'L'");
    assert_body_problem("@%r1 bra L; L:", false, "not a predicate");
    assert_body_problem("call.uni foo;", false, "'foo' is not declared");
    assert_body_problem("mov.u32 %r1, %clock64;", false, "another width");
    assert_body_problem("mov.u32 %r1, 1 ret;", false, "expected ','");
    assert_body_problem(".shared .b8 s[4]; ld.global.u8 %rs1, [s];", false, "state space");
}

static void test_depth_and_size_are_bounded(void **state)
{
    struct str s = {0};
    struct ptx_problem problem;

    str_add(&s, HEAD ".visible .entry k() {");
    for (int i = 0; i < 100000; i++)
        str_add_char(&s, '{');
    assert_null(ptx_parse(s.text, s.len, &problem));
    assert_non_null(strstr(problem.text, "nested too deep"));
    str_clear(&s);
    str_add(&s, HEAD ".visible .entry k() { .reg .b32 r; mov.u32 r, ");
    for (int i = 0; i < 100000; i++)
        str_add_char(&s, '(');
    assert_null(ptx_parse(s.text, s.len, &problem));
    str_clear(&s);
    str_add(&s, HEAD ".global .b8 x[1099511627776] = {1};");
    assert_null(ptx_parse(s.text, s.len, &problem));
    assert_body_problem(".reg .b32 %q<99999999>;", false, "out of range");
    str_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modifiers_are_fields),
        cmocka_unit_test(test_two_destinations_and_guards),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_scopes_shadow),
        cmocka_unit_test(test_labels_are_scoped),
        cmocka_unit_test(test_memory_layout),
        cmocka_unit_test(test_shared_of_one_kernel),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_reconvergence),
        cmocka_unit_test(test_large_functions_are_fast),
        cmocka_unit_test(test_problems_name_the_line),
        cmocka_unit_test(test_depth_and_size_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
