/* Owns --help of the program and of each verb. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/fold.h"
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, COLUMN = 26, VERB_COLUMN = 14 };

/* Adds "  -o, --output FILE", and the option's help from COLUMN on. */
static void add_option(struct str *out, const struct option_row *row)
{
    const size_t begin = out->len;
    size_t used;

    if (row->letter)
        str_addf(out, "  -%c, --%s", row->letter, row->name);
    else
        str_addf(out, "  --%s", row->name);
    if (row->value)
        str_addf(out, " %s", row->value);
    used = out->len - begin;
    if (used + 2 > COLUMN)
        str_addf(out, "\n%*s", COLUMN, "");
    else
        str_addf(out, "%*s", COLUMN - (int)used, "");
    fold_text(out, row->help, COLUMN, WIDTH);
}

/* Paragraphs are separated by empty lines. */
static void add_paragraphs(struct str *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        const size_t len = end ? (size_t)(end - text) : strlen(text);
        struct str paragraph = {0};

        str_add_n(&paragraph, text, len);
        str_add_char(out, '\n');
        fold_text(out, str_text(&paragraph), 0, WIDTH);
        str_finish(&paragraph);
        text += len + (end ? 2 : 0);
    }
}

/* Adds each line of text after a prefix. */
static void add_lines(struct str *out, const char *prefix, const char *text)
{
    while (text && *text) {
        const size_t len = strcspn(text, "\n");

        str_addf(out, "%s%.*s\n", prefix, (int)len, text);
        text += len + (text[len] == '\n');
    }
}

static void add_program(struct str *out)
{
    str_add(out, "keet-opt: make a CUDA kernel faster, and prove that it still computes the same\n"
                 "\n"
                 "  keet-opt KERNEL.cu [options]\n"
                 "  keet-opt VERB ARGUMENTS [options]\n");
    for (int group = 0; group < NR_GROUPS; group++) {
        str_addf(out, "\n%s\n", command_groups[group]);
        for (unsigned v = 0; v < NR_VERBS; v++) {
            const struct command *c = &command_table[v];

            if ((int)c->group != group || c->hidden)
                continue;
            str_addf(out, "  %-*s", VERB_COLUMN - 2, v == VERB_OPTIMIZE ? "KERNEL.cu" : c->name);
            fold_text(out, c->summary, VERB_COLUMN, WIDTH);
        }
    }
    str_add(out, "\nOptions that are used most\n");
    for (unsigned i = 0; i < option_table_nr; i++)
        if (option_table[i].common)
            add_option(out, &option_table[i]);
    str_add(out,
        "\n"
        "All options of a verb: keet-opt VERB --help; of a search: keet-opt optimize --help;\n"
        "everything: man keet-opt\n"
        "\n"
        "Without a GPU the kernel runs on the built-in emulator: results and counters are exact,\n"
        "times are modelled. Without a language model, a rewriter and a tuner propose variants.\n"
        "A kernel file is plain CUDA plus `#pragma keet` lines that say what goes in, what comes\n"
        "out and how to launch; of a file with host code they are read from there.\n"
        "\n"
        "Try:  keet-opt YOUR.cu --budget 50\n");
}

static void add_verb(struct str *out, enum verb verb)
{
    const struct command *c = &command_table[verb];
    bool rare = false;

    str_addf(out, "keet-opt %s: ", c->name);
    fold_text(out, c->summary, 0, WIDTH);
    str_add_char(out, '\n');
    add_lines(out, "  keet-opt ", c->usage);
    if (c->text)
        add_paragraphs(out, c->text);
    for (int section = 0; section < NR_SECTIONS; section++) {
        bool begun = false;

        for (unsigned i = 0; i < option_table_nr; i++) {
            const struct option_row *row = &option_table[i];

            if ((int)row->section != section || !option_goes_with(row, verb))
                continue;
            rare = rare || (row->rare && section != SECTION_OUTPUT);
            if (row->rare)
                continue;
            if (!begun)
                str_addf(out, "\n%s\n", option_sections[section]);
            begun = true;
            add_option(out, row);
        }
    }
    if (rare)
        str_add(out, "\nmore options, for experiments: man keet-opt\n");
    str_add(out, "\nExamples\n");
    add_lines(out, "  ", c->example);
    add_lines(out, "  ", c->further);
}

bool cmd_help(const struct options *o, int *status, struct err *err)
{
    const struct command *command = o->nr_paths ? command_named(o->paths[0]) : NULL;
    struct str text = {0};

    if (o->nr_paths && !command) {
        *status = EXIT_ARGUMENTS;
        fprintf(stderr, "keet-opt: there is no verb %s; see keet-opt --help\n", o->paths[0]);
        return true;
    }
    if (command)
        add_verb(&text, (enum verb)(command - command_table));
    else
        add_program(&text);
    fputs(str_text(&text), stdout);
    str_finish(&text);
    return true;
}

bool cmd_version(const struct options *o, int *status, struct err *err)
{
    puts("keet-opt " KEET_VERSION);
    return true;
}
