/* Serve: the helper process of libkeet (lib/keet.h). It answers requests on a socket, one after the
 * other, until the other end is closed or its parent is gone. The messages are lib/frame.h's.
 *
 * The first message says who answers: {"version", "device", "chip", "compiler"}, or {"error"} where
 * nothing can be evaluated here. A request's head is {"verb", "name", "seed", ...}; the answer's
 * head is {"result": {...}}, or {"error": text, "original": whether the original is to blame}. */
#ifndef KEET_SERVE_SERVE_H
#define KEET_SERVE_SERVE_H

#include "run/workbench.h"

/* False: the workbench could not be opened; the other end knows. */
bool serve(const struct workbench_options *options, int socket, struct err *err);

#endif
