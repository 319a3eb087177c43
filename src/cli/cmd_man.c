/* Owns the man page, keet-opt.1: the tables of verbs and options as roff. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

/* Adds text; characters that roff would read as its own are escaped. */
static void add_plain(struct str *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const bool begins =
            i == 0 ? out->len == 0 || str_text(out)[out->len - 1] == '\n' : text[i - 1] == '\n';

        if (begins && (text[i] == '.' || text[i] == '\''))
            str_add(out, "\\&");
        if (text[i] == '\\')
            str_add(out, "\\e");
        else if (text[i] == '-')
            str_add(out, "\\-");
        else if (text[i] == '\'')
            str_add(out, "\\(aq");
        else if (text[i] == '`')
            str_add(out, "\\(ga");
        else if (text[i] == '~')
            str_add(out, "\\(ti");
        else
            str_add_char(out, text[i]);
    }
}

static void add_text(struct str *out, const char *text)
{
    add_plain(out, text, strlen(text));
}

/* Paragraphs are separated by empty lines. */
static void add_paragraphs(struct str *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        const size_t len = end ? (size_t)(end - text) : strlen(text);

        add_plain(out, text, len);
        str_add(out, end ? "\n.IP\n" : "\n");
        text += len + (end ? 2 : 0);
    }
}

/* Adds the tags of one paragraph. Each tag is the program's name and a line of `usage`. */
static void add_usage(struct str *out, const char *usage)
{
    const char *tag = ".TP";

    while (*usage) {
        const size_t len = strcspn(usage, "\n");

        str_addf(out, "%s\n\\fBkeet\\-opt\\fR ", tag);
        add_plain(out, usage, len);
        str_add_char(out, '\n');
        usage += len + (usage[len] == '\n');
        tag = ".TQ";
    }
}

static void add_commands(struct str *out)
{
    str_add(out, ".SH COMMANDS\n");
    for (int group = 0; group < NR_GROUPS; group++) {
        str_addf(out, ".SS %s\n", command_groups[group]);
        for (unsigned v = 0; v < NR_VERBS; v++) {
            const struct command *c = &command_table[v];
            struct str summary = {0};

            if ((int)c->group != group)
                continue;
            add_usage(out, c->usage);
            str_addf(&summary, "%c%s.", c->summary[0] & ~0x20, c->summary + 1);
            add_text(out, str_text(&summary));
            str_add_char(out, '\n');
            str_finish(&summary);
            if (c->text)
                add_paragraphs(out, c->text);
        }
    }
}

/* Adds "With run, explain."; adds nothing for an option that goes with every verb. */
static void add_verbs(struct str *out, const struct option_row *row)
{
    const uint32_t every = (UINT32_C(1) << NR_VERBS) - 1;
    bool begun = false;

    if ((row->verbs & every) == every)
        return;
    for (unsigned v = 0; v < NR_VERBS; v++) {
        if (!option_goes_with(row, v))
            continue;
        str_addf(out, "%s\\fB%s\\fR", begun ? ", " : "With ", command_table[v].name);
        begun = true;
    }
    if (row->verbs & TASK_LINE)
        str_add(out, ", and in lists of campaigns");
    str_add(out, ".\n");
}

static void add_options(struct str *out)
{
    str_add(out, ".SH OPTIONS\n");
    for (int section = 0; section < NR_SECTIONS; section++) {
        str_addf(out, ".SS %s\n", option_sections[section]);
        for (unsigned i = 0; i < option_table_nr; i++) {
            const struct option_row *row = &option_table[i];

            if ((int)row->section != section)
                continue;
            str_add(out, ".TP\n");
            if (row->letter)
                str_addf(out, "\\fB\\-%c\\fR, ", row->letter);
            str_add(out, "\\fB\\-\\-");
            add_text(out, row->name);
            str_add(out, "\\fR");
            if (row->value) {
                str_add(out, " \\fI");
                add_text(out, row->value);
                str_add(out, "\\fR");
            }
            str_add_char(out, '\n');
            add_text(out, row->help);
            str_add(out, ".\n");
            add_verbs(out, row);
        }
    }
}

static void add_examples(struct str *out)
{
    str_add(out, ".SH EXAMPLES\n.nf\n");
    for (unsigned v = 0; v < NR_VERBS; v++) {
        const struct command *c = &command_table[v];

        if (c->hidden)
            continue;
        add_text(out, c->example);
        str_add_char(out, '\n');
        if (c->further) {
            add_text(out, c->further);
            str_add_char(out, '\n');
        }
    }
    str_add(out, ".fi\n");
}

/* Adds a list. Each row is a term and its meaning. */
static void add_list(struct str *out, const char *heading, const char *const (*rows)[2], size_t nr)
{
    str_addf(out, ".SH %s\n", heading);
    for (size_t i = 0; i < nr; i++) {
        str_add(out, ".TP\n.B ");
        add_text(out, rows[i][0]);
        str_add_char(out, '\n');
        add_text(out, rows[i][1]);
        str_add_char(out, '\n');
    }
}

static const char *const statuses[][2] = {
    {"0", "Done."},
    {"1", "Something outside of the kernel failed, and the message says what to do; a campaign is "
          "not complete; doctor: the emulator does not work here."},
    {"2", "The arguments are wrong."},
    {"3", "With run and explain: the kernel is broken, or a sanitizer found something."},
};

static const char *const files[][2] = {
    {"<kernel>.keet.cu", "The best kernel of a search."},
    {"<kernel>.keet.db", "The database of a search: an SQLite file with every variant."},
    {"<list>.campaign/", "Databases, kernels and state of a campaign."},
    {"~/.cache/keet-opt/",
        "Compiled kernels; below XDG_CACHE_HOME where that is set, or in KEET_CACHE."},
};

static const char *const variables[][2] = {
    {"KEET_CUDA, CUDA_HOME",
        "Folder of a CUDA toolkit of 12.8 or newer, or of NVIDIA's wheels (the folder with "
        "include/ and lib/). KEET_CUDA is looked at alone when it is set."},
    {"KEET_SHARE", "Folder that has prompts/, in place of the installed one."},
    {"KEET_CUTLASS", "Folder of CUTLASS, as for --cutlass."},
    {"KEET_CACHE", "Folder of compiled kernels, as for --cache."},
    {"KEET_CUDA_DRIVER", "A driver library in place of libcuda.so.1."},
    {"ANTHROPIC_API_KEY, OPENAI_API_KEY, KEET_API_KEY",
        "Keys of models; each also as NAME_FILE, which names a file that holds the key."},
};

bool cmd_man(const struct options *options, int *status, struct err *err)
{
    struct str out = {0};

    str_add(&out, ".\\\" Made by `keet-opt man` from the tables of verbs and options.\n"
                  ".TH KEET\\-OPT 1 \"\" \"keet\\-opt " KEET_VERSION "\" \"User commands\"\n"
                  ".SH NAME\n"
                  "keet\\-opt \\- make a CUDA kernel faster, and prove that it still computes the "
                  "same\n"
                  ".SH SYNOPSIS\n"
                  ".B keet\\-opt\n.I KERNEL.cu\n.RI [ options ]\n.br\n"
                  ".B keet\\-opt\n.I VERB ARGUMENTS\n.RI [ options ]\n"
                  ".SH DESCRIPTION\n"
                  "A tree search decides which variant of a kernel to extend with which move. Each "
                  "variant is compiled, checked against the original, profiled, explained, and "
                  "stored.\n"
                  "Without a GPU the kernel runs on the built\\-in emulator: results and counters "
                  "are exact, times are modelled.\n"
                  "Without a language model, a rewriter and a tuner propose variants.\n"
                  ".PP\n"
                  "A kernel file is plain CUDA plus #pragma keet lines that say what goes in, what "
                  "comes out and how to launch. Of a file with host code they are read from "
                  "there.\n");
    add_commands(&out);
    add_options(&out);
    add_list(&out, "EXIT STATUS", statuses, sizeof(statuses) / sizeof(statuses[0]));
    add_list(&out, "FILES", files, sizeof(files) / sizeof(files[0]));
    add_list(&out, "ENVIRONMENT", variables, sizeof(variables) / sizeof(variables[0]));
    add_examples(&out);
    fputs(str_text(&out), stdout);
    str_finish(&out);
    return true;
}
