/* The one table of options. Each option stands once, with its help, the verbs that take the option,
 * and the way to read its value. The reader of argv, --help, the man page and completions all read
 * the table. */
#ifndef KEET_CLI_OPTION_TABLE_H
#define KEET_CLI_OPTION_TABLE_H

#include "base/err.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where help shows an option. */
enum option_section {
    SECTION_SEARCH,
    SECTION_EVALUATION,
    SECTION_HOST_CODE,
    SECTION_MODEL,
    SECTION_DEVICE,
    SECTION_FILES,
    SECTION_CAMPAIGN,
    SECTION_OUTPUT,
    NR_SECTIONS
};

enum option_kind {
    OPTION_SET,     /* no value: the bool becomes true */
    OPTION_CLEAR,   /* no value: the bool becomes false */
    OPTION_TEXT,    /* const char *: the value as it stands */
    OPTION_NUMBER,  /* uint64_t, as strtoull reads it */
    OPTION_COUNT,   /* unsigned, from least to most */
    OPTION_DOLLARS, /* double above 0 */
    OPTION_OWN      /* parse reads the value */
};

/* A line of a campaign's list takes the option, too; the campaign passes the option on to its
 * tasks. */
#define TASK_LINE (UINT32_C(1) << NR_VERBS)

struct option_row {
    const char *name;  /* without -- */
    char letter;       /* 0: it has none */
    const char *value; /* what help calls the value; NULL: the option takes none */
    uint32_t verbs;    /* bits, 1 << enum verb, and TASK_LINE */
    enum option_section section;
    enum option_kind kind;
    size_t field;         /* of struct options */
    unsigned least, most; /* OPTION_COUNT */
    bool (*parse)(struct options *options, const char *value, struct err *err);
    const char *words; /* for completion: values, separated by blanks; "FILE"; "DIR"; NULL: none */
    bool common;       /* shown by `keet-opt --help` */
    bool rare;         /* for experiments: shown by the man page only */
    const char *help;  /* what it does, a few words; lines are folded where they are shown */
};

extern const struct option_row option_table[];
extern const unsigned option_table_nr;
extern const char *const option_sections[NR_SECTIONS]; /* headings */

static inline bool option_goes_with(const struct option_row *row, enum verb verb)
{
    return row->verbs >> verb & 1;
}

/* Reads one value into its field. */
bool option_read(
    const struct option_row *row, struct options *options, const char *value, struct err *err);

/* Sets the error for a name that is not among `names`; returns false. */
bool option_one_of(struct err *err, const char *option, const char *name, const char *const *names);

/* "90s", "10m", "2h" */
bool option_time(const char *text, double *seconds);

#endif
