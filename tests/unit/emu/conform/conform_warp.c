/* Conformance of what the lanes of a warp do together: every form of shfl, vote, match, redux,
 * elect and activemask, by whole warps and by two halves of a warp on different paths, against the
 * manual's definitions. */
#include "conform.h"

enum { NR_ROUNDS = 24, LANES = 32, NR_VALUES = NR_ROUNDS * LANES };

struct inputs {
    uint64_t a[NR_VALUES];
    uint32_t b[NR_VALUES], c[NR_VALUES];
};

/* One lane in one round. A reference gives its result and predicate; false: the manual leaves them
 * open. */
struct lane {
    const struct inputs *in;
    unsigned round, lane;
    uint32_t group; /* the lanes that execute it together */
};

struct form {
    const char *text; /* with D, Q, A (AW: 64 bits), B, C, M, P */
    bool (*ref)(const struct lane *l, uint32_t *d, bool *q);
};

static uint64_t value(const struct lane *l, unsigned lane)
{
    return l->in->a[l->round * LANES + lane];
}

/* --- definitions --- */

static bool shuffled(const struct lane *l, uint32_t *d, bool *q)
{
    const unsigned at = l->round * LANES + l->lane, b = l->in->b[at] & 31;
    const unsigned clamp = l->in->c[at] & 31, segment = l->in->c[at] >> 8 & 31;
    const int most = (int)((l->lane & segment) | (clamp & ~segment)), lane = (int)l->lane;
    int j;
    switch (now.op[0]) {
    case 'u':
        j = lane - (int)b;
        *q = j >= most;
        break;
    case 'd':
        j = lane + (int)b;
        *q = j <= most;
        break;
    case 'b':
        j = lane ^ (int)b;
        *q = j <= most;
        break;
    default:
        j = (int)((l->lane & segment) | (b & ~segment));
        *q = j <= most;
    }
    j = *q ? j : lane;
    *d = (uint32_t)value(l, (unsigned)j);
    return l->group >> j & 1;
}

/* The predicate that is voted on: the lowest bit of A. */
static bool voted(const struct lane *l, uint32_t *d, bool *q)
{
    uint32_t yes = 0;
    for (unsigned i = 0; i < LANES; i++)
        yes |= (uint32_t)(value(l, i) & 1) << i;
    yes = (now.flag ? ~yes : yes) & l->group;
    *q = false;
    switch (now.op[1]) {
    case 'l': /* all */
        *d = yes == l->group;
        break;
    case 'n': /* any, uni */
        *d = now.op[0] == 'a' ? yes != 0 : yes == 0 || yes == l->group;
        break;
    default:
        *d = yes;
    }
    return true;
}

static bool matched(const struct lane *l, uint32_t *d, bool *q)
{
    uint32_t same = 0;
    const uint64_t mask = now.mode == 64 ? ~UINT64_C(0) : 0xffffffff;
    for (unsigned i = 0; i < LANES; i++)
        same |= (uint32_t)((value(l, i) & mask) == (value(l, l->lane) & mask)) << i;
    same &= l->group;
    *q = now.flag && same == l->group;
    *d = now.flag ? (*q ? l->group : 0) : same;
    return true;
}

static bool reduced(const struct lane *l, uint32_t *d, bool *q)
{
    bool first = true;
    uint32_t r = 0;
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t v = (uint32_t)value(l, i);
        if (!(l->group >> i & 1))
            continue;
        const bool less = now.type == S32 ? (int32_t)v < (int32_t)r : v < r;
        if (first)
            r = v;
        else if (now.op[0] == 'a')
            r = now.op[1] == 'd' ? r + v : r & v;
        else if (now.op[0] == 'o' || now.op[0] == 'x')
            r = now.op[0] == 'o' ? r | v : r ^ v;
        else
            r = less == (now.op[1] == 'i') ? v : r;
        first = false;
    }
    *d = r;
    *q = false;
    return true;
}

static bool elected(const struct lane *l, uint32_t *d, bool *q)
{
    *d = (uint32_t)__builtin_ctz(l->group);
    *q = *d == l->lane;
    return true;
}

static bool active(const struct lane *l, uint32_t *d, bool *q)
{
    *d = l->group;
    *q = false;
    return true;
}

/* --- runs --- */

static void make_inputs(struct inputs *in)
{
    static const uint32_t clamps[] = {0x1f, 0, 0x1c1f, 0x1c00, 0x101f, 0x0f, 0x1800};
    for (unsigned i = 0; i < NR_VALUES; i++) {
        const unsigned round = i / LANES;
        const uint64_t mixed = case_value(3000 + 2 * i, 8, 1);
        /* few values, so that some match; all the same; anything */
        in->a[i] = round % 3 == 0   ? mixed & UINT64_C(0x100000003)
                   : round % 3 == 1 ? 0x7000000 + round
                                    : mixed;
        in->b[i] = (uint32_t)(mixed >> 40);
        in->c[i] = clamps[(round / 2) % 7];
    }
}

/* Odd rounds: lanes with bit 2 and without go different ways. */
static uint32_t group_of(unsigned round, unsigned lane)
{
    return round % 2 == 0 ? ~0u : lane & 4 ? 0xf0f0f0f0u : 0x0f0f0f0fu;
}

static void run_warps(const struct form *f)
{
    static struct inputs in;
    static uint32_t got[2 * NR_VALUES];
    char ptx[4096];
    struct bench b;
    make_inputs(&in);
    snprintf(ptx, sizeof(ptx),
        PTX_HEAD
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n"
        "{\n.reg .b64 X, Y, AW;\n.reg .b32 I, L, R, T, D, A, B, C, M;\n"
        ".reg .pred P, Q, O;\nmov.u32 L, %%tid.x;\nmov.u32 R, %%ctaid.x;\n"
        "mad.lo.u32 I, R, 32, L;\nld.param.u64 X, [p1];\nmad.wide.u32 X, I, 8, X;\n"
        "ld.global.u64 AW, [X];\ncvt.u32.u64 A, AW;\nld.param.u64 X, [p2];\n"
        "mad.wide.u32 X, I, 4, X;\nld.global.u32 B, [X];\nld.param.u64 X, [p3];\n"
        "mad.wide.u32 X, I, 4, X;\nld.global.u32 C, [X];\nld.param.u64 X, [p0];\n"
        "mad.wide.u32 X, I, 8, X;\nand.b32 T, A, 1;\nsetp.ne.u32 P, T, 0;\n"
        "mov.u32 D, 0;\nsetp.ne.u32 Q, L, L;\nmov.u32 M, -1;\nand.b32 T, R, 1;\n"
        "setp.eq.u32 O, T, 0;\n@O bra FIRST;\nand.b32 T, L, 4;\nsetp.ne.u32 O, T, 0;\n"
        "mov.u32 M, 0x0f0f0f0f;\n@!O bra FIRST;\nmov.u32 M, 0xf0f0f0f0;\n%s\nbra END;\n"
        "FIRST:\n%s\nEND:\nst.global.u32 [X], D;\nselp.u32 D, 1, 0, Q;\n"
        "st.global.u32 [X+4], D;\nret;\n}\n",
        f->text, f->text);
    bench_init(&b, ptx, 1);
    if (!b.module)
        fail_msg("%s: %s", f->text, b.result.text);
    b.what = f->text;
    bench_buffer(&b, NULL, sizeof(got));
    bench_buffer(&b, in.a, sizeof(in.a));
    bench_buffer(&b, in.b, sizeof(in.b));
    bench_buffer(&b, in.c, sizeof(in.c));
    if (bench_run(&b, NR_ROUNDS, LANES) != VERDICT_OK)
        fail_msg("%s: %s", f->text, b.result.text);
    bench_read(&b, 0, got, sizeof(got));
    for (unsigned i = 0; i < NR_VALUES; i++) {
        const unsigned lane = i % LANES, round = i / LANES;
        const struct lane l = {&in, round, lane, group_of(round, lane)};
        uint32_t d;
        bool q;
        if (f->ref(&l, &d, &q) && (got[2 * i] != d || got[2 * i + 1] != q))
            fail_msg("%s: round %u, lane %u: got 0x%x %u, want 0x%x %u", f->text, round, lane,
                got[2 * i], got[2 * i + 1], d, q);
    }
    bench_finish(&b);
}

static void run_on_all_sets(const char *text, bool (*ref)(const struct lane *, uint32_t *, bool *))
{
    const struct form form = {text, ref};
    for (enum sem_isa isa = SEM_BASE; isa <= SEM_AVX512; isa++) {
        if (sem_use(isa))
            run_warps(&form);
    }
    nr_forms++;
    note_forms(text);
}

static void run_form_of(const char *op, const char *modifiers, void *context)
{
    static const char *const names[] = {"up", "down", "bfly", "idx", "all", "any", "uni", "ballot",
        "add", "and", "or", "xor", "min", "max"};
    char text[200];
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        now.op = has_word(modifiers, names[i]) ? names[i] : now.op;
    if (strcmp(op, "shfl") == 0) {
        snprintf(text, sizeof(text), "shfl%s D|Q, A, B, C, M;", modifiers);
        run_on_all_sets(text, shuffled);
        return;
    }
    if (strcmp(op, "vote") == 0) {
        for (unsigned negated = 0; negated < 2; negated++) {
            now.flag = negated;
            snprintf(text, sizeof(text),
                now.op[0] == 'b' ? "vote%s D, %sP, M;" : "vote%s O, %sP, M;\nselp.u32 D, 1, 0, O;",
                modifiers, negated ? "!" : "");
            run_on_all_sets(text, voted);
        }
        return;
    }
    if (strcmp(op, "match") == 0) {
        now.flag = now.op[1] == 'l';
        now.mode = has_word(modifiers, "b64") ? 64 : 32;
        snprintf(text, sizeof(text), "match%s D%s, %s, M;", modifiers, now.flag ? "|Q" : "",
            now.mode == 64 ? "AW" : "A");
        run_on_all_sets(text, matched);
        return;
    }
    now.type = has_word(modifiers, "s32") ? S32 : U32;
    snprintf(text, sizeof(text), "redux%s D, A, M;", modifiers);
    run_on_all_sets(text, reduced);
}

static void together(void **state)
{
    static const char *const ops[] = {"shfl", "vote", "match", "redux"};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        syntax_each(ops[i], run_form_of, NULL);
    run_on_all_sets("elect.sync D|Q, M;", elected);
    run_on_all_sets("activemask.b32 D;", active);
    assert_true(nr_forms >= 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
