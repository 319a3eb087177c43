/* Conformance of the video instructions: every form, with parts of registers of every kind, against
 * the manual's own definitions written out in 128-bit arithmetic. */
#include "conform.h"

typedef __int128 wide;
typedef uint64_t u64;

/* The form at hand, beside what `now` has. */
static struct {
    bool sign[3]; /* of d, a, b, as the opcode names them */
    bool wrap, po, minus_a, minus_b, minus_c;
    unsigned scale;
    const char *then, *cmp; /* NULL: none */
    char part[3][8];        /* of d, a, b: "h1", "b3210" */
    unsigned parts;         /* 1, 2, 4 */
} form;

static bool op_is(const char *name)
{
    return strncmp(now.op, name, strlen(name)) == 0 &&
           strspn(now.op + strlen(name), "24") == strlen(now.op + strlen(name));
}

static wide extract(u64 bits, unsigned at, unsigned width, bool sign)
{
    const u64 field = bits >> at & ((UINT64_C(1) << width) - 1);
    return sign && field >> (width - 1) ? (wide)field - ((wide)1 << width) : (wide)field;
}

static wide clamped(wide v, unsigned width, bool sign)
{
    const wide top = ((wide)1 << (width - sign)) - 1, bottom = sign ? -((wide)1 << (width - 1)) : 0;
    return v > top ? top : v < bottom ? bottom : v;
}

static bool relation(wide x, wide y)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const bool results[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
    for (unsigned i = 0; i < 6; i++) {
        if (strcmp(names[i], form.cmp) == 0)
            return results[i];
    }
    fail_msg("comparison %s", form.cmp);
    return false;
}

static wide operation(wide x, wide y)
{
    const wide places = form.wrap ? y % 32 : y > 32 ? 32 : y;
    wide sum = x + y, v = 0;
    if (op_is("vadd"))
        return sum;
    if (op_is("vsub"))
        return x - y;
    if (op_is("vabsdiff"))
        return x > y ? x - y : y - x;
    if (op_is("vmin"))
        return x < y ? x : y;
    if (op_is("vmax"))
        return x < y ? y : x;
    if (op_is("vset"))
        return relation(x, y);
    if (op_is("vshl"))
        return x * ((wide)1 << places);
    if (op_is("vshr")) { /* towards minus infinity */
        v = x / ((wide)1 << places);
        return v * ((wide)1 << places) > x ? v - 1 : v;
    }
    assert_true(op_is("vavrg"));
    sum += sum >= 0;
    v = sum / 2;
    return v * 2 > sum ? v - 1 : v;
}

/* Width and place of a scalar's part. */
static unsigned part_width(const char *part)
{
    return !part[0] ? 32 : part[0] == 'b' ? 8 : 16;
}

static unsigned part_at(const char *part)
{
    return part[0] ? (unsigned)(part[1] - '0') * part_width(part) : 0;
}

static u64 scalar(u64 a, u64 b, u64 c)
{
    const wide x = extract(a, part_at(form.part[1]), part_width(form.part[1]), form.sign[1]),
               y = extract(b, part_at(form.part[2]), part_width(form.part[2]), form.sign[2]),
               z = extract(c, 0, 32, form.sign[0]);
    const unsigned width = part_width(form.part[0]), at = part_at(form.part[0]);
    wide v = operation(x, y);
    if (now.sat)
        v = clamped(v, width, form.sign[0]);
    v = extract((u64)v, 0, 33, true);
    if (form.then)
        v = form.then[0] == 'a' ? v + z : (form.then[1] == 'i') == (v < z) ? v : z;
    if (!form.part[0][0])
        return (u64)v & 0xffffffff;
    const u64 mask = ((UINT64_C(1) << width) - 1) << at;
    return ((u64)v << at & mask) | (c & ~mask);
}

static u64 multiplied(u64 a, u64 b, u64 c)
{
    const wide x = extract(a, part_at(form.part[1]), part_width(form.part[1]), form.sign[1]),
               y = extract(b, part_at(form.part[2]), part_width(form.part[2]), form.sign[2]);
    const bool minus = form.minus_a != form.minus_b,
               sign = form.sign[1] || form.sign[2] || minus || form.minus_c;
    wide z = extract(form.minus_c ? ~c : c, 0, 32, sign);
    /* ~x + 1 is -x */
    wide v = (minus ? -(x * y) : x * y) + z + (form.minus_c || form.po ? 1 : 0);
    const wide unit = (wide)1 << form.scale;
    wide q = v / unit;
    q -= q * unit > v;
    return (u64)(now.sat ? clamped(q, 32, sign) : q) & 0xffffffff;
}

/* The digit for part i, counted from the lowest, of a selector written from the highest. */
static unsigned digit(const char *part, unsigned i, unsigned otherwise)
{
    return part[0] ? (unsigned)(part[form.parts - i] - '0') : otherwise;
}

static u64 simd(u64 a, u64 b, u64 c)
{
    const unsigned width = 32 / form.parts;
    const u64 both = b << 32 | (a & 0xffffffff);
    u64 merged = 0, sum = c;
    for (unsigned i = 0; i < form.parts; i++) {
        const unsigned p = digit(form.part[1], i, i), q = digit(form.part[2], i, form.parts + i);
        const u64 mask = ((UINT64_C(1) << width) - 1) << i * width;
        const bool on = !form.part[0][0] || strchr(form.part[0] + 1, (int)('0' + i));
        wide v = operation(extract(both, p * width, width, form.sign[1]),
            extract(both, q * width, width, form.sign[2]));
        if (now.sat)
            v = clamped(v, width, form.sign[0]);
        merged |= on ? (u64)v << i * width & mask : c & mask;
        sum += on ? (u64)v : 0;
    }
    return (form.then ? sum : merged) & 0xffffffff;
}

/* --- forms --- */

static const char *const scalar_parts[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
static const char *const pairs[] = {"", "h00", "h13", "h32", "h01", "h21", "h10", "h33"};
static const char *const pair_masks[] = {"", "h0", "h1", "h10"};
static const char *const fours[] = {
    "", "b3210", "b0123", "b7654", "b4444", "b0257", "b6310", "b5071"};
static const char *const four_masks[] = {"", "b0", "b1", "b10", "b2", "b20", "b21", "b210", "b3",
    "b30", "b31", "b310", "b32", "b320", "b321", "b3210"};

static const char *one_of(const char *const *list, size_t nr, unsigned which)
{
    return list[which % nr];
}

static void read_modifiers(const char *op, const char *modifiers)
{
    static const char *const seconds[] = {"add", "min", "max"};
    static const char *const cmps[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    unsigned nr_types = 0;
    memset(&form, 0, sizeof(form));
    now.op = op;
    form.parts = strchr(op, '2') ? 2 : strchr(op, '4') ? 4 : 1;
    now.sat = has_word(modifiers, "sat");
    form.wrap = has_word(modifiers, "wrap");
    form.po = has_word(modifiers, "po");
    form.scale = has_word(modifiers, "shr7") ? 7 : has_word(modifiers, "shr15") ? 15 : 0;
    for (unsigned i = 0; i < 3; i++)
        form.then = has_word(modifiers, seconds[i]) ? seconds[i] : form.then;
    for (unsigned i = 0; i < 6; i++)
        form.cmp = has_word(modifiers, cmps[i]) ? cmps[i] : form.cmp;
    nr_types = form.cmp ? 1 : 0; /* of a comparison d is unsigned, and has no type */
    for (const char *at = strchr(modifiers, '.'); at; at = strchr(at + 1, '.')) {
        if (strncmp(at, ".u32", 4) == 0 || strncmp(at, ".s32", 4) == 0)
            form.sign[nr_types++] = at[1] == 's';
    }
    if (form.cmp) /* but an H100 takes the second operation's c for one of a's type */
        form.sign[0] = form.sign[1];
}

static void dotted(char *text, const char *reg, const char *part)
{
    sprintf(text + strlen(text), "%s%s%s", reg, part[0] ? "." : "", part);
}

static unsigned nr_run;

static void pick_parts(unsigned k, bool merges)
{
#define PICK(list, which) one_of(list, sizeof(list) / sizeof(*(list)), which)
    const bool one = form.parts == 1, two = form.parts == 2;
    const char *a = one   ? PICK(scalar_parts, k)
                    : two ? PICK(pairs, k)
                          : PICK(fours, k),
               *b = one   ? PICK(scalar_parts, k / 7 + 2 * k)
                    : two ? PICK(pairs, 3 * k + 1)
                          : PICK(fours, 3 * k + 1),
               *d = one   ? (merges ? scalar_parts[1 + k % 6] : "")
                    : two ? PICK(pair_masks, k)
                          : PICK(four_masks, k);
    snprintf(form.part[0], sizeof(form.part[0]), "%s", d);
    snprintf(form.part[1], sizeof(form.part[1]), "%s", a);
    snprintf(form.part[2], sizeof(form.part[2]), "%s", b);
}

static void run_one(const char *op, const char *modifiers)
{
    char text[256] = "";
    const bool mad = op_is("vmad");
    const bool third = form.parts > 1 || form.then || form.part[0][0] || mad;
    snprintf(text, sizeof(text), "%s%s ", op, modifiers);
    dotted(text, "D", form.part[0]);
    strcat(text, form.minus_a ? ", -" : ", ");
    dotted(text, "A", form.part[1]);
    strcat(text, form.minus_b ? ", -" : ", ");
    dotted(text, "B", form.part[2]);
    strcat(text, !third ? ";" : form.minus_c ? ", -C;" : ", C;");
    run_form(text, 4, 4, 4, third ? 4 : 0, mad ? multiplied : form.parts > 1 ? simd : scalar, 0);
    nr_run++;
}

static void run_video(const char *op, const char *modifiers, void *context)
{
    (void)context;
    if (op[0] != 'v' || strcmp(op, "vote") == 0)
        return;
    read_modifiers(op, modifiers);
    const bool mad = op_is("vmad");
    run_one(op, modifiers); /* whole registers */
    pick_parts(nr_run, !form.then && !mad);
    if (mad)
        form.part[0][0] = 0;
    run_one(op, modifiers);
    if (!mad || form.po)
        return;
    for (unsigned signs = 1; signs < 5; signs++) {
        form.minus_a = signs == 1 || signs == 3;
        form.minus_b = signs == 2 || signs == 3;
        form.minus_c = signs == 4;
        run_one(op, modifiers);
    }
}

static void every_form(void **state)
{
    (void)state;
    sets_take_turns = true;
    syntax_each(NULL, run_video, NULL);
    print_message("%u forms with parts\n", nr_run);
    assert_true(nr_run > 1500);
}

/* Every part and mask at least once, whatever the forms above got. */
static void every_part(void **state)
{
    static const char *const ops[] = {"vsub", "vsub2", "vset4"};
    static const char *const modifiers[] = {".s32.s32.u32", ".s32.s32.u32", ".u32.s32.lt"};
    (void)state;
    for (unsigned o = 0; o < 3; o++) {
        for (unsigned k = 0; k < 49; k++) {
            read_modifiers(ops[o], modifiers[o]);
            pick_parts(k, true);
            run_one(ops[o], modifiers[o]);
        }
    }
}

static void what_does_not_go_together(void **state)
{
    static const char *const texts[] = {"vadd.u32.u32.u32.max D.b0, A, B, C;",
        "vadd.u32.u32.u32.max D, A, B;", "vadd.u32.u32.u32 D.b0, A, B;",
        "vadd.u32.u32.u32 D.b4, A, B, C;", "vadd.u32.u32.u32 D, A.h2, B;",
        "vadd.u32.u32.u32 D, A.h10, B;", "vadd.u32.u32.u32.and D, A, B, C;",
        "vadd.u64.u32.u32 D, A, B;", "vadd2.u32.u32.u32 D.b0, A, B, C;",
        "vadd2.u32.u32.u32 D.h01, A, B, C;", "vadd2.u32.u32.u32 D, A.h1, B, C;",
        "vadd2.u32.u32.u32.sat.add D, A, B, C;", "vadd2.u32.u32.u32.max D, A, B, C;",
        "vadd4.u32.u32.u32 D, A.b32, B, C;", "vset.u32.u32.lo D, A, B;",
        "vset.u32.u32.u32.lt D, A, B;", "vset4.u32.u32 D, A, B, C;", "vshl.u32.u32.u32 D, A, B;",
        "vshl.u32.u32.s32.clamp D, A, B;", "vshl.u32.u32.u32.clamp.wrap D, A, B;",
        "vmad.u32.u32.u32.po D, -A, B, C;", "vmad.u32.u32.u32 D, -A, B, -C;",
        "vmad.u32.u32.u32.shr7.shr15 D, A, B, C;", "vmad.u32.u32.u32 D.h0, A, B, C;",
        "vadd.u32.u32.u32 D, -A, B;", "vadd.u32.u32.u32 D, A, B, C.b0;"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char ptx[512];
        struct bench b;
        snprintf(ptx, sizeof(ptx), "%s.visible .entry k()\n{\n.reg .b32 A, B, C, D;\n%s\nret;\n}\n",
            PTX_HEAD, texts[i]);
        bench_init(&b, ptx, 1);
        if (b.module || b.result.verdict != VERDICT_NO_COMPILE)
            fail_msg("%s: verdict %d: %s", texts[i], b.result.verdict, b.result.text);
        bench_finish(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form), cmocka_unit_test(every_part),
        cmocka_unit_test(what_does_not_go_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
