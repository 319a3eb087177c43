/* Owns the results: a document, and the ways to its members. */
#include "lib/result.h"

#include <stdlib.h>
#include <string.h>

struct keet_result {
    json_t *root;
    char *json, *source;
    size_t source_bytes;
};

struct keet_result *result_create(json_t *root, char *source, size_t source_bytes)
{
    struct keet_result *result = malloc(sizeof(*result));
    char *json = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));

    if (result && json) {
        *result = (struct keet_result){root, json, source, source_bytes};
        return result;
    }
    free(result);
    free(json);
    free(source);
    json_decref(root);
    return NULL;
}

void keet_result_free(struct keet_result *result)
{
    if (!result)
        return;
    json_decref(result->root);
    free(result->json);
    free(result->source);
    free(result);
}

const char *keet_json(const struct keet_result *result)
{
    return result->json;
}

const char *keet_source(const struct keet_result *result, size_t *bytes)
{
    if (bytes)
        *bytes = result->source_bytes;
    return result->source;
}

/* Names may be longer than any buffer, so that they are compared in place. */
static const json_t *member(const json_t *of, const char *name, size_t len)
{
    const char *key;
    json_t *value;

    if (json_is_array(of))
        return json_array_get(of, strtoul(name, NULL, 10));
    json_object_foreach((json_t *)(uintptr_t)of, key,
        value) if (strlen(key) == len && memcmp(key, name, len) == 0) return value;
    return NULL;
}

static const json_t *find(const struct keet_result *result, const char *path)
{
    const json_t *at = result->root;

    while (at && *path) {
        const size_t len = strcspn(path, "/");

        at = member(at, path, len);
        path += len + (path[len] == '/');
    }
    return at;
}

const char *keet_string(const struct keet_result *result, const char *path)
{
    return json_string_value(find(result, path));
}

bool keet_number(const struct keet_result *result, const char *path, double *value)
{
    const json_t *at = find(result, path);

    if (!json_is_number(at))
        return false;
    *value = json_number_value(at);
    return true;
}

size_t keet_count(const struct keet_result *result, const char *path)
{
    const json_t *at = find(result, path);

    return json_is_array(at) ? json_array_size(at) : json_object_size(at);
}
