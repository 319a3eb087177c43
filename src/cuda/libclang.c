/* Finds libclang and binds its functions. */
#include "cuda/libclang.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

struct libclang clang;
static struct err failed;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool bind_all(void *handle)
{
    static const char *const symbols[] = {
#define FUNCTION(name) "clang_" #name,
#include "cuda/libclang_functions.def"
#undef FUNCTION
    };
    void *const targets[] = {
#define FUNCTION(name) &clang.name,
#include "cuda/libclang_functions.def"
#undef FUNCTION
    };

    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        void *symbol = dlsym(handle, symbols[i]);

        if (!symbol)
            return err_set(&failed, "libclang lacks %s: version 14 or newer is needed", symbols[i]);
        memcpy(targets[i], &symbol, sizeof(symbol)); /* ISO C has no cast to a function */
    }
    return true;
}

static void load(void)
{
    void *handle = RTLD_DEFAULT;

    if (!dlsym(handle, "clang_createIndex")) {
        handle = dlopen(KEET_LIBCLANG_NAME, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            handle = dlopen(KEET_LIBCLANG_PATH, RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle)
        err_set(&failed, "libclang, which reads CUDA sources, cannot be loaded: %s", dlerror());
    else
        (void)!bind_all(handle);
}

bool libclang_load(struct err *err)
{
    pthread_once(&once, load);
    return !failed.text[0] || err_set(err, "%s", failed.text);
}

const char *libclang_path(void)
{
    void *symbol;
    Dl_info info;

    memcpy(&symbol, &clang.createIndex, sizeof(symbol));
    return symbol && dladdr(symbol, &info) ? info.dli_fname : "?";
}
