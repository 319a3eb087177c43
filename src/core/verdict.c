/* Owns the names of the verdicts. */
#include "core/verdict.h"

#include <string.h>

static const char *const names[NR_VERDICTS] = {
    [VERDICT_OK] = "ok",
    [VERDICT_NO_KERNEL] = "no_kernel",
    [VERDICT_CONTRACT] = "contract",
    [VERDICT_NO_COMPILE] = "no_compile",
    [VERDICT_LAUNCH_FAILED] = "launch_failed",
    [VERDICT_FAULT] = "fault",
    [VERDICT_RACE] = "race",
    [VERDICT_TIMEOUT] = "timeout",
    [VERDICT_WRONG] = "wrong",
    [VERDICT_NONDETERMINISTIC] = "nondeterministic",
    [VERDICT_SUSPICIOUS] = "suspicious",
    [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_DECLINED] = "declined",
    [VERDICT_NO_ANSWER] = "no_answer",
};

const char *verdict_name(enum verdict verdict)
{
    return names[verdict];
}

bool verdict_costs(enum verdict verdict)
{
    return verdict != VERDICT_DECLINED && verdict != VERDICT_NO_ANSWER;
}

bool verdict_parse(const char *name, enum verdict *verdict)
{
    for (int i = 0; i < NR_VERDICTS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *verdict = (enum verdict)i;
            return true;
        }
    }
    return false;
}
