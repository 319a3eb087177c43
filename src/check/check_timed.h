/* Private to check/: the original's outputs at the timed sizes. check.h has the comparison. */
#ifndef KEET_CHECK_CHECK_TIMED_H
#define KEET_CHECK_CHECK_TIMED_H

struct timed;

void timed_destroy(struct timed *timed);

#endif
