/* Owns how a variable gets its first value in the interpreter, and what plain names stand for. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- first values ---- */

static void init_vector(struct interp *ip, struct interp_slot *slot, const struct tok_range *args,
    unsigned nr, bool braces)
{
    const struct type *to = slot->type->to;
    unsigned each = interp_sizeof(ip, to);
    struct interp_value first = nr ? interp_evaluate(ip, args[0]) : interp_int(0);

    if (first.kind == VALUE_REAL && !braces) /* a number of elements: v(1e6) */
        first = interp_convert(ip, first, interp_type_named(ip, "long"));
    bool device = strstr(slot->type->text, "device_vector") != NULL;

    if (nr && first.kind == VALUE_MEMORY && nr == 1 && !device) {
        slot->v = first;
        slot->v.type = to;
        return;
    }
    struct memory *m = interp_memory(ip, -1, device);

    slot->v = interp_pointer(m, to, 0);
    m->name = slot->name;
    if (braces && nr) {
        for (unsigned k = 0; k < nr; k++)
            interp_set_cell(ip, m, (int64_t)k * (each ? each : 8),
                interp_convert(ip, interp_evaluate(ip, args[k]), to));
        m->bytes = each ? (int64_t)each * nr : -1;
    } else if (interp_said(ip, &first) && each && first.i >= 0 && first.i < INT64_MAX / each) {
        m->bytes = first.kind == VALUE_SIZE ? -1 : first.i * each;
        m->said = said_of(ip->arena, "*", first.said, said_number(ip->arena, each), NULL);
        m->fill = nr > 1 ? interp_convert(ip, interp_evaluate(ip, args[1]), to)
                         : interp_convert(ip, interp_int(0), to);
    } else if (first.kind == VALUE_MEMORY) { /* the elements of another vector */
        m->bytes = first.memory->bytes;
        m->lost = true;
    }
}

static void init_fields(
    struct interp *ip, struct interp_object *o, const struct tok_range *args, unsigned nr)
{
    const struct type_field *f = interp_type_fields(ip, o->type)->first;

    for (unsigned a = 0; a < nr && args[a].from < args[a].to; a++) {
        const struct toks *toks = args[a].toks;
        struct interp_slot *slot = f ? interp_field(ip, o, f->name) : NULL;
        struct tok_range init = args[a];

        if (toks_is(toks, init.from, ".") && init.to > init.from + 3) {
            slot = interp_field(ip, o, toks->tok[init.from + 1].text);
            init.from += 2 + toks_is(toks, init.from + 2, "=");
        }
        if (slot)
            interp_initialise(ip, slot, init, false);
        f = f ? f->next : NULL;
    }
}

static void init_struct(struct interp *ip, struct interp_slot *slot, const struct tok_range *args,
    unsigned nr, bool braces)
{
    static const char *const parts[] = {"x", "y", "z", "w"};
    const struct type *type = slot->type;
    struct interp_operand values[LAUNCH_MAX_ARGS];
    const struct decl *made =
        type->decl ? interp_type_method(ip, type, type->decl->name, nr) : NULL;

    for (unsigned a = 0; a < nr && (made || (nr == 1 && !braces)); a++)
        values[a] = interp_operand(ip, args[a]);
    if (nr == 1 &&
        (made ? values[0].v.kind == VALUE_OBJECT && values[0].v.object->type == type : !braces)) {
        const struct interp_value v = interp_used(ip, &values[0]);

        slot->v = v.kind == VALUE_OBJECT ? interp_copy(ip, v) : (struct interp_value){0};
        return;
    }
    slot->v = interp_object(ip, type);
    if (made) {
        interp_call(ip, made, values, nr, slot->v.object, NULL, NULL);
        return;
    }
    if (!type->decl || type->kind == TYPE_DIM3)
        for (unsigned a = 0; a < nr && a < ARRAY_SIZE(parts); a++) {
            struct interp_slot *part = interp_field(ip, slot->v.object, parts[a]);

            interp_assign(ip, part, interp_evaluate(ip, args[a]));
        }
    else
        init_fields(ip, slot->v.object, args, nr);
}

/* Device code makes an object of a type that is not in the file. The variable of one argument
 * stands for this. */
static void walk_other(
    struct interp *ip, struct interp_slot *slot, const struct tok_range *args, unsigned nr)
{
    struct interp_operand values[LAUNCH_MAX_ARGS];

    for (unsigned a = 0; a < nr; a++)
        values[a] = interp_operand(ip, args[a]);
    if (nr > 1 || strstr(slot->type->text, "atomic")) /* atomic_ref<float> of an element */
        interp_walk_call(ip, slot->type->text, values, nr);
    else
        interp_assign(ip, slot, interp_used(ip, &values[0]));
}

void interp_initialise(
    struct interp *ip, struct interp_slot *slot, struct tok_range init, bool braces)
{
    struct tok_range args[LAUNCH_MAX_ARGS];
    const struct type *type = slot->type;

    if (++ip->depth > INTERP_MAX_DEPTH)
        return;
    if (init.from < init.to && toks_is(init.toks, init.from, "{") &&
        init.toks->tok[init.from].match == init.to - 1) {
        init = (struct tok_range){init.toks, init.from + 1, init.to - 1};
        braces = true;
    }
    unsigned nr = tok_range_split(init, args, LAUNCH_MAX_ARGS);

    if (nr && args[nr - 1].from == args[nr - 1].to)
        nr--; /* a comma at the end */
    if (type && type->kind == TYPE_VECTOR) {
        init_vector(ip, slot, args, nr, braces);
    } else if (type && type->kind == TYPE_DIM3) {
        struct interp_value v = nr == 1 ? interp_evaluate(ip, args[0]) : (struct interp_value){0};

        if (v.kind == VALUE_OBJECT)
            slot->v = interp_copy(ip, v);
        else
            init_struct(ip, slot, args, nr, true);
    } else if (type && type->kind == TYPE_STRUCT) {
        init_struct(ip, slot, args, nr, braces);
    } else if (type && type->kind == TYPE_OTHER && strstr(type->text, "uniform_") && nr == 2) {
        struct interp_value low = interp_evaluate(ip, args[0]), high = interp_evaluate(ip, args[1]);

        slot->v = (struct interp_value){.kind = VALUE_RANGE,
            .type = interp_type_named(ip, strstr(type->text, "uniform_int") ? "int" : "double")};
        if (!interp_number_of(&low, &slot->v.r) || !interp_number_of(&high, &slot->v.high))
            slot->v = (struct interp_value){0};
    } else if (nr == 1 && braces && type && type->kind == TYPE_OTHER &&
               str_starts(type->text, "cudaLaunch")) { /* = {0} */
        slot->v = interp_object(ip, NULL);
    } else if (ip->walk && type && type->kind == TYPE_OTHER && nr != 0) {
        walk_other(ip, slot, args, nr);
    } else if (nr == 1) {
        interp_assign(ip, slot, interp_evaluate(ip, args[0]));
    } else if (type && type->kind == TYPE_OTHER && braces && nr != 0) {
        slot->v = interp_object(ip, NULL);
    } else if (type && type->kind == TYPE_TEXT) {
        slot->v = (struct interp_value){.kind = VALUE_TEXT, .text = ""};
    }
    ip->depth--;
}

/* ---- names ---- */

static struct interp_operand constant(struct interp *ip, const char *name)
{
    static const struct {
        const char *name;
        double value;
        bool real;
    } known[] = {{"cudaLaunchAttributeClusterDimension", LAUNCH_CLUSTER, false}, {"NULL", 0, false},
        {"nullptr", 0, false}, {"false", 0, false}, {"true", 1, false}, {"FALSE", 0, false},
        {"TRUE", 1, false}, {"INT_MAX", INT_MAX, false}, {"INT_MIN", INT_MIN, false},
        {"UINT_MAX", UINT_MAX, false}, {"RAND_MAX", INT_MAX, false}, {"CHAR_BIT", 8, false},
        {"EXIT_SUCCESS", 0, false}, {"EXIT_FAILURE", 1, false}, {"cudaSuccess", 0, false},
        {"cudaMemcpyHostToHost", 0, false}, {"cudaMemcpyHostToDevice", 1, false},
        {"cudaMemcpyDeviceToHost", 2, false}, {"cudaMemcpyDeviceToDevice", 3, false},
        {"cudaMemcpyDefault", 4, false}, {"cudaComputeModeDefault", 0, false},
        {"cudaComputeModeExclusive", 1, false}, {"cudaComputeModeProhibited", 2, false},
        {"warpSize", 32, false}, {"cudaAddressModeWrap", 0, false},
        {"cudaAddressModeClamp", 1, false}, {"cudaAddressModeMirror", 2, false},
        {"cudaAddressModeBorder", 3, false}, {"cudaFilterModePoint", 0, false},
        {"cudaFilterModeLinear", 1, false}, {"cudaReadModeElementType", 0, false},
        {"cudaReadModeNormalizedFloat", 1, false}, {"cudaChannelFormatKindSigned", 0, false},
        {"cudaChannelFormatKindUnsigned", 1, false}, {"cudaChannelFormatKindFloat", 2, false},
        {"FLT_MAX", FLT_MAX, true}, {"FLT_MIN", FLT_MIN, true}, {"FLT_EPSILON", FLT_EPSILON, true},
        {"DBL_MAX", DBL_MAX, true}, {"DBL_EPSILON", DBL_EPSILON, true},
        {"M_PI", 3.14159265358979323846, true}, {"M_E", 2.7182818284590452354, true},
        {"M_SQRT2", 1.41421356237309504880, true}};
    struct interp_operand o = {0};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            o.v = interp_int((int64_t)(known[i].real ? 0 : known[i].value));
            if (known[i].real)
                o.v = (struct interp_value){.kind = VALUE_REAL,
                    .r = known[i].value,
                    .type = interp_type_named(ip, "double")};
            break;
        }
    return o;
}

struct interp_operand interp_named(struct interp *ip, const char *name)
{
    struct interp_slot *slot = interp_variable(ip, name);
    const struct type *bound = interp_bound_type(ip, name);
    struct interp_operand o = constant(ip, name);

    if (slot)
        return (struct interp_operand){
            .v = slot->v, .slot = slot, .type = slot->type, .memory = slot->element};
    if (bound && (isdigit((unsigned char)bound->text[0]) || bound->text[0] == '-'))
        return (struct interp_operand){.v = interp_int(strtoll(bound->text, NULL, 10))};
    if (strcmp(name, "this") == 0 && ip->frame && ip->frame->self)
        o.v = (struct interp_value){.kind = VALUE_OBJECT, .object = ip->frame->self};
    if (strcmp(name, "optarg") == 0 && ip->optarg)
        o.v = (struct interp_value){.kind = VALUE_TEXT, .text = ip->optarg};
    if (strcmp(name, "optind") == 0)
        o.v = interp_int(ip->optind);
    if (o.v.kind != VALUE_UNKNOWN)
        return o;
    const struct macro *macro = resolver_macro(ip->resolver, name);

    if (macro && !macro->is_function) {
        o = interp_macro_call(ip, macro, NULL, 0);
        if (o.v.kind == VALUE_INT && !o.v.said && o.v.i > 0)
            o.v.said = said_named(ip->arena, (struct said_name){.text = macro->name,
                                                 .value = o.v.i,
                                                 .known = true,
                                                 .is_macro = true,
                                                 .line = macro->line});
        return o;
    }
    const struct decl *fn = decls_function(ip->resolver->decls, name);

    if (fn)
        o.v = (struct interp_value){.kind = VALUE_CODE, .code = fn};
    ip->steps += ip->resolver->decls->nr / 16;
    return o;
}
