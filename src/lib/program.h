/* Private to lib/: where the program of helper processes is. */
#ifndef KEET_LIB_PROGRAM_H
#define KEET_LIB_PROGRAM_H

/* $KEET_OPT; the program beside the library, in a build folder, or in bin/ of where the library is
 * installed; else "keet-opt", for PATH. Heap memory; NULL: memory is short. */
char *program_find(void);

#endif
