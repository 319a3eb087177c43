/* Keys of endpoints: where they come from, and how they are kept from getting out.
 *
 *     keys_hide();                                         // first of all in main
 *     struct secrets secrets = {0};
 *     if (secrets_read(&secrets, VENDOR_OPENAI, &key, err)) ...    // key NULL: there is none
 *     text = secrets_hide(&secrets, arena, text);          // before text goes anywhere
 *     secrets_finish(&secrets);
 *
 * llm.h names the variables that hold keys. */
#ifndef KEET_LLM_LLM_KEY_H
#define KEET_LLM_LLM_KEY_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

/* VENDOR_NONE stands for KEET_API_KEY, which is for all vendors. A vendor's own variable comes
 * first. */
enum vendor { VENDOR_NONE, VENDOR_ANTHROPIC, VENDOR_OPENAI, NR_VENDORS };

/* All keys that were found, the chosen one and the others. */
enum { SECRETS_MAX = 6 };
struct secrets {
    char *keys[SECRETS_MAX];
    unsigned nr;
};

/* Move the keys from the environment to memory that no child inherits and no core dump holds
 * (base/secret.h). To be called at the start of the process, before anything forks. A process that
 * does not call it reads its keys from the environment. */
void keys_hide(void);
/* What keys_hide took, as "NAME=VALUE\0" in a file in memory, for programs that the user chose
 * (proc_limits.env_fd). The caller closes the file. -1: err. */
int keys_env_file(struct err *err);
/* The name of a vendor's variable, whether it is set, and in *file what the variable NAME_FILE
 * says, or NULL. */
void key_variable(enum vendor vendor, bool *is_set, const char **file, char name[64]);

/* *key gets the vendor's key, owned by secrets, or NULL if there is none. False, with err, when a
 * key file cannot be read, or a key cannot stand in a header. */
bool secrets_read(struct secrets *secrets, enum vendor vendor, const char **key, struct err *err);
void secrets_finish(struct secrets *secrets);

/* The text, or a copy of it in which every key of 8 or more characters reads [key]. */
const char *secrets_hide(const struct secrets *secrets, struct arena *arena, const char *text);

#endif
