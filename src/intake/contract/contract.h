/* Private to intake/: the contract of a file, from its launches. */
#ifndef KEET_INTAKE_CONTRACT_CONTRACT_H
#define KEET_INTAKE_CONTRACT_CONTRACT_H

#include "intake/eval/resolver.h"
#include "intake/intake.h"

/* Fills in->lines and the counts of in. False: the program launches nothing; err says what was
 * found instead. */
bool contract_infer(struct intake *in, struct resolver *resolver, const char *path,
    const struct intake_args *args, struct err *err);

#endif
