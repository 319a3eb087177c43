/* Owns the keys: reads them, and takes them out of texts. */
#include "propose/llm_key.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FILE_BYTES = 4096, KEY_HIDDEN_FROM = 8 };

static const char *const prefix_of[NR_VENDORS] = {
    [VENDOR_NONE] = "KEET", [VENDOR_ANTHROPIC] = "ANTHROPIC", [VENDOR_OPENAI] = "OPENAI"};

/* Blanks around a key come with files and copying. What is left goes into a header line. */
static bool clean(char *key, const char *from, struct err *err)
{
    size_t len = strlen(key), skip = strspn(key, " \t\r\n");

    memmove(key, key + skip, len - skip + 1);
    len -= skip;
    while (len && strchr(" \t\r\n", key[len - 1]))
        key[--len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (key[i] <= ' ' || key[i] > '~')
            return err_set(err,
                "%s: the key holds a blank, a control character or a letter that is not ASCII; "
                "give the key alone",
                from);
    return true;
}

static char *read_one(const char *prefix, struct err *err)
{
    char name[64], file_name_var[80];
    const char *value, *path;
    char *key = NULL;
    size_t len;

    snprintf(name, sizeof(name), "%s_API_KEY", prefix);
    snprintf(file_name_var, sizeof(file_name_var), "%s_FILE", name);
    value = getenv(name);
    path = getenv(file_name_var);
    if (value && *value) {
        key = xstrdup(value);
    } else if (path && *path) {
        if (!file_read(path, KEY_FILE_BYTES, &key, &len, err)) {
            err_wrap(err, "%s", file_name_var);
            return NULL;
        }
        if (strlen(key) != len)
            key[0] = '\0'; /* a binary file is no key */
    } else {
        return xstrdup("");
    }
    if (clean(key, value && *value ? name : file_name_var, err))
        return key;
    free(key);
    return NULL;
}

bool secrets_read(struct secrets *secrets, enum vendor vendor, const char **key, struct err *err)
{
    const char *own = NULL, *general = NULL;

    for (unsigned v = 0; v < NR_VENDORS; v++) {
        char *found = read_one(prefix_of[v], err);
        if (!found)
            return false;
        if (!*found) {
            free(found);
            continue;
        }
        secrets->keys[secrets->nr++] = found;
        if (v == VENDOR_NONE)
            general = found;
        else if (v == vendor)
            own = found;
    }
    *key = own ? own : general;
    return true;
}

void secrets_finish(struct secrets *secrets)
{
    for (unsigned i = 0; i < secrets->nr; i++) {
        explicit_bzero(secrets->keys[i], strlen(secrets->keys[i]));
        free(secrets->keys[i]);
    }
    secrets->nr = 0;
}

static const char *hide_one(const char *key, struct arena *arena, const char *text)
{
    const size_t len = strlen(key);
    const char *found = len < KEY_HIDDEN_FROM ? NULL : strstr(text, key);
    struct str out = {0};
    const char *copy;

    if (!found)
        return text;
    for (; found; found = strstr(text, key)) {
        str_add_n(&out, text, (size_t)(found - text));
        str_add(&out, "[key]");
        text = found + len;
    }
    str_add(&out, text);
    copy = arena_strdup(arena, str_text(&out));
    str_finish(&out);
    return copy;
}

const char *secrets_hide(const struct secrets *secrets, struct arena *arena, const char *text)
{
    for (unsigned i = 0; i < secrets->nr; i++)
        text = hide_one(secrets->keys[i], arena, text);
    return text;
}
