/* What tokens cost, in the record of a call: the table prompts/prices.txt, which users keep up to
 * date.
 *
 * Lines are `PATTERN IN CACHED OUT DATE SOURCE`, dollars per million tokens; PATTERN is a model's
 * name as its endpoint gives it, or a whole --model, with * for anything; the first that fits
 * counts. DATE (2026-01-31) and SOURCE, the rest of the line, say when and where the prices were
 * looked up. */
#ifndef KEET_LLM_PRICE_H
#define KEET_LLM_PRICE_H

#include "base/err.h"
#include "llm/llm.h"

#include <stdbool.h>
#include <stdint.h>

struct price_table;

struct price {
    double in, cached, out; /* dollars per million tokens */
};

struct price_table *prices_load(const char *path, struct err *err);
void prices_destroy(struct price_table *table);
/* By the model's name, else by the spec; false: not in the table. */
bool price_find(
    const struct price_table *table, const char *model, const char *spec, struct price *price);
/* Dollars; cached is a part of in. */
double price_of(const struct price *price, uint64_t in, uint64_t cached, uint64_t out);

#endif
