/* Owns the JSON of missing values, and the printing of documents. */
#include "report/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text_or_null(const char *text)
{
    json_t *string = text ? json_string(text) : NULL;

    return string ? string : json_null();
}

json_t *json_any_text(const char *text)
{
    struct str clean = {0};
    json_t *string;

    if (!text)
        return json_null();
    for (size_t left = strlen(text); left > 0;) {
        const size_t bytes = str_utf8_bytes(text, left);
        const size_t step = bytes ? bytes : 1;

        str_add_n(&clean, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
        text += step;
        left -= step;
    }
    string = json_string(str_text(&clean));
    str_finish(&clean);
    return string ? string : json_null();
}

json_t *json_real_or_null(double value)
{
    json_t *number = json_real(value);

    return number ? number : json_null();
}

json_t *json_lines(const char *text)
{
    json_t *all = json_array();

    for (const char *at = text ? text : ""; *at;) {
        json_array_append_new(all, json_stringn(at, strcspn(at, "\n")));
        at = str_next_line(at);
    }
    return all;
}

void json_add(struct str *out, json_t *root, size_t flags)
{
    char *text = json_dumps(root, flags);

    str_add(out, text ? text : "null");
    str_add_char(out, '\n');
    free(text);
    json_decref(root);
}
