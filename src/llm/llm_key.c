/* Owns the keys: reads them, and takes them out of texts. */
#include "llm/llm_key.h"

#include "base/proc.h"
#include "base/secret.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEY_FILE_BYTES = 4096, KEY_HIDDEN_FROM = 8 };

static const char *const prefix_of[NR_VENDORS] = {
    [VENDOR_NONE] = "KEET", [VENDOR_ANTHROPIC] = "ANTHROPIC", [VENDOR_OPENAI] = "OPENAI"};

/* Take away the blanks around a key, which come with files and copying. What is left must be able
 * to stand in a header line. */
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

struct key_names {
    char key[64], file[80];
};

static struct key_names names_of(enum vendor vendor)
{
    struct key_names names;

    snprintf(names.key, sizeof(names.key), "%s_API_KEY", prefix_of[vendor]);
    snprintf(names.file, sizeof(names.file), "%s_FILE", names.key);
    return names;
}

/* The keys that keys_hide took out of the environment. */
static char *hidden[NR_VENDORS];

void keys_hide(void)
{
    for (unsigned v = 0; v < NR_VENDORS; v++)
        if (!hidden[v])
            hidden[v] = secret_take_env(names_of(v).key);
    secret_clear_registers();
}

static const char *value_of(enum vendor vendor)
{
    const char *value = hidden[vendor] ? hidden[vendor] : getenv(names_of(vendor).key);

    return value && *value ? value : NULL;
}

int keys_env_file(struct err *err)
{
    const int fd = memfd_create("environment", MFD_CLOEXEC);
    bool ok = fd >= 0;

    for (unsigned v = 0; ok && v < NR_VENDORS; v++)
        if (hidden[v])
            ok = dprintf(fd, "%s=", names_of(v).key) > 0 &&
                 fd_write(fd, hidden[v], strlen(hidden[v]) + 1);
    if (ok)
        return fd;
    err_errno(err, "cannot make a file in memory");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Read straight into memory for secrets, without a buffer. */
static char *read_file(const char *path, struct err *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *key = secret_alloc(KEY_FILE_BYTES + 1);
    ssize_t got = 0;
    size_t len = 0;

    while (fd >= 0 && len < KEY_FILE_BYTES && (got = read(fd, key + len, KEY_FILE_BYTES - len)) > 0)
        len += (size_t)got;
    if (fd < 0 || got < 0) {
        err_errno(err, "%s", path);
        secret_free(key);
        key = NULL;
    } else if (len == KEY_FILE_BYTES) {
        err_set(err, "%s: larger than %d bytes: that is no key", path, KEY_FILE_BYTES);
        secret_free(key);
        key = NULL;
    } else if (strlen(key) != len) {
        key[0] = '\0'; /* a binary file is no key */
    }
    if (fd >= 0)
        close(fd);
    return key;
}

/* The key of a variable or its file; "": there is none; NULL: err. */
static char *read_one(enum vendor vendor, struct err *err)
{
    const struct key_names names = names_of(vendor);
    const char *value = value_of(vendor), *path = getenv(names.file);
    char *key;

    if (value) {
        key = secret_strdup(value);
    } else if (path && *path) {
        key = read_file(path, err);
        if (!key) {
            err_wrap(err, "%s", names.file);
            return NULL;
        }
    } else {
        return secret_strdup("");
    }
    if (clean(key, value ? names.key : names.file, err))
        return key;
    secret_free(key);
    return NULL;
}

bool secrets_read(struct secrets *secrets, enum vendor vendor, const char **key, struct err *err)
{
    const char *own = NULL, *general = NULL;

    for (unsigned v = 0; v < NR_VENDORS; v++) {
        char *found = read_one(v, err);
        if (!found)
            return false;
        if (!*found) {
            secret_free(found);
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
    for (unsigned i = 0; i < secrets->nr; i++)
        secret_free(secrets->keys[i]);
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
    secret_clear_registers();
    return text;
}

void key_variable(enum vendor vendor, bool *is_set, const char **file, char name[64])
{
    const struct key_names names = names_of(vendor);

    memcpy(name, names.key, sizeof(names.key));
    *is_set = value_of(vendor) != NULL;
    *file = getenv(names.file);
}
