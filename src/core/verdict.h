/* The verdict on a candidate. A verdict is a result: it is stored, explained and counted, and never
 * an err. */
#ifndef KEET_CORE_VERDICT_H
#define KEET_CORE_VERDICT_H

#include <stdbool.h>

enum verdict {
    VERDICT_OK,
    VERDICT_NO_KERNEL,        /* the proposer gave no code, or its move does not apply */
    VERDICT_CONTRACT,         /* the candidate changes a line of the contract */
    VERDICT_NO_COMPILE,       /* NVRTC or ptxas refused it, or it broke the compiler's limits */
    VERDICT_LAUNCH_FAILED,    /* too many threads, too much shared memory, bad arguments */
    VERDICT_FAULT,            /* out of bounds, misaligned, uninitialised read, trap, bad barrier */
    VERDICT_RACE,             /* two threads, one address, no order, one of them writes */
    VERDICT_TIMEOUT,          /* it ran past the step or time limit */
    VERDICT_WRONG,            /* it ran, but its numbers differ from the reference */
    VERDICT_NONDETERMINISTIC, /* two runs on the same input differ, and nothing explains that */
    VERDICT_SUSPICIOUS,       /* too fast to be true, or caught behaving unlike a function */
    VERDICT_UNSUPPORTED,      /* the emulator lacks an instruction: nothing is known */
    VERDICT_DECLINED,         /* a model saw nothing to do, and said why: no code, no cost */
    VERDICT_NO_ANSWER,        /* a model was asked and no answer came: no code, no cost */
    NR_VERDICTS
};

const char *verdict_name(enum verdict verdict); /* "ok", "no_kernel", ... as stored */
/* Was a version evaluated, or refused for what it is? Not where there was no version at all. */
bool verdict_costs(enum verdict verdict);
bool verdict_parse(const char *name, enum verdict *verdict);

#endif
