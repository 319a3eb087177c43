/* Owns arrays of structs: the text of their type, the offsets of their values. */
#include "core/task_read.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

enum { MAX_VALUES = 4096 };

/* f64[3] of {f32, f64[3]}: adds its values. */
static bool read_value(struct cursor *c, struct struct_type *record, struct struct_value *values)
{
    const struct env nothing = {0};
    const char *at = c->p, *name;
    struct cursor count;
    int64_t nr = 1;
    enum elem elem;

    if (!cursor_name(c, &name, "an element type"))
        return false;
    if (!elem_parse(name, strlen(name), &elem))
        return cursor_fail(c, at, "unknown type '%s' of a struct; expected f32, i32, ...", name);
    cursor_skip(c);
    if (cursor_take(c, "[")) {
        count = cursor_until(c, "]");
        at = count.p;
        if (!cursor_value(&count, &nothing, &nr) || !cursor_expect(c, "]", "an open bracket"))
            return false;
    }
    if (nr < 1 || nr > MAX_VALUES - (int64_t)record->nr)
        return cursor_fail(
            c, at, "a struct has 1 to %d values; expected a smaller one", MAX_VALUES);
    const uint32_t size = (uint32_t)elem_bytes(elem);

    record->bytes = (uint32_t)round_up(record->bytes, size);
    for (; nr > 0; nr--, record->bytes += size)
        values[record->nr++] = (struct struct_value){elem, record->bytes};
    return cursor_end(c, "the type of a value");
}

bool reader_record(struct task_reader *r, struct cursor *c, const struct struct_type **out)
{
    const char *from = c->p;
    struct struct_type *record = arena_alloc(r->arena, sizeof(*record));
    struct struct_value *values = arena_array(r->arena, MAX_VALUES, sizeof(*values));
    struct str text = {0};
    uint32_t align = 1;

    if (!cursor_expect(c, "{", "no struct"))
        return false;
    struct cursor list = cursor_until(c, "}");

    if (!cursor_expect(c, "}", "an open brace"))
        return false;
    do {
        cursor_skip(&list);
        struct cursor item = cursor_until(&list, ",");

        if (!read_value(&item, record, values))
            return false;
    } while (cursor_take(&list, ","));
    for (unsigned i = 0; i < record->nr; i++)
        if (elem_bytes(values[i].elem) > align)
            align = (uint32_t)elem_bytes(values[i].elem);
    record->bytes = (uint32_t)round_up(record->bytes, align);
    for (; from < c->p; from++)
        if (*from != ' ' && *from != '\t')
            str_add_char(&text, *from);
    record->text = arena_strdup(r->arena, str_text(&text));
    record->values = values;
    str_finish(&text);
    *out = record;
    return true;
}

uint64_t array_bytes(const struct task_array *array, uint64_t nr_elems)
{
    return array->record ? nr_elems / array->record->nr * array->record->bytes
                         : nr_elems * elem_bytes(array->elem);
}
