/* Faults in forks, for fault.c.
 *
 * KEET_FAULT_FORK=FROM:TO:STEP: the calls n = FROM, FROM + STEP, ... below TO fail, each in a
 * process of its own, which is a fork of one run. What that process wrote to standard error lies in
 * .kept/said. Where the process ended badly, or left a database that no process before it has left,
 * the run writes "n NR status" to FAULT_TELL_FD (NR forks so far), and reads a byte from
 * FAULT_HEAR_FD before it puts the files back: FAULT_HOLDS, and the same database is not told
 * again. At its end it writes "0 NR 0". */
#ifndef KEET_TESTS_FAULT_H
#define KEET_TESTS_FAULT_H

#include <stdbool.h>

enum { FAULT_TELL_FD = 100, FAULT_HEAR_FD = 101, FAULT_HOLDS = '.' };

bool fault_forks_begin(void); /* false: faults are not in forks */
/* True: this is the process in which call n fails. */
bool fault_forks_here(long n);
void fault_forks_end(void); /* of the process */

#endif
