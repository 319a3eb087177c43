/* Owns how a variable gets its first value in the walk, and what plain names stand for. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "intake/eval/params.h"

#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

unsigned walk_template_params(
    struct walk *w, const struct decl *fn, const char **names, unsigned max)
{
    return template_params(w->host->toks, fn, names, max);
}

/* ---- first values ---- */

static void init_vector(
    struct walk *w, struct slot *slot, const struct range *args, unsigned nr, bool braces)
{
    const struct type *to = slot->type->to;
    unsigned each = walk_sizeof(w, to);
    struct value first = nr ? walk_evaluate(w, args[0]) : walk_int(0);
    bool device = strstr(slot->type->text, "device_vector") != NULL;

    if (nr && first.kind == VALUE_MEMORY && nr == 1 && !device) {
        slot->v = first;
        slot->v.type = to;
        return;
    }
    struct memory *m = walk_memory(w, -1, device);

    slot->v = walk_pointer(m, to, 0);
    m->name = slot->name;
    if (braces && nr) {
        for (unsigned k = 0; k < nr; k++)
            walk_set_cell(w, m, (int64_t)k * (each ? each : 8),
                walk_convert(w, walk_evaluate(w, args[k]), to));
        m->bytes = each ? (int64_t)each * nr : -1;
    } else if (first.kind == VALUE_INT && each && first.i >= 0 && first.i < INT64_MAX / each) {
        m->bytes = first.i * each;
        m->fill = nr > 1 ? walk_convert(w, walk_evaluate(w, args[1]), to)
                         : walk_convert(w, walk_int(0), to);
    } else if (first.kind == VALUE_MEMORY) { /* of another's elements */
        m->bytes = first.memory->bytes;
        m->lost = true;
    }
}

static void init_fields(struct walk *w, struct object *o, const struct range *args, unsigned nr)
{
    struct field *f = o->fields;

    for (unsigned a = 0; a < nr && args[a].from < args[a].to; a++) {
        const struct toks *toks = args[a].toks;
        struct slot *slot = f ? &f->slot : NULL;
        struct range init = args[a];

        if (tok_is(&toks->tok[init.from], ".") && init.to > init.from + 3) {
            slot = walk_field(w, o, toks->tok[init.from + 1].text);
            init.from += 2 + tok_is(&toks->tok[init.from + 2], "=");
        }
        if (slot)
            walk_initialise(w, slot, init, false);
        f = f ? f->next : NULL;
    }
}

static void init_struct(
    struct walk *w, struct slot *slot, const struct range *args, unsigned nr, bool braces)
{
    static const char *const parts[] = {"x", "y", "z", "w"};
    const struct type *type = slot->type;
    struct operand values[LAUNCH_MAX_ARGS];
    const struct decl *made = type->decl ? type_method(w, type, type->decl->name, nr) : NULL;

    if (nr == 1 && !braces && !made) {
        struct value v = walk_evaluate(w, args[0]);

        slot->v = v.kind == VALUE_OBJECT ? walk_copy(w, v) : (struct value){0};
        return;
    }
    slot->v = walk_object(w, type);
    if (made) {
        for (unsigned a = 0; a < nr; a++)
            values[a] = walk_operand(w, args[a]);
        walk_call(w, made, values, nr, slot->v.object, NULL, NULL);
        return;
    }
    if (!type->decl || type->kind == TYPE_DIM3)
        for (unsigned a = 0; a < nr && a < ARRAY_SIZE(parts); a++) {
            struct slot *part = walk_field(w, slot->v.object, parts[a]);

            walk_assign(w, part, walk_evaluate(w, args[a]));
        }
    else
        init_fields(w, slot->v.object, args, nr);
}

void walk_initialise(struct walk *w, struct slot *slot, struct range init, bool braces)
{
    struct range args[LAUNCH_MAX_ARGS];
    const struct type *type = slot->type;

    if (w->dry || ++w->depth > WALK_MAX_DEPTH)
        return;
    if (init.from < init.to && tok_is(&init.toks->tok[init.from], "{") &&
        init.toks->tok[init.from].match == init.to - 1) {
        init = (struct range){init.toks, init.from + 1, init.to - 1};
        braces = true;
    }
    unsigned nr = range_split(init, args, LAUNCH_MAX_ARGS);

    if (nr && args[nr - 1].from == args[nr - 1].to)
        nr--; /* a comma at the end */
    if (type && type->kind == TYPE_VECTOR) {
        init_vector(w, slot, args, nr, braces);
    } else if (type && type->kind == TYPE_DIM3) {
        struct value v = nr == 1 ? walk_evaluate(w, args[0]) : (struct value){0};

        if (v.kind == VALUE_OBJECT)
            slot->v = walk_copy(w, v);
        else
            init_struct(w, slot, args, nr, true);
    } else if (type && type->kind == TYPE_STRUCT) {
        init_struct(w, slot, args, nr, braces);
    } else if (type && type->kind == TYPE_OTHER && strstr(type->text, "uniform_") && nr == 2) {
        struct value low = walk_evaluate(w, args[0]), high = walk_evaluate(w, args[1]);

        slot->v = (struct value){.kind = VALUE_RANGE,
            .type = type_named(w, strstr(type->text, "uniform_int") ? "int" : "double")};
        if (!walk_number_of(&low, &slot->v.r) || !walk_number_of(&high, &slot->v.high))
            slot->v = (struct value){0};
    } else if (nr == 1) {
        walk_assign(w, slot, walk_evaluate(w, args[0]));
    } else if (type && type->kind == TYPE_OTHER && braces && nr != 0) {
        slot->v = walk_object(w, NULL);
    } else if (type && type->kind == TYPE_TEXT) {
        slot->v = (struct value){.kind = VALUE_TEXT, .text = ""};
    }
    w->depth--;
}

/* ---- names ---- */

static struct operand constant(struct walk *w, const char *name)
{
    static const struct {
        const char *name;
        double value;
        bool real;
    } known[] = {{"NULL", 0, false}, {"nullptr", 0, false}, {"false", 0, false}, {"true", 1, false},
        {"FALSE", 0, false}, {"TRUE", 1, false}, {"INT_MAX", INT_MAX, false},
        {"INT_MIN", INT_MIN, false}, {"UINT_MAX", UINT_MAX, false}, {"RAND_MAX", INT_MAX, false},
        {"CHAR_BIT", 8, false}, {"EXIT_SUCCESS", 0, false}, {"EXIT_FAILURE", 1, false},
        {"cudaSuccess", 0, false}, {"cudaMemcpyHostToHost", 0, false},
        {"cudaMemcpyHostToDevice", 1, false}, {"cudaMemcpyDeviceToHost", 2, false},
        {"cudaMemcpyDeviceToDevice", 3, false}, {"cudaMemcpyDefault", 4, false},
        {"cudaComputeModeDefault", 0, false}, {"cudaComputeModeExclusive", 1, false},
        {"cudaComputeModeProhibited", 2, false}, {"warpSize", 32, false},
        {"FLT_MAX", FLT_MAX, true}, {"FLT_MIN", FLT_MIN, true}, {"FLT_EPSILON", FLT_EPSILON, true},
        {"DBL_MAX", DBL_MAX, true}, {"DBL_EPSILON", DBL_EPSILON, true},
        {"M_PI", 3.14159265358979323846, true}, {"M_E", 2.7182818284590452354, true},
        {"M_SQRT2", 1.41421356237309504880, true}};
    struct operand o = {0};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (strcmp(known[i].name, name) == 0) {
            o.v = walk_int((int64_t)(known[i].real ? 0 : known[i].value));
            if (known[i].real)
                o.v = (struct value){
                    .kind = VALUE_REAL, .r = known[i].value, .type = type_named(w, "double")};
            break;
        }
    return o;
}

struct operand walk_named(struct walk *w, const char *name)
{
    struct slot *slot = walk_variable(w, name);
    const struct type *bound = walk_bound_type(w, name);
    struct operand o = constant(w, name);

    if (slot)
        return (struct operand){.v = slot->v, .slot = slot, .type = slot->type};
    if (bound && (isdigit((unsigned char)bound->text[0]) || bound->text[0] == '-'))
        return (struct operand){.v = walk_int(strtoll(bound->text, NULL, 10))};
    if (strcmp(name, "this") == 0 && w->frame && w->frame->self)
        o.v = (struct value){.kind = VALUE_OBJECT, .object = w->frame->self};
    if (strcmp(name, "optarg") == 0 && w->optarg)
        o.v = (struct value){.kind = VALUE_TEXT, .text = w->optarg};
    if (strcmp(name, "optind") == 0)
        o.v = walk_int(w->optind);
    if (o.v.kind != VALUE_UNKNOWN)
        return o;
    const struct macro *macro = hostcode_macro(w->host, name);

    if (macro && !macro->is_function)
        return walk_macro_call(w, macro, NULL, 0);
    const struct decl *fn = decls_function(w->host->decls, name);

    if (fn)
        o.v = (struct value){.kind = VALUE_CODE, .code = fn};
    w->steps += w->host->decls->nr / 16;
    return o;
}
