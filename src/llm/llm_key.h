/* Keys: where they come from, and that they do not get out. */
#ifndef KEET_LLM_LLM_KEY_H
#define KEET_LLM_LLM_KEY_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

/* A vendor's own variables come before those for all. */
enum vendor { VENDOR_NONE, VENDOR_ANTHROPIC, VENDOR_OPENAI, NR_VENDORS };

/* All keys in sight, chosen or not: none of them may get out. */
enum { SECRETS_MAX = 6 };
struct secrets {
    char *keys[SECRETS_MAX];
    unsigned nr;
};

/* Moves the keys in the environment to memory that no child inherits and no core dump holds
 * (base/secret.h). At the start of the process, before anything forks; without it keys are read
 * from the environment where they stand. */
void keys_hide(void);
/* What keys_hide took, as "NAME=VALUE\0" lines in a file in memory, for programs of the user's own
 * choice (proc_limits.env_fd); to be closed. -1: err. */
int keys_env_file(struct err *err);
/* Name and state of a vendor's variable; *file: what the variable NAME_FILE says, or NULL. */
void key_variable(enum vendor vendor, bool *is_set, const char **file, char name[64]);

/* *key gets the vendor's key, owned by secrets, or NULL if there is none. A key file that cannot
 * be read, or a key that cannot be a header, is an error. */
bool secrets_read(struct secrets *secrets, enum vendor vendor, const char **key, struct err *err);
void secrets_finish(struct secrets *secrets);

/* The text, or a copy of it in which every key of 8 or more characters reads [key]. */
const char *secrets_hide(const struct secrets *secrets, struct arena *arena, const char *text);

#endif
