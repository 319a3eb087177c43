/* What tokens cost: a table of prices in a file that users keep up to date.
 *
 *     struct price_table *table = prices_load("prices.txt", err);
 *     if (price_find(table, reply.model, "openai:gpt-x", &price))
 *         dollars = price_of(&price, reply.tokens_in, reply.tokens_cached, reply.tokens_out);
 *     prices_destroy(table);
 *
 * A line of the file is `PATTERN IN CACHED OUT DATE SOURCE`; blank lines and lines that begin with
 * # are skipped. PATTERN            a model's name as its endpoint gives it, or a whole spec of
 * llm.h; * stands for anything. The first line that fits counts IN, CACHED, OUT    dollars per
 * million tokens: of the prompt, of the part of the prompt that the endpoint read from its cache,
 * of the reply DATE, SOURCE       when (2026-01-31) and where the prices were looked up. SOURCE is
 * the rest of the line; neither may be left out */
#ifndef KEET_LLM_PRICE_H
#define KEET_LLM_PRICE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct price_table;

struct price {
    double in, cached, out; /* dollars per million tokens */
};

/* NULL, with err, when the file cannot be read or a line of it is wrong. */
struct price_table *prices_load(const char *path, struct err *err);
void prices_destroy(struct price_table *table); /* NULL is fine */

/* By the model's name, else by the whole spec, else by the name within the spec. False: no line
 * fits. Either name may be "". */
bool price_find(
    const struct price_table *table, const char *model, const char *spec, struct price *price);

/* Dollars for that many tokens. `cached` of the `in` tokens came from the endpoint's cache. */
double price_of(const struct price *price, uint64_t in, uint64_t cached, uint64_t out);

#endif
