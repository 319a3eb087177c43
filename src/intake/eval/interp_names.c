/* Owns what the interpreter remembers: variables, fields, elements of memory. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 1 << 15, MAX_COPIED = 1024 };

struct interp_value interp_int(int64_t i)
{
    return (struct interp_value){.kind = VALUE_INT, .i = i};
}

int64_t interp_along(int64_t offset, int64_t nr, unsigned each)
{
    return (int64_t)((uint64_t)offset + (uint64_t)nr * each);
}

struct interp_value interp_pointer(struct memory *m, const struct type *to, int64_t offset)
{
    return (struct interp_value){.kind = VALUE_MEMORY, .memory = m, .type = to, .i = offset};
}

struct memory *interp_memory(struct interp *ip, int64_t bytes, bool device)
{
    struct memory *m = arena_alloc(ip->arena, sizeof(*m));

    m->bytes = bytes;
    m->device = device;
    m->at = ip->at;
    m->line = ip->resolver->toks->tok[ip->at].line;
    return m;
}

/* ---- conversions ---- */

bool interp_whole(const struct interp_value *v, int64_t *i)
{
    *i = v->kind == VALUE_REAL && fabs(v->r) < 9e18 ? (int64_t)v->r : v->i;
    return v->kind == VALUE_INT || (v->kind == VALUE_REAL && fabs(v->r) < 9e18);
}

static int64_t cut(int64_t i, const struct type *type)
{
    unsigned bits = 8 * type->bytes;

    if (bits == 0 || bits >= 64)
        return i;
    uint64_t low = (uint64_t)i & ((UINT64_C(1) << bits) - 1);
    bool negative = !type->is_unsigned && (low >> (bits - 1)) & 1;

    return negative ? (int64_t)(low | ~((UINT64_C(1) << bits) - 1)) : (int64_t)low;
}

struct interp_value interp_convert(
    struct interp *ip, struct interp_value v, const struct type *type)
{
    if (!type)
        return v;
    bool number = v.kind == VALUE_INT || v.kind == VALUE_REAL;

    if (type->kind == TYPE_INT && number) {
        if (v.kind == VALUE_REAL && !(fabs(v.r) < 9e18))
            return (struct interp_value){0};
        bool is_bool = strcmp(type->text, "bool") == 0;
        int64_t i = v.kind == VALUE_REAL ? (int64_t)v.r : v.i;
        const struct said *said = said_whole(ip->arena, v.said, false);

        v = interp_int(is_bool ? (v.kind == VALUE_REAL ? v.r != 0 : v.i != 0) : cut(i, type));
        v.type = type;
        v.said = v.i == i ? said : NULL;
    } else if (type->kind == TYPE_REAL && number) {
        double r = v.kind == VALUE_INT ? (double)v.i : v.r;

        v = (struct interp_value){.kind = VALUE_REAL, .type = type, .said = v.said};
        v.r = type->bytes == 4 ? (double)(float)r : r;
    } else if ((type->kind == TYPE_INT || type->kind == TYPE_REAL) && v.kind == VALUE_SIZE) {
        v.said = type->kind == TYPE_INT ? said_whole(ip->arena, v.said, false) : v.said;
        v.type = type;
    } else if ((type->kind == TYPE_INT || type->kind == TYPE_REAL) && v.kind == VALUE_RANGE) {
        if (type->kind == TYPE_INT) {
            v.high = v.type && v.type->kind == TYPE_REAL && v.high > v.r ? ceil(v.high) - 1
                                                                         : floor(v.high);
            v.r = floor(v.r);
        }
        v.type = type;
    } else if (type->kind == TYPE_POINTER && v.kind == VALUE_MEMORY) {
        if (type->to && type->to->kind != TYPE_OTHER) /* a void* keeps the type of its elements */
            v.type = type->to;
    } else if (type->kind == TYPE_DIM3 && (number || v.kind == VALUE_SIZE)) {
        struct interp_value o = interp_object(ip, type);

        interp_field(ip, o.object, "x")->v = interp_convert(ip, v, interp_type_named(ip, "int"));
        return o;
    } else if (type->kind == TYPE_STRUCT && v.kind == VALUE_OBJECT && type->decl) {
        v.object->type = v.object->type ? v.object->type : type;
    }
    return v;
}

struct interp_value interp_copy(struct interp *ip, struct interp_value v)
{
    if (v.kind != VALUE_OBJECT || ++ip->depth > INTERP_MAX_DEPTH)
        return v;
    struct interp_object *o = arena_alloc(ip->arena, sizeof(*o));
    struct field **end = &o->fields;

    o->type = v.object->type;
    for (const struct field *f = v.object->fields; f && interp_step(ip); f = f->next) {
        struct field *copy = arena_alloc(ip->arena, sizeof(*copy));

        *copy = (struct field){.slot = f->slot};
        copy->slot.v = interp_copy(ip, f->slot.v);
        *end = copy;
        end = &copy->next;
    }
    ip->depth--;
    v.object = o;
    return v;
}

/* ---- fields ---- */

/* Gives a field what it is declared with. */
static void begin_field(
    struct interp *ip, struct interp_slot *slot, const struct type_field *f, const struct type *in)
{
    const struct type *type = slot->type = f->type;

    if (f->count != 1) {
        unsigned each = interp_sizeof(ip, type);

        slot->type = NULL;
        slot->v =
            interp_pointer(interp_memory(ip, each ? (int64_t)each * f->count : -1, false), type, 0);
    } else if (type && type != in && (type->kind == TYPE_STRUCT || type->kind == TYPE_DIM3)) {
        slot->v = interp_object(ip, type);
    }
    if (f->from < f->to)
        interp_initialise(ip, slot, (struct tok_range){ip->resolver->toks, f->from, f->to}, false);
}

/* make false: only a field that the object or its type has. */
static struct interp_slot *field_of(
    struct interp *ip, struct interp_object *object, const char *name, bool make)
{
    struct field **at = &object->fields;
    const struct type_field *f =
        object->type && object->type->decl ? interp_type_fields(ip, object->type)->first : NULL;

    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->slot.name, name) == 0)
            return &(*at)->slot;
    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (!f && !make)
        return NULL;
    *at = arena_alloc(ip->arena, sizeof(**at));
    struct interp_slot *slot = &(*at)->slot;

    slot->name = arena_strdup(ip->arena, name);
    slot->born = ip->nr_slots++;
    if (f && ip->depth < INTERP_MAX_DEPTH) {
        begin_field(ip, slot, f, object->type);
    }
    return slot;
}

struct interp_slot *interp_field(struct interp *ip, struct interp_object *object, const char *name)
{
    return field_of(ip, object, name, true);
}

struct interp_value interp_object(struct interp *ip, const struct type *type)
{
    static const char *const dims[] = {"x", "y", "z"};
    struct interp_object *o = arena_alloc(ip->arena, sizeof(*o));

    o->type = type;
    for (unsigned i = 0; type && type->kind == TYPE_DIM3 && i < 3; i++) {
        struct interp_slot *slot = interp_field(ip, o, dims[i]);

        slot->v = interp_int(1);
        slot->type = interp_type_named(ip, "unsigned int");
    }
    return (struct interp_value){.kind = VALUE_OBJECT, .type = type, .object = o};
}

/* ---- variables ---- */

struct interp_slot *interp_declare(struct interp *ip, const char *name, const struct type *type)
{
    struct var *var = arena_alloc(ip->arena, sizeof(*var));
    struct var **list = ip->frame ? &ip->frame->vars : &ip->globals;

    var->name = name;
    var->slot = arena_alloc(ip->arena, sizeof(*var->slot));
    *var->slot = (struct interp_slot){.type = type,
        .name = name,
        .at = ip->at,
        .nameless = ip->frame && ip->frame->plain,
        .born = ip->nr_slots++};
    var->next = *list;
    *list = var;
    return var->slot;
}

static struct interp_slot *among(struct interp *ip, struct var *vars, const char *name)
{
    for (; vars; vars = vars->next) {
        if (strcmp(vars->name, name) == 0)
            return vars->slot;
        ip->steps += (ip->steps & 7) == 0;
    }
    return NULL;
}

struct interp_slot *interp_global(struct interp *ip, const char *name)
{
    return among(ip, ip->globals, name);
}

struct interp_slot *interp_variable(struct interp *ip, const char *name)
{
    struct interp_slot *slot = ip->frame ? among(ip, ip->frame->vars, name) : NULL;

    if (!slot && ip->frame && ip->frame->self)
        slot = field_of(ip, ip->frame->self, name, false);
    return slot ? slot : among(ip, ip->globals, name);
}

const struct type *interp_bound_type(struct interp *ip, const char *name)
{
    for (const struct bound *b = ip->frame ? ip->frame->bound : NULL; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return b->type;
    return NULL;
}

void interp_counted(struct interp *ip, struct interp_slot *slot)
{
    if (!slot)
        return;
    slot->v.said = NULL;
    if (slot->v.kind == VALUE_SIZE)
        slot->v = (struct interp_value){0};
}

void interp_assign(struct interp *ip, struct interp_slot *slot, struct interp_value v)
{
    if (ip->walk && !interp_watched(ip, &v) &&
        (interp_watched(ip, &slot->v) || slot->born < ip->walk->begun))
        return;
    if (interp_watched(ip, &v) && !interp_watched(ip, &slot->v) && slot->born < ip->walk->oldest)
        ip->walk->oldest = slot->born;
    slot->v = interp_copy(ip, interp_convert(ip, v, slot->type));
    slot->at = ip->at;
    if (said_uses(slot->v.said, slot))
        interp_counted(ip, slot);
    if (v.kind == VALUE_MEMORY && slot->name && !v.memory->name)
        v.memory->name = slot->name;
}

void interp_store(struct interp *ip, struct interp_operand *to, struct interp_value v)
{
    if (ip->walk && to->memory == ip->walk->memory)
        ip->walk->writes = true;
    else if (to->slot)
        interp_assign(ip, to->slot, v);
    else if (!to->memory) /* it is not known where a pointer goes */
        interp_walk_away(ip, &v);
    else if (to->memory)
        interp_set_cell(ip, to->memory, to->offset, interp_convert(ip, v, to->type));
    to->v = v;
}

/* ---- elements ---- */

static unsigned find_cell(const struct memory *m, int64_t offset)
{
    unsigned at =
        (unsigned)(((uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (m->cap_cells - 1);

    while (m->cells[at] && m->offsets[at] != offset)
        at = (at + 1) & (m->cap_cells - 1);
    return at;
}

static void grow_cells(struct interp *ip, struct memory *m)
{
    struct memory old = *m;

    m->cap_cells = old.cap_cells ? old.cap_cells * 2 : 16;
    m->cells = arena_array(ip->arena, m->cap_cells, sizeof(*m->cells));
    m->offsets = arena_array(ip->arena, m->cap_cells, sizeof(*m->offsets));
    for (unsigned i = 0; i < old.cap_cells; i++)
        if (old.cells[i]) {
            unsigned at = find_cell(m, old.offsets[i]);

            m->cells[at] = old.cells[i];
            m->offsets[at] = old.offsets[i];
        }
}

struct interp_value interp_cell(struct memory *m, int64_t offset)
{
    if (m->lost)
        return m->fill.kind == VALUE_MEMORY ? m->fill : (struct interp_value){0};
    unsigned at = m->cap_cells ? find_cell(m, offset) : 0;

    return m->cap_cells && m->cells[at] ? m->cells[at]->v : m->fill;
}

static void note_contents(struct memory_contents *c, int64_t k, const struct interp_value *v)
{
    double low, high;
    bool range = v->kind == VALUE_RANGE;

    if (!range && !interp_number_of(v, &low)) {
        c->unknown = true;
        return;
    }
    low = range ? v->r : low;
    high = range ? v->high : low;
    c->low = c->nr == 0 || low < c->low ? low : c->low;
    c->high = c->nr == 0 || high > c->high ? high : c->high;
    c->random = c->random || range;
    if (c->nr == 0)
        c->first = low;
    if (c->nr == 1)
        c->step = low - c->first;
    c->straight = (c->nr == 0 || c->straight) && !range && k == c->nr &&
                  low == c->first + c->step * (double)k;
    c->nr++;
}

void interp_set_cell(struct interp *ip, struct memory *m, int64_t offset, struct interp_value v)
{
    unsigned each = v.type ? v.type->bytes : 0;

    if (ip->stopped) /* in the middle of what makes the value */
        return;
    if (interp_watched(ip, &v)) /* whichever element is asked for */
        m->fill = v;
    if (!ip->walk)
        note_contents(&m->contents, each ? offset / each : -1, &v);
    if (m->lost || m->nr_cells > MAX_CELLS) {
        m->lost = true;
        return;
    }
    if (m->nr_cells * 2 >= m->cap_cells)
        grow_cells(ip, m);
    unsigned at = find_cell(m, offset);

    if (!m->cells[at]) {
        m->cells[at] = arena_alloc(ip->arena, sizeof(**m->cells));
        m->offsets[at] = offset;
        m->nr_cells++;
    }
    m->cells[at]->v = interp_copy(ip, v);
}

/* ---- what is known afterwards ---- */

const struct interp_frame *interp_frame_copy(struct interp *ip)
{
    struct interp_frame *copy = arena_alloc(ip->arena, sizeof(*copy));

    if (!ip->frame)
        return copy;
    *copy = *ip->frame;
    copy->up = NULL;
    struct var **end = &copy->vars;
    unsigned nr = 0;

    for (const struct var *v = ip->frame->vars; v && nr++ < MAX_COPIED; v = v->next) {
        struct var *var = arena_alloc(ip->arena, sizeof(*var));

        *var = (struct var){v->name, arena_alloc(ip->arena, sizeof(*var->slot)), NULL};
        *var->slot = *v->slot;
        var->slot->v = interp_copy(ip, v->slot->v);
        *end = var;
        end = &var->next;
    }
    *end = NULL;
    if (copy->self)
        copy->self =
            interp_copy(ip, (struct interp_value){.kind = VALUE_OBJECT, .object = copy->self})
                .object;
    return copy;
}

struct interp_value interp_in_scope(
    struct interp *ip, const struct interp_launch *launch, struct tok_range range)
{
    struct interp_frame frame = {0};

    if (launch)
        frame = *launch->scope;
    ip->steps = 0;
    ip->stopped = ip->ended = false;
    ip->limit = INTERP_LOOP_STEPS;
    ip->at = launch ? launch->site.at : range.toks == ip->resolver->toks ? range.from : 0;
    ip->frame = &frame;
    const struct interp_value v = interp_evaluate(ip, range);

    ip->frame = NULL;
    return v;
}
