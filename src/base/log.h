/* Diagnostics on stderr for people who ask (-v); silent by default. Results never go here. */
#ifndef KEET_BASE_LOG_H
#define KEET_BASE_LOG_H

enum log_level { LOG_QUIET, LOG_NOTE, LOG_DETAIL };

void log_set_level(enum log_level level);
enum log_level log_level(void);
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));   /* -v */
void log_detail(const char *format, ...) __attribute__((format(printf, 1, 2))); /* -vv */

#endif
