/* Conformance of loads, stores and atomics: every type, vector, space, order, scope and cache
 * operator of conform_syntax.def. Loads and stores against the bytes of a pattern; atomics against
 * what the manual says of one thread's memory, for edge cases of old value and operands. Orders,
 * scopes and cache operators must change nothing. */
#include "conform_numbers.h"

enum {
    SLOT = 32,          /* bytes of one lane: the widest access */
    AREA = 32 * SLOT,   /* one warp's */
    BATCH = 48,         /* forms in one kernel */
    RESULT = 32 * 8 * 8 /* bytes of a form's results: 8 elements a lane */
};

static uint8_t pattern_byte(unsigned i)
{
    return (uint8_t)(i * 37 + 11 + (i >> 3) * 5);
}

static unsigned slot_of(unsigned lane)
{
    return (lane * 7 + 3) % 32 * SLOT;
}

struct access_form {
    char text[FORM_BYTES]; /* opcode and modifiers */
    unsigned vec, bytes;
    char kind; /* of the type: b u s f */
    char space;
    bool wide; /* .b128: two elements of 8 bytes in one register */
};

struct batch {
    struct access_form form[BATCH];
    unsigned nr;
    bool stores;
};

static struct access_form read_form(const char *op, const char *modifiers)
{
    struct access_form f = {.vec = 1};
    const char *type = strrchr(modifiers, '.') + 1;
    snprintf(f.text, sizeof(f.text), "%s%s", op, modifiers);
    for (unsigned v = 2; v <= 8; v *= 2) {
        const char word[3] = {'v', (char)('0' + v), 0};
        f.vec = has_word(modifiers, word) ? v : f.vec;
    }
    f.kind = type[0];
    f.bytes = (unsigned)atoi(type + 1) / 8;
    f.wide = f.bytes == 16;
    if (f.wide)
        f.vec = 2, f.bytes = 8;
    f.space = has_word(modifiers, "global")   ? 'g'
              : has_word(modifiers, "shared") ? 's'
              : has_word(modifiers, "local")  ? 'l'
              : has_word(modifiers, "const")  ? 'c'
              : has_word(modifiers, "param")  ? 'p'
                                              : 'a';
    return f;
}

/* --- text --- */

struct text {
    char *at, *end;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(t->at, (size_t)(t->end - t->at), format, ap);
    va_end(ap);
    assert_true(n >= 0 && n < t->end - t->at);
    t->at += n;
}

/* Every space holds the pattern: global memory by parameter, shared and local memory by copies,
 * constants and parameters from their makers. Addresses of the lane's slot: GA SA LA CA; AA is
 * generic, of another space from lane to lane. */
static void put_start(struct text *t)
{
    say(t, PTX_HEAD ".const .align 32 .b8 c[%u] = {", AREA);
    for (unsigned i = 0; i < AREA; i++)
        say(t, "%s%u", i ? "," : "", pattern_byte(i));
    say(t,
        "};\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .align 32 .b8 blob[%u])\n{\n"
        ".shared .align 32 .b8 s[%u];\n.local .align 32 .b8 loc[%u];\n.reg .pred P, Q;\n"
        ".reg .b32 L, O, SA, LA, three;\n.reg .b64 OUT, G, GA, CA, AA, T, w<8>, x<8>;\n"
        ".reg .f32 f<8>;\n.reg .f64 g<8>;\n.reg .b128 wide;\nmov.u32 L, %%tid.x;\nld.param.u64 "
        "OUT, [p0];\n"
        "ld.param.u64 G, [p1];\nmad.lo.u32 O, L, 7, 3;\nand.b32 O, O, 31;\nshl.b32 O, O, 5;\n"
        "cvt.u64.u32 GA, O;\nmov.u64 CA, c;\nadd.u64 CA, CA, GA;\nadd.u64 GA, GA, G;\n"
        "mov.u32 SA, s;\nadd.u32 SA, SA, O;\nmov.u32 LA, loc;\nadd.u32 LA, LA, O;\n",
        AREA, AREA, AREA);
    for (unsigned i = 0; i < SLOT; i += 8)
        say(t,
            "ld.global.b64 w0, [GA+%u];\nst.shared.b64 [SA+%u], w0;\nst.local.b64 [LA+%u], w0;\n",
            i, i, i);
    say(t, "bar.sync 0;\nrem.u32 three, L, 3;\nsetp.eq.u32 P, three, 1;\nsetp.eq.u32 Q, three, 2;\n"
           "mov.u64 AA, GA;\ncvt.u64.u32 T, SA;\ncvta.shared.u64 T, T;\n@P mov.u64 AA, T;\n"
           "cvt.u64.u32 T, LA;\ncvta.local.u64 T, T;\n@Q mov.u64 AA, T;\nmad.wide.u32 OUT, L, 64, "
           "OUT;\n");
}

static const char *address_of(const struct access_form *f)
{
    return f->space == 'g'   ? "GA"
           : f->space == 's' ? "SA"
           : f->space == 'l' ? "LA"
           : f->space == 'c' ? "CA"
           : f->space == 'p' ? "blob+64"
                             : "AA";
}

static const char *register_of(const struct access_form *f)
{
    return f->kind != 'f' ? "x" : f->bytes == 4 ? "f" : "g";
}

static void put_operand(struct text *t, const struct access_form *f)
{
    if (f->wide) {
        say(t, "wide");
        return;
    }
    say(t, "%s", f->vec > 1 ? "{" : "");
    for (unsigned e = 0; e < f->vec; e++)
        say(t, "%s%s%u", e ? ", " : "", register_of(f), e);
    say(t, "%s", f->vec > 1 ? "}" : "");
}

static void put_load(struct text *t, const struct access_form *f, unsigned at)
{
    say(t, "%s ", f->text);
    put_operand(t, f);
    say(t, ", [%s];\n%s", address_of(f), f->wide ? "mov.b128 {x0, x1}, wide;\n" : "");
    for (unsigned e = 0; e < f->vec; e++)
        say(t, "st.global.%s [OUT+%u], %s%u;\n",
            f->kind != 'f'  ? "b64"
            : f->bytes == 4 ? "b32"
                            : "b64",
            at + 8 * e, register_of(f), e);
}

/* The pattern again, backwards, is what a store writes; then the whole slot is looked at. */
static void put_store(struct text *t, const struct access_form *f, unsigned at)
{
    for (unsigned i = 0; i < SLOT; i += 8)
        say(t, "ld.global.b64 w%u, [GA+%u];\n", i / 8, i);
    for (unsigned i = 0; i < SLOT; i += 8)
        say(t, "st.b64 [AA+%u], w%u;\nst.shared.b64 [SA+%u], w%u;\nst.local.b64 [LA+%u], w%u;\n", i,
            i / 8, i, i / 8, i, i / 8);
    for (unsigned e = 0; e < f->vec; e++) {
        say(t, "not.b64 x%u, w%u;\nshf.l.wrap.b32 O, L, L, %u;\ncvt.u64.u32 T, O;\n", e, e % 4, e);
        say(t, "xor.b64 x%u, x%u, T;\n", e, e);
        if (f->kind == 'f' && f->bytes == 4)
            say(t, "cvt.u32.u64 O, x%u;\nmov.b32 f%u, O;\n", e, e);
        else if (f->kind == 'f')
            say(t, "mov.b64 g%u, x%u;\n", e, e);
    }
    if (f->wide)
        say(t, "mov.b128 wide, {x0, x1};\n");
    /* what global memory had is kept in w0-w3 and put back */
    say(t, "%s [%s], ", f->text, address_of(f));
    put_operand(t, f);
    say(t, ";\n");
    for (unsigned i = 0; i < SLOT; i += 8)
        say(t, "ld%s.b64 x0, [%s+%u];\nst.global.b64 [OUT+%u], x0;\n",
            f->space == 's'   ? ".shared"
            : f->space == 'l' ? ".local"
                              : "",
            address_of(f), i, at + i);
    for (unsigned i = 0; i < SLOT; i += 8)
        say(t, "st.global.b64 [GA+%u], w%u;\n", i, i / 8);
}

/* --- what must come out --- */

static uint64_t element(const struct access_form *f, unsigned at)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < f->bytes; i++)
        v |= (uint64_t)pattern_byte(at + i) << 8 * i;
    const unsigned shift = 64 - 8 * f->bytes;
    return f->kind == 's' ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

static void check_load(const struct access_form *f, const uint64_t *got)
{
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned e = 0; e < f->vec; e++) {
            const unsigned slot = f->space == 'p' ? 64 : slot_of(lane);
            const uint64_t want = element(f, slot + e * f->bytes);
            if (got[lane * 8 + e] != want)
                fail_msg("%s, lane %u, element %u: got %llx, want %llx", f->text, lane, e,
                    (unsigned long long)got[lane * 8 + e], (unsigned long long)want);
        }
    }
}

static void check_store(const struct access_form *f, const uint64_t *got)
{
    for (unsigned lane = 0; lane < 32; lane++) {
        uint8_t slot[SLOT];
        uint64_t words[4];
        for (unsigned i = 0; i < SLOT; i++)
            slot[i] = pattern_byte(slot_of(lane) + i);
        memcpy(words, slot, SLOT);
        for (unsigned e = 0; e < f->vec; e++) {
            const uint32_t turned = lane << e;
            const uint64_t value = ~words[e % 4] ^ turned;
            memcpy(slot + e * f->bytes, &value, f->bytes);
        }
        if (memcmp(got + lane * 8, slot, SLOT) != 0)
            fail_msg("%s, lane %u: not these bytes in memory", f->text, lane);
    }
}

static void run_batch(struct batch *batch)
{
    static char ptx[1 << 20];
    static uint64_t got[BATCH * RESULT / 8];
    uint8_t pattern[AREA], params[512] = {0};
    struct text t = {ptx, ptx + sizeof(ptx)};
    struct bench b;

    put_start(&t);
    for (unsigned i = 0; i < batch->nr; i++)
        (batch->stores ? put_store : put_load)(&t, &batch->form[i], i * RESULT);
    say(&t, "ret;\n}\n");
    memset(got, 0, sizeof(got));
    for (unsigned i = 0; i < AREA; i++)
        pattern[i] = pattern_byte(i);
    bench_init(&b, ptx, 1);
    if (!b.module)
        fail_msg("%s ...: %s", batch->form[0].text, b.result.text);
    const uint64_t out = bench_buffer(&b, got, (uint64_t)batch->nr * RESULT),
                   in = bench_buffer(&b, pattern, AREA);
    memcpy(params, &out, 8);
    memcpy(params + 8, &in, 8);
    memcpy(params + 32, pattern, sizeof(params) - 32);
    struct emu_launch launch = {.grid = {1, 1, 1},
        .block = {32, 1, 1},
        .params = params,
        .params_bytes = 32 + AREA,
        .untimed = true};
    uint8_t all[32 + AREA];
    memcpy(all, params, 32);
    memcpy(all + 32, pattern, AREA);
    launch.params = all;
    b.what = batch->form[0].text;
    if (bench_launch(&b, launch) != VERDICT_OK)
        fail_msg("%s ...: %s", batch->form[0].text, b.result.text);
    bench_read(&b, 0, got, (uint64_t)batch->nr * RESULT);
    for (unsigned i = 0; i < batch->nr; i++)
        (batch->stores ? check_store : check_load)(&batch->form[i], got + i * (RESULT / 8));
    bench_finish(&b);
}

/* The instruction sets take turns. */
static void run_on_some_set(struct batch *batch)
{
    static unsigned turn;
    sem_use(SEM_BASE);
    sem_use((enum sem_isa)(turn++ % 3));
    run_batch(batch);
    for (unsigned i = 0; i < batch->nr; i++)
        note_forms(batch->form[i].text);
    nr_forms += batch->nr;
    batch->nr = 0;
}

static void add_form(const char *op, const char *modifiers, void *context)
{
    struct batch *batch = context;
    batch->form[batch->nr++] = read_form(op, modifiers);
    if (batch->nr == BATCH || recorder())
        run_on_some_set(batch);
}

static void all_of(const char *op)
{
    static struct batch batch;
    batch = (struct batch){.stores = op[0] == 's'};
    syntax_each(op, add_form, &batch);
    if (batch.nr)
        run_on_some_set(&batch);
}

static void loads(void **state)
{
    (void)state;
    all_of("ld");
    all_of("ldu");
}

static void stores(void **state)
{
    (void)state;
    all_of("st");
}

/* --- atomics --- */

/* One vector of a form: the old value and the operands of one thread. */
static double min_max(double x, double y, bool max)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    if (x == y)
        return max == !signbit(x) ? x : y;
    return (x < y) != max ? x : y;
}

static u64 float_atomic(u64 a, u64 b, enum conform_type t)
{
    double x = get(a, t), y = get(b, t);
    if (strcmp(now.op, "add") != 0)
        return put(min_max(x, y, now.op[1] == 'a'), t);
    if (t == F64)
        return put((double)((__float128)x + (__float128)y), t);
    if (now.ftz) {
        x = flushed(x, t);
        y = flushed(y, t);
    }
    const double r = round_to(x + y, 0, t, RN);
    return put(now.ftz ? flushed(r, t) : r, t);
}

static u64 integer_atomic(u64 a, u64 b, u64 c)
{
    const bool less = now.type == S32   ? (int32_t)a < (int32_t)b
                      : now.type == S64 ? (int64_t)a < (int64_t)b
                                        : a < b;
    static const char *const names[] = {
        "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
    unsigned which = 0;
    while (strcmp(names[which], now.op) != 0)
        which++;
    const u64 results[] = {a + b, less ? a : b, less ? b : a, a >= b ? 0 : a + 1,
        a == 0 || a > b ? b : a - 1, a & b, a | b, a ^ b, b, a == b ? c : a};
    return results[which];
}

/* now.mode: elements in one register (f16x2: 2). */
static u64 atomic(u64 a, u64 b, u64 c)
{
    const unsigned bits = 8 * type_bytes[now.type];
    u64 r = 0;
    if (now.type < F16)
        return integer_atomic(a, b, c);
    for (unsigned i = 0; i < now.mode; i++) {
        const u64 mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
        r |= (float_atomic(a >> i * bits & mask, b >> i * bits & mask, now.type) & mask)
             << i * bits;
    }
    return r;
}

struct atomics {
    char (*form)[FORM_BYTES];
    size_t nr, cap;
};

static void add_atomic(const char *op, const char *modifiers, void *context)
{
    struct atomics *all = context;
    if (strstr(modifiers, ".b128")) /* wide_atomics */
        return;
    if (all->nr == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 4096;
        all->form = realloc(all->form, all->cap * sizeof(*all->form));
        assert_non_null(all->form);
    }
    snprintf(all->form[all->nr++], FORM_BYTES, "%s%s", op, modifiers);
}

/* The form without order and scope, which must not matter to one thread alone. */
static void plain_form(const char *form, char plain[FORM_BYTES])
{
    static const char *const dropped[] = {
        ".relaxed", ".acquire", ".release", ".acq_rel", ".cta", ".cluster", ".gpu", ".sys"};
    const char *at = form;
    size_t n = 0;
    while (*at) {
        size_t len = 1 + strcspn(at + 1, ".");
        bool drop = false;
        for (unsigned i = 0; i < 8; i++)
            drop |= strlen(dropped[i]) == len && strncmp(dropped[i], at, len) == 0;
        if (!drop) {
            memcpy(plain + n, at, len);
            n += len;
        }
        at += len;
    }
    plain[n] = 0;
}

/* Sets now from a form's words; the number of elements of its vector. */
static unsigned read_atomic(const char *plain)
{
    static const char *const ops[] = {
        "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
    const char *type = strrchr(plain, '.') + 1;
    const bool two = strstr(type, "x2") != NULL;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 10; i++)
        now.op = has_word(plain, ops[i]) ? ops[i] : now.op;
    for (unsigned t = 0; t < NR_TYPES; t++) {
        if (strncmp(type, type_names[t], strlen(type) - (two ? 2 : 0)) == 0)
            now.type = (enum conform_type)t;
    }
    now.mode = two ? 2 : 1;
    /* the manual: atom.add.f32 flushes on global memory only */
    now.ftz = now.type == F32 && !has_word(plain, "shared");
    return has_word(plain, "v2") ? 2 : has_word(plain, "v4") ? 4 : has_word(plain, "v8") ? 8 : 1;
}

struct place {
    const char *start, *space, *address;
    bool is_shared;
};

static const struct place own_word = {"", "global", "%a2", false};
static const struct place vector_slot = {
    "ld.param.u64 %a7, [p3];\nmul.wide.u32 %a8, %i3, 16;\nadd.s64 %a9, %a7, %a8;\n", "global",
    "%a9", false};
static const struct place shared_word = {
    ".shared .align 16 .b8 sm[2048];\nmov.u32 %i4, sm;\nmad.lo.u32 %i4, %i1, 16, %i4;\n", "shared",
    "%i4", true};
static const struct place shared_generic = {
    ".shared .align 16 .b8 sm[2048];\nmov.u32 %i4, sm;\nmad.lo.u32 %i4, %i1, 16, %i4;\n"
    "cvt.u64.u32 %a7, %i4;\ncvta.shared.u64 %a7, %a7;\n",
    NULL, "%a7", true};

static void say_vector(struct text *t, const char *even, const char *odd, unsigned vec)
{
    say(t, "%s", vec > 1 ? "{" : "");
    for (unsigned e = 0; e < vec; e++) {
        const char *name = e % 2 ? odd : even;
        say(t, name[0] == 't' ? "%s%s%u" : "%s%s", e ? ", " : "", name, e);
    }
    say(t, "%s", vec > 1 ? "}" : "");
}

/* From the old value A, operands B and C (odd elements of a vector: A): what it gives back must be
 * A, what it leaves in elements of one parity goes to D, or must be what an earlier form left. */
static void say_atomic(
    struct text *t, const char *form, const struct place *at, unsigned vec, bool first, bool odd)
{
    const unsigned n = type_bytes[now.type] * now.mode;
    const char *dot = at->space ? "." : "", *space = at->space ? at->space : "";
    for (unsigned e = 0; e < vec; e++)
        say(t, "st%s%s.b%u [%s+%u], A;\n", dot, space, 8 * n, at->address, e * n);
    say(t, "%s ", form);
    if (form[0] == 'a') {
        say_vector(t, "t", "t", vec);
        say(t, ", ");
    }
    say(t, "[%s], ", at->address);
    say_vector(t, "B", "A", vec);
    say(t, "%s;\n", has_word(form, "cas") ? ", C" : "");
    for (unsigned e = 0; e < vec; e++) {
        if (form[0] == 'a')
            say(t, "setp.ne.or.b%u Q, t%u, A, Q;\n", 8 * n, e);
        if (e % 2 != odd)
            continue;
        say(t, "ld%s%s.b%u u, [%s+%u];\n", dot, space, 8 * n, at->address, e * n);
        if (first && e == odd)
            say(t, "mov.b%u D, u;\n", 8 * n);
        say(t, "setp.ne.or.b%u Q, u, D, Q;\n", 8 * n);
    }
}

static u64 atomic_with_itself(u64 a, u64 b, u64 c)
{
    return atomic(a, a, c);
}

/* All forms from `from` on that are the plain one but for order and scope, in one kernel; those by
 * one block only. Where they are recorded, a kernel has one. Gives the place behind the last. */
static size_t run_some_atomics(const struct atomics *all, size_t from, const char *plain,
    const struct place *at, unsigned vec, bool odd)
{
    static char text[1 << 15];
    struct text t = {text, text + sizeof(text)};
    const unsigned n = type_bytes[now.type] * now.mode;
    char name[FORM_BYTES];
    bool first = true;
    say(&t, ".reg .b%u t<8>, u;\n%ssetp.ne.b32 Q, %%i1, %%i1;\n", 8 * n, at->start);
    for (; from < all->nr && (first || !recorder()); from++) {
        plain_form(all->form[from], name);
        if (strcmp(name, plain) != 0)
            continue;
        say_atomic(&t, all->form[from], at, vec, first, odd);
        if (first)
            say(&t, "setp.ne.u32 P, %%i2, 0;\n@P bra DONE;\n");
        first = false;
    }
    if (first)
        return from;
    say(&t, "DONE:\n");
    if (now.type == F64)
        say(&t, "setp.nan.f64 P, D, D;\n@P mov.b64 D, 0x7ff8000000000000;\n");
    say(&t, n == 2 ? "@Q not.b16 D, D;" : n == 4 ? "@Q not.b32 D, D;" : "@Q not.b64 D, D;");
    run_form(text, n, n, n, strstr(plain, ".cas.") ? n : 0, odd ? atomic_with_itself : atomic, 0);
    return from;
}

static void run_atomic(
    const struct atomics *all, const char *plain, const struct place *at, unsigned vec, bool odd)
{
    for (size_t from = 0; from < all->nr;)
        from = run_some_atomics(all, from, plain, at, vec, odd);
}

static void run_plain_atomic(const struct atomics *all, const char *plain)
{
    const unsigned vec = read_atomic(plain);
    const bool is_shared = has_word(plain, "shared"), is_global = has_word(plain, "global");
    if (vec > 1) {
        run_atomic(all, plain, &vector_slot, vec, false);
        run_atomic(all, plain, &vector_slot, vec, true);
        return;
    }
    if (!is_shared)
        run_atomic(all, plain, &own_word, 1, false);
    now.ftz = false;
    if (!is_global)
        run_atomic(all, plain, is_shared ? &shared_word : &shared_generic, 1, false);
}

static void atomics_of(const char *op)
{
    struct atomics all = {NULL, 0, 0};
    char plain[FORM_BYTES];
    syntax_each(op, add_atomic, &all);
    for (size_t i = 0; i < all.nr; i++) {
        plain_form(all.form[i], plain);
        if (strcmp(plain, all.form[i]) == 0)
            run_plain_atomic(&all, plain);
    }
    free(all.form);
}

static void atomics(void **state)
{
    (void)state;
    sets_take_turns = true;
    atomics_of("atom");
    atomics_of("red");
}

/* Each lane's slot holds O, O + 1; B is the same but for every third lane's low half and every
 * fifth lane's high half, C something else: what comes back must be the slot as it was, what stays
 * C or B.
 */
#define WIDE_START                                                                                 \
    PTX_HEAD                                                                                       \
    ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.shared .align 16 .b8 s[512];\n"        \
    ".reg .b64 O, A, S, H, L, R<8>;\n.reg .b32 l, t, SA;\n.reg .b128 B, C, W;\n"                   \
    ".reg .pred P;\nld.param.u64 O, [p0];\nld.param.u64 A, [p1];\nmov.u32 l, %tid.x;\n"            \
    "mad.wide.u32 A, l, 16, A;\nmad.wide.u32 O, l, 64, O;\nmov.u32 SA, s;\n"                       \
    "mad.lo.u32 SA, l, 16, SA;\ncvt.u64.u32 S, SA;\ncvta.shared.u64 S, S;\n"                       \
    "cvt.u64.u32 L, l;\nadd.u64 H, L, 1;\nmov.b64 R0, L;\nmov.b64 R1, H;\n"                        \
    "rem.u32 t, l, 3;\nsetp.eq.u32 P, t, 0;\n@P not.b64 R0, R0;\nrem.u32 t, l, 5;\n"               \
    "setp.eq.u32 P, t, 0;\n@P not.b64 R1, R1;\nmov.b128 B, {R0, R1};\n"                            \
    "mov.b64 R2, 0x1111222233334444;\nmov.b64 R3, 0x5555666677778888;\n"                           \
    "mov.b128 C, {R2, R3};\n"

static void check_wide(const char *form, bool cas, const uint64_t *got)
{
    for (uint64_t l = 0; l < 32; l++) {
        const uint64_t b[2] = {l % 3 ? l : ~l, l % 5 ? l + 1 : ~(l + 1)},
                       c[2] = {UINT64_C(0x1111222233334444), UINT64_C(0x5555666677778888)},
                       old[2] = {l, l + 1},
                       *now_there = !cas             ? b
                                    : l % 3 && l % 5 ? c
                                                     : old;
        if (memcmp(got + l * 8, old, 16) != 0 || memcmp(got + l * 8 + 2, now_there, 16) != 0)
            fail_msg("%s, lane %u: not what it should give and leave", form, (unsigned)l);
    }
}

static void run_wide(const char *op, const char *modifiers, void *context)
{
    static char ptx[4096];
    char form[FORM_BYTES];
    uint64_t got[32 * 8], slots[64] = {0};
    const bool cas = strstr(modifiers, ".cas.") != NULL, global = strstr(modifiers, ".global"),
               shared = strstr(modifiers, ".shared");
    struct text t = {ptx, ptx + sizeof(ptx)};
    struct bench b;
    (void)context;
    if (!strstr(modifiers, ".b128"))
        return;
    snprintf(form, sizeof(form), "%s%s", op, modifiers);
    for (unsigned i = 0; i < 2; i++) { /* in global and in shared memory */
        if (i ? global : shared)
            continue;
        const char *at = !i ? "A" : shared ? "SA" : "S", *space = i && shared ? ".shared" : "";
        t.at = ptx;
        say(&t,
            "%sst%s.v2.b64 [%s], {L, H};\n%s W, [%s], B%s;\nmov.b128 {R4, R5}, W;\n"
            "ld%s.v2.b64 {R6, R7}, [%s];\nst.global.v2.b64 [O], {R4, R5};\n"
            "st.global.v2.b64 [O+16], {R6, R7};\nret;\n}\n",
            WIDE_START, space, at, form, at, cas ? ", C" : "", space, at);
        bench_init(&b, ptx, 2);
        if (!b.module)
            fail_msg("%s: %s", form, b.result.text);
        b.what = form;
        bench_buffer(&b, NULL, sizeof(got));
        bench_buffer(&b, slots, sizeof(slots));
        if (bench_run(&b, 1, 32) != VERDICT_OK)
            fail_msg("%s: %s", form, b.result.text);
        bench_read(&b, 0, got, sizeof(got));
        check_wide(form, cas, got);
        bench_finish(&b);
    }
    note_forms(form);
    nr_forms++;
}

static void wide_atomics(void **state)
{
    (void)state;
    syntax_each("atom", run_wide, NULL);
}

static void there_were_many_forms(void **state)
{
    (void)state;
    print_message("%u forms\n", nr_forms);
    assert_true(nr_forms > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads), cmocka_unit_test(stores),
        cmocka_unit_test(atomics), cmocka_unit_test(wide_atomics),
        cmocka_unit_test(there_were_many_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
