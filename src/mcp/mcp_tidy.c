/* Owns the shortening of documents. */
#include "mcp/mcp_tidy.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

/* A metric as the number that it is: {"value", "unit", "from"}. */
static json_t *number_of(json_t *metric)
{
    json_t *value = json_object_get(metric, "value");

    return json_is_number(value) && json_object_get(metric, "unit") &&
                   json_object_get(metric, "from")
               ? value
               : NULL;
}

static bool is_left_out(const char *name, const json_t *value, bool keep_source)
{
    return json_is_null(value) || (strcmp(name, "source") == 0 && !keep_source) ||
           strcmp(name, "machine_code") == 0 || str_starts(name, "keet__time_without_");
}

static json_t *tidied(json_t *value, bool keep_source)
{
    const double real = json_is_real(value) ? json_real_value(value) : 0.5;

    if (json_is_real(value) && fabs(real) < 9e15 && real == rint(real))
        return json_integer((json_int_t)real);
    mcp_tidy(value, keep_source);
    return json_incref(value);
}

void mcp_tidy(json_t *document, bool keep_source)
{
    json_t *value;
    const char *name;
    void *next;
    size_t i;

    json_object_foreach_safe(document, next, name, value)
    {
        json_t *number = number_of(value);

        if (is_left_out(name, value, keep_source))
            json_object_del(document, name);
        else
            json_object_set_new(document, name, tidied(number ? number : value, keep_source));
    }
    json_array_foreach(document, i, value)
        json_array_set_new(document, i, tidied(value, keep_source));
}
