/* The real program in a scratch folder of its own: files put there, runs made there, and what its
 * database says. Include cmocka.h first. */
#ifndef KEET_TESTS_PROGRAM_H
#define KEET_TESTS_PROGRAM_H

#include "base/err.h"
#include "base/file.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static char folder[64];

/* set up and tear down of a test, or of all */
static inline int open_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/keet-program-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command);
}

static inline void put_bytes(const char *name, const void *bytes, size_t len)
{
    char path[512];
    struct err err;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    *strrchr(path, '/') = '\0';
    assert_true(file_mkdirs(path, &err));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_true(file_write(path, bytes, len, &err));
}

static inline void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

/* The exit status; what it printed (stdout and stderr) in text. */
__attribute__((format(printf, 3, 4))) static inline int run(
    char *text, size_t bytes, const char *format, ...)
{
    char arguments[1024], command[2048];
    size_t used = 0, got;
    va_list ap;
    FILE *pipe;
    int status;

    va_start(ap, format);
    vsnprintf(arguments, sizeof(arguments), format, ap);
    va_end(ap);
    snprintf(
        command, sizeof(command), "cd %s && %s %s 2>&1 </dev/null", folder, KEET_BINARY, arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while ((got = fread(text + used, 1, bytes - 1 - used, pipe)) > 0)
        used += got;
    text[used] = '\0';
    status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline void must_run(const char *arguments)
{
    char text[4096];

    if (run(text, sizeof(text), "%s", arguments) != 0)
        fail_msg("keet-opt %s: %s", arguments, text);
}

/* The first column of the first row, as text; "" for NULL or no row. The last four answers live. */
static inline const char *ask(const char *db, const char *sql)
{
    static char answers[4][65536];
    static unsigned at;
    char path[512], *answer = answers[at++ % 4];
    sqlite3 *handle;
    sqlite3_stmt *stmt;

    snprintf(path, sizeof(path), "%s/%s", folder, db);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL), SQLITE_OK);
    *answer = '\0';
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
        snprintf(answer, sizeof(answers[0]), "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
    return answer;
}

static inline void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("should hold '%s':\n%.6000s", part, text);
}

#endif
