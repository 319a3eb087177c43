/* Owns `keet-opt serve`, the helper process of libkeet (lib/keet.h). */
#include "cli/commands.h"
#include "cli/parts.h"
#include "serve/serve.h"

#include <unistd.h>

bool cmd_serve(const struct options *options, int *status, struct err *err)
{
    struct workbench_options bench = options_bench(options);

    bench.gpus = NULL;
    return serve(&bench, STDIN_FILENO, err);
}
