/* A stand-in for CUPTI that counts nothing and watches everything: it has the functions of
 * src/nv/cupti_functions.def under their real names, keeps the state that CUPTI's documentation
 * says a profiler is in, and refuses what comes out of order. What it refuses is noted as a
 * violation besides, since a caller might swallow the error.
 *
 * Loaded by KEET_CUPTI. Tests find the functions below with dlsym, by the names of the members.
 * Where a file "fake.txt" lies beside the library it is read when the library is loaded, lines of
 * `fail FUNCTION CODE`, `source FILE`, `value METRIC NUMBER` (in every range, instead of
 * fake_value's); for processes that no test can reach into. Code 666 is no result: the process
 * crashes there.
 *
 * On the software driver it learns of kernels from keet_software_driver_on_kernel; elsewhere tests
 * tell it with `launch`. */
#ifndef KEET_FAKE_CUPTI_H
#define KEET_FAKE_CUPTI_H

enum { FAKE_PASSES = 3 }; /* that its configurations take */

/* What a metric is worth in a range: its own formula, so that tests can say what must come out. */
static inline double fake_value(const char *name, unsigned range)
{
    double sum = 0;

    for (unsigned i = 0; name[i]; i++)
        sum += (double)(unsigned char)name[i] * (i + 1);
    return sum + 1e6 * range;
}

struct fake_functions {
    void (*fake_reset)(void);
    void (*fake_fail)(const char *function, int code); /* code 0: no more */
    void (*fake_launch)(const char *symbol, double start_ns, double end_ns);
    void (*fake_source)(const char *path); /* of the source that line tables name */
    const char *(*fake_violations)(void);  /* "": none */
    const char *(*fake_log)(void);         /* the calls so far, one name per line */
    int (*fake_active)(void);              /* profilers and kinds that are enabled now */
};

#endif
