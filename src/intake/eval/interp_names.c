/* Owns what the walk through host code remembers: variables, fields, elements of memory. */
#include "intake/eval/interp_parts.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CELLS = 1 << 15, MAX_FACTS = 2048 };

struct fact { /* a number that a variable had */
    const struct decl *fn;
    const char *name;
    double value;
    bool firm; /* at the first launch */
};

struct value walk_int(int64_t i)
{
    return (struct value){.kind = VALUE_INT, .i = i};
}

int64_t walk_along(int64_t offset, int64_t nr, unsigned each)
{
    return (int64_t)((uint64_t)offset + (uint64_t)nr * each);
}

struct value walk_pointer(struct memory *m, const struct type *to, int64_t offset)
{
    return (struct value){.kind = VALUE_MEMORY, .memory = m, .type = to, .i = offset};
}

struct memory *walk_memory(struct walk *w, int64_t bytes, bool device)
{
    struct memory *m = arena_alloc(w->arena, sizeof(*m));

    m->bytes = bytes;
    m->device = device;
    m->line = w->host->toks->tok[w->at].line;
    return m;
}

/* ---- conversions ---- */

bool walk_whole(const struct value *v, int64_t *i)
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

struct value walk_convert(struct walk *w, struct value v, const struct type *type)
{
    if (!type)
        return v;
    bool number = v.kind == VALUE_INT || v.kind == VALUE_REAL;

    if (type->kind == TYPE_INT && number) {
        if (v.kind == VALUE_REAL && !(fabs(v.r) < 9e18))
            return (struct value){0};
        bool is_bool = strcmp(type->text, "bool") == 0;
        int64_t i = v.kind == VALUE_REAL ? (int64_t)v.r : v.i;

        v = walk_int(is_bool ? (v.kind == VALUE_REAL ? v.r != 0 : v.i != 0) : cut(i, type));
        v.type = type;
    } else if (type->kind == TYPE_REAL && number) {
        double r = v.kind == VALUE_INT ? (double)v.i : v.r;

        v = (struct value){.kind = VALUE_REAL, .type = type};
        v.r = type->bytes == 4 ? (double)(float)r : r;
    } else if ((type->kind == TYPE_INT || type->kind == TYPE_REAL) && v.kind == VALUE_RANGE) {
        if (type->kind == TYPE_INT) {
            v.high = v.type && v.type->kind == TYPE_REAL && v.high > v.r ? ceil(v.high) - 1
                                                                         : floor(v.high);
            v.r = floor(v.r);
        }
        v.type = type;
    } else if (type->kind == TYPE_POINTER && v.kind == VALUE_MEMORY) {
        if (type->to && type->to->kind != TYPE_OTHER) /* void* keeps what it had */
            v.type = type->to;
    } else if (type->kind == TYPE_DIM3 && number) {
        struct value o = walk_object(w, type);

        walk_field(w, o.object, "x")->v = walk_convert(w, v, type_named(w, "int"));
        return o;
    } else if (type->kind == TYPE_STRUCT && v.kind == VALUE_OBJECT && type->decl) {
        v.object->type = v.object->type ? v.object->type : type;
    }
    return v;
}

struct value walk_copy(struct walk *w, struct value v)
{
    if (v.kind != VALUE_OBJECT || ++w->depth > WALK_MAX_DEPTH)
        return v;
    struct object *o = arena_alloc(w->arena, sizeof(*o));
    struct field **end = &o->fields;

    o->type = v.object->type;
    for (const struct field *f = v.object->fields; f && walk_step(w); f = f->next) {
        struct field *copy = arena_alloc(w->arena, sizeof(*copy));

        *copy = (struct field){.slot = f->slot};
        copy->slot.v = walk_copy(w, f->slot.v);
        *end = copy;
        end = &copy->next;
    }
    w->depth--;
    v.object = o;
    return v;
}

/* ---- fields ---- */

struct slot *walk_field(struct walk *w, struct object *object, const char *name)
{
    struct field **f = &object->fields;

    for (; *f; f = &(*f)->next)
        if (strcmp((*f)->slot.name, name) == 0)
            return &(*f)->slot;
    *f = arena_alloc(w->arena, sizeof(**f));
    (*f)->slot.name = arena_strdup(w->arena, name);
    return &(*f)->slot;
}

struct making {
    struct walk *w;
    struct object *object;
};

static void make_field(void *context, const char *name, const struct type *type, unsigned count,
    unsigned from, unsigned to)
{
    struct making *m = context;
    struct slot *slot = walk_field(m->w, m->object, name);

    slot->type = type;
    if (count != 1) {
        unsigned each = walk_sizeof(m->w, type);

        slot->type = NULL;
        slot->v =
            walk_pointer(walk_memory(m->w, each ? (int64_t)each * count : -1, false), type, 0);
    } else if (type && type != m->object->type &&
               (type->kind == TYPE_STRUCT || type->kind == TYPE_DIM3)) {
        slot->v = walk_object(m->w, type);
    }
    if (from < to)
        walk_initialise(m->w, slot, (struct range){m->w->host->toks, from, to}, false);
}

struct value walk_object(struct walk *w, const struct type *type)
{
    static const char *const dims[] = {"x", "y", "z"};
    struct object *o = arena_alloc(w->arena, sizeof(*o));
    struct making m = {w, o};

    o->type = type;
    w->depth++;
    if (type && type->kind == TYPE_DIM3)
        for (unsigned i = 0; i < 3; i++) {
            struct slot *slot = walk_field(w, o, dims[i]);

            slot->v = walk_int(1);
            slot->type = type_named(w, "unsigned int");
        }
    else if (type && type->decl && w->depth < WALK_MAX_DEPTH)
        type_fields(w, type, make_field, &m);
    w->depth--;
    return (struct value){.kind = VALUE_OBJECT, .type = type, .object = o};
}

/* ---- variables ---- */

struct slot *walk_declare(struct walk *w, const char *name, const struct type *type)
{
    struct var *var = arena_alloc(w->arena, sizeof(*var));
    struct var **list = w->frame ? &w->frame->vars : &w->globals;

    var->name = name;
    var->slot = arena_alloc(w->arena, sizeof(*var->slot));
    *var->slot = (struct slot){.type = type, .name = name};
    var->next = *list;
    *list = var;
    return var->slot;
}

static struct slot *among(struct walk *w, struct var *vars, const char *name)
{
    for (; vars; vars = vars->next) {
        if (strcmp(vars->name, name) == 0)
            return vars->slot;
        w->steps += (w->steps & 7) == 0;
    }
    return NULL;
}

struct slot *walk_variable(struct walk *w, const char *name)
{
    struct slot *slot = w->frame ? among(w, w->frame->vars, name) : NULL;

    if (!slot && w->frame && w->frame->self)
        for (struct field *f = w->frame->self->fields; f && !slot; f = f->next)
            if (strcmp(f->slot.name, name) == 0)
                slot = &f->slot;
    return slot ? slot : among(w, w->globals, name);
}

const struct type *walk_bound_type(struct walk *w, const char *name)
{
    for (struct bound *b = w->frame ? w->frame->bound : NULL; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return b->type;
    return NULL;
}

void walk_assign(struct walk *w, struct slot *slot, struct value v)
{
    if (w->dry)
        return;
    slot->v = walk_copy(w, walk_convert(w, v, slot->type));
    if (v.kind == VALUE_MEMORY && slot->name && !v.memory->name)
        v.memory->name = slot->name;
}

void walk_store(struct walk *w, struct operand *to, struct value v)
{
    if (to->slot)
        walk_assign(w, to->slot, v);
    else if (to->memory && !w->dry)
        walk_set_cell(w, to->memory, to->offset, walk_convert(w, v, to->type));
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

static void grow_cells(struct walk *w, struct memory *m)
{
    struct memory old = *m;

    m->cap_cells = old.cap_cells ? old.cap_cells * 2 : 16;
    m->cells = arena_array(w->arena, m->cap_cells, sizeof(*m->cells));
    m->offsets = arena_array(w->arena, m->cap_cells, sizeof(*m->offsets));
    for (unsigned i = 0; i < old.cap_cells; i++)
        if (old.cells[i]) {
            unsigned at = find_cell(m, old.offsets[i]);

            m->cells[at] = old.cells[i];
            m->offsets[at] = old.offsets[i];
        }
}

struct value walk_cell(struct walk *w, struct memory *m, int64_t offset)
{
    (void)w;
    if (m->lost)
        return (struct value){0};
    unsigned at = m->cap_cells ? find_cell(m, offset) : 0;

    return m->cap_cells && m->cells[at] ? m->cells[at]->v : m->fill;
}

static void note_contents(struct contents *c, int64_t k, const struct value *v)
{
    double low, high;
    bool range = v->kind == VALUE_RANGE;

    if (!range && !walk_number_of(v, &low)) {
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

void walk_set_cell(struct walk *w, struct memory *m, int64_t offset, struct value v)
{
    unsigned each = v.type ? v.type->bytes : 0;

    note_contents(&m->contents, each ? offset / each : -1, &v);
    if (m->lost || m->nr_cells > MAX_CELLS) {
        m->lost = true;
        return;
    }
    if (m->nr_cells * 2 >= m->cap_cells)
        grow_cells(w, m);
    unsigned at = find_cell(m, offset);

    if (!m->cells[at]) {
        m->cells[at] = arena_alloc(w->arena, sizeof(**m->cells));
        m->offsets[at] = offset;
        m->nr_cells++;
    }
    m->cells[at]->v = walk_copy(w, v);
}

/* ---- what is known afterwards ---- */

static void add_fact(
    struct walk *w, const struct decl *fn, const char *name, const struct value *v, bool firm)
{
    double value = v->kind == VALUE_REAL ? v->r : (double)v->i;

    if (v->kind != VALUE_INT && v->kind != VALUE_REAL)
        return;
    for (unsigned i = 0; i < w->nr_facts; i++)
        if (w->facts[i].fn == fn && strcmp(w->facts[i].name, name) == 0) {
            if (firm && !w->facts[i].firm)
                w->facts[i] = (struct fact){fn, name, value, true};
            return;
        }
    if (!w->facts)
        w->facts = arena_array(w->arena, MAX_FACTS, sizeof(*w->facts));
    if (w->nr_facts < MAX_FACTS)
        w->facts[w->nr_facts++] = (struct fact){fn, name, value, firm};
}

void walk_facts(struct walk *w, const struct frame *frame, bool firm)
{
    if (w->dry || w->nr_facts == MAX_FACTS)
        return;
    const struct decl *fn =
        frame && frame->fn ? hostcode_function_at(w->host, frame->fn->body) : NULL;

    for (struct field *f = frame && frame->self ? frame->self->fields : NULL; f; f = f->next)
        add_fact(w, fn, f->slot.name, &f->slot.v, firm);
    for (const struct bound *b = frame ? frame->bound : NULL; b; b = b->next) {
        const char *text = b->type ? b->type->text : "";
        char *end;
        const struct value v = walk_int(strtoll(text, &end, 10));

        if (*text && !*end) /* f<64>: a number */
            add_fact(w, fn, b->name, &v, firm);
    }
    for (const struct var *v = frame ? frame->vars : w->globals; v; v = v->next) {

        add_fact(w, fn, v->name, &v->slot->v, firm);
        if (v->slot->v.kind == VALUE_OBJECT)
            for (struct field *f = v->slot->v.object->fields; f; f = f->next)
                add_fact(w, fn, arena_printf(w->arena, "%s.%s", v->name, f->slot.name), &f->slot.v,
                    firm);
    }
}

const char *walk_name(const struct walk *w, double value)
{
    const char *name = NULL;

    for (unsigned i = 0; i < w->nr_facts; i++) {
        const struct fact *f = &w->facts[i];

        if (f->value != value || strchr(f->name, '.'))
            continue;
        if (name && strcmp(name, f->name) != 0)
            return NULL;
        name = f->name;
    }
    return name;
}

bool walk_number(const struct walk *w, const struct decl *fn, const char *name, double *value)
{
    struct str plain = {0};

    for (const char *p = name; *p; p++) { /* a->b is a.b here */
        bool arrow = p[0] == '-' && p[1] == '>';

        str_add_char(&plain, arrow ? '.' : *p);
        p += arrow;
    }
    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < w->nr_facts; i++)
            if (w->facts[i].fn == (pass ? NULL : fn) &&
                strcmp(w->facts[i].name, str_text(&plain)) == 0) {
                *value = w->facts[i].value;
                str_finish(&plain);
                return true;
            }
    str_finish(&plain);
    return false;
}
