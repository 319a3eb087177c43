/* Owns `keet-opt completion`: the tables of verbs and options as scripts for bash, zsh and fish. */
#include "base/str.h"
#include "cli/commands.h"
#include "cli/option_table.h"

#include <stdio.h>
#include <string.h>

static bool is_words(const struct option_row *row, const char *words)
{
    return row->words && strcmp(row->words, words) == 0;
}

/* Adds the verbs that are not hidden, with `between` between them. */
static void add_verbs(struct str *out, const char *between)
{
    bool begun = false;

    for (unsigned v = 0; v < NR_VERBS; v++) {
        if (command_table[v].hidden)
            continue;
        str_addf(out, "%s%s", begun ? between : "", command_table[v].name);
        begun = true;
    }
}

/* ---- bash ---- */

/* Adds a case for each kind of value: words of the option's own, files, folders. */
static void add_bash_values(struct str *out)
{
    struct str files = {0}, folders = {0}, others = {0};

    for (unsigned i = 0; i < option_table_nr; i++) {
        const struct option_row *row = &option_table[i];
        struct str names = {0};

        if (!row->value)
            continue;
        str_addf(&names, "--%s", row->name);
        if (row->letter)
            str_addf(&names, "|-%c", row->letter);
        if (is_words(row, "FILE"))
            str_addf(&files, "%s%s", files.len ? "|" : "", str_text(&names));
        else if (is_words(row, "DIR"))
            str_addf(&folders, "%s%s", folders.len ? "|" : "", str_text(&names));
        else if (!row->words)
            str_addf(&others, "%s%s", others.len ? "|" : "", str_text(&names));
        else
            str_addf(out,
                "    %s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"); return ;;\n",
                str_text(&names), row->words);
        str_finish(&names);
    }
    str_addf(out, "    %s) compopt -o default; return ;;\n", str_text(&files));
    str_addf(out,
        "    %s) compopt -o dirnames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return "
        ";;\n",
        str_text(&folders));
    str_addf(out, "    %s) return ;;\n", str_text(&others));
    str_finish(&files);
    str_finish(&folders);
    str_finish(&others);
}

static void add_bash(struct str *out)
{
    str_add(out, "# bash completion for keet-opt, made by `keet-opt completion bash`\n"
                 "_keet_opt()\n"
                 "{\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "    local verb=optimize given= options i\n"
                 "    COMPREPLY=()\n"
                 "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                 "        case ${COMP_WORDS[i]} in\n"
                 "        -*) ;;\n"
                 "        ");
    add_verbs(out, "|");
    str_add(out, ") verb=${COMP_WORDS[i]} given=1; break ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case $before in\n");
    add_bash_values(out);
    str_add(out, "    esac\n"
                 "    case $verb in\n");
    for (unsigned v = 0; v < NR_VERBS; v++) {
        if (command_table[v].hidden)
            continue;
        str_addf(out, "    %s) options='", command_table[v].name);
        for (unsigned i = 0, begun = 0; i < option_table_nr; i++)
            if (option_goes_with(&option_table[i], v))
                str_addf(out, "%s--%s", begun++ ? " " : "", option_table[i].name);
        str_add(out, "' ;;\n");
    }
    str_add(out, "    esac\n"
                 "    if [[ $word == -* ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                 "    elif [[ $given && $verb == completion ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$word\")\n"
                 "    elif [[ ! $given || $verb == help ]]; then\n"
                 "        mapfile -t COMPREPLY < <(compgen -W '");
    add_verbs(out, " ");
    str_add(out, "' -- \"$word\")\n"
                 "        [[ $verb == help ]] || compopt -o default\n"
                 "    elif [[ $verb != doctor ]]; then\n"
                 "        compopt -o default\n"
                 "    fi\n"
                 "}\n"
                 "complete -F _keet_opt keet-opt\n");
}

/* ---- zsh ---- */

/* Adds text inside single quotes. `quote` stands for a single quote; a backslash escapes each of
 * `marks`. */
static void add_quoted(struct str *out, const char *text, const char *marks, const char *quote)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            str_add(out, quote);
        } else {
            if (strchr(marks, *p))
                str_add_char(out, '\\');
            str_add_char(out, *p);
        }
    }
}

static void add_zsh_option(struct str *out, const struct option_row *row)
{
    str_add(out, "        ");
    if (row->letter)
        str_addf(out, "'*'{-%c,--%s%s}'[", row->letter, row->name, row->value ? "=" : "");
    else
        str_addf(out, "'*--%s%s[", row->name, row->value ? "=" : "");
    add_quoted(out, row->help, "[]:\\", "'\\''");
    str_add_char(out, ']');
    if (row->value) {
        str_add_char(out, ':');
        add_quoted(out, row->value, "[]:\\", "'\\''");
        if (is_words(row, "FILE"))
            str_add(out, ":_files");
        else if (is_words(row, "DIR"))
            str_add(out, ":_files -/");
        else if (row->words) {
            str_add(out, ":(");
            add_quoted(out, row->words, ":\\", "'\\''");
            str_add_char(out, ')');
        } else {
            str_add(out, ": ");
        }
    }
    str_add(out, "' \\\n");
}

static void add_zsh(struct str *out)
{
    str_add(out, "#compdef keet-opt\n"
                 "# zsh completion for keet-opt, made by `keet-opt completion zsh`\n"
                 "_keet_opt_verbs()\n"
                 "{\n"
                 "    local -a verbs=(\n");
    for (unsigned v = 0; v < NR_VERBS; v++) {
        if (command_table[v].hidden)
            continue;
        str_addf(out, "        '%s:", command_table[v].name);
        add_quoted(out, command_table[v].summary, ":\\", "'\\''");
        str_add(out, "'\n");
    }
    str_add(out, "    )\n"
                 "    _describe verb verbs\n"
                 "}\n"
                 "_keet_opt()\n"
                 "{\n"
                 "    local verb=optimize word\n"
                 "    for word in ${words[2,CURRENT-1]}; do\n"
                 "        case $word in\n"
                 "        ");
    add_verbs(out, "|");
    str_add(out, ") verb=$word; break ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case $verb in\n");
    for (unsigned v = 0; v < NR_VERBS; v++) {
        const struct command *c = &command_table[v];

        if (c->hidden)
            continue;
        str_addf(out, "    %s) _arguments -s \\\n", c->name);
        for (unsigned i = 0; i < option_table_nr; i++)
            if (option_goes_with(&option_table[i], v))
                add_zsh_option(out, &option_table[i]);
        str_add(out, v == VERB_OPTIMIZE       ? "        '1: :_keet_opt_verbs' '*:file:_files' ;;\n"
                     : c->takes == TAKES_VERB ? "        '1:' '*: :_keet_opt_verbs' ;;\n"
                     : c->takes == TAKES_SHELL   ? "        '1:' '*:shell:(bash zsh fish)' ;;\n"
                     : c->takes == TAKES_NOTHING ? "        '1:' ;;\n"
                                                 : "        '1:' '*:file:_files' ;;\n");
    }
    str_add(out, "    esac\n"
                 "}\n"
                 "if [[ $funcstack[1] == _keet_opt ]]; then _keet_opt \"$@\"; else compdef "
                 "_keet_opt keet-opt; fi\n");
}

/* ---- fish ---- */

static void add_fish(struct str *out)
{
    str_add(out, "# fish completion for keet-opt, made by `keet-opt completion fish`\n"
                 "set -l verbs ");
    add_verbs(out, " ");
    str_add(out, "\n");
    for (unsigned v = 0; v < NR_VERBS; v++) {
        const struct command *c = &command_table[v];

        if (c->hidden)
            continue;
        str_addf(out,
            "complete -c keet-opt -n \"not __fish_seen_subcommand_from $verbs\" -a %s -d '",
            c->name);
        add_quoted(out, c->summary, "\\", "\\'");
        str_add(out, "'\n");
    }
    str_add(out, "complete -c keet-opt -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh "
                 "fish'\n"
                 "complete -c keet-opt -n '__fish_seen_subcommand_from help' -f -a \"$verbs\"\n"
                 "complete -c keet-opt -n '__fish_seen_subcommand_from doctor' -f\n");
    for (unsigned i = 0; i < option_table_nr; i++) {
        const struct option_row *row = &option_table[i];

        str_add(out, "complete -c keet-opt -n \"");
        str_add(out, option_goes_with(row, VERB_OPTIMIZE)
                         ? "not __fish_seen_subcommand_from $verbs; or __fish_seen_subcommand_from"
                         : "__fish_seen_subcommand_from");
        for (unsigned v = 0; v < NR_VERBS; v++)
            if (option_goes_with(row, v) && !command_table[v].hidden)
                str_addf(out, " %s", command_table[v].name);
        str_addf(out, "\" -l %s", row->name);
        if (row->letter)
            str_addf(out, " -s %c", row->letter);
        if (row->value && is_words(row, "FILE"))
            str_add(out, " -r -F");
        else if (row->value && is_words(row, "DIR"))
            str_add(out, " -x -a '(__fish_complete_directories)'");
        else if (row->value)
            str_addf(out, " -x -a '%s'", row->words ? row->words : "");
        str_add(out, " -d '");
        add_quoted(out, row->help, "\\", "\\'");
        str_add(out, "'\n");
    }
}

bool cmd_completion(const struct options *o, int *status, struct err *err)
{
    const char *shell = o->paths[0];
    struct str out = {0};

    if (strcmp(shell, "bash") == 0) {
        add_bash(&out);
    } else if (strcmp(shell, "zsh") == 0) {
        add_zsh(&out);
    } else if (strcmp(shell, "fish") == 0) {
        add_fish(&out);
    } else {
        *status = EXIT_ARGUMENTS;
        fprintf(stderr, "keet-opt: completion %s: expected bash, zsh or fish\n", shell);
    }
    fputs(str_text(&out), stdout);
    str_finish(&out);
    return true;
}
