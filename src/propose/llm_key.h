/* Keys: where they come from, and that they do not get out. */
#ifndef KEET_PROPOSE_LLM_KEY_H
#define KEET_PROPOSE_LLM_KEY_H

#include "base/arena.h"
#include "base/err.h"

/* A vendor's own variables come before those for all. */
enum vendor { VENDOR_NONE, VENDOR_ANTHROPIC, VENDOR_OPENAI, NR_VENDORS };

/* All keys in sight, chosen or not: none of them may get out. */
enum { SECRETS_MAX = 6 };
struct secrets {
    char *keys[SECRETS_MAX];
    unsigned nr;
};

/* *key gets the vendor's key, owned by secrets, or NULL if there is none. A key file that cannot
 * be read, or a key that cannot be a header, is an error. */
bool secrets_read(struct secrets *secrets, enum vendor vendor, const char **key, struct err *err);
void secrets_finish(struct secrets *secrets);

/* The text, or a copy of it in which every key of 8 or more characters reads [key]. */
const char *secrets_hide(const struct secrets *secrets, struct arena *arena, const char *text);

#endif
