/* Where the files are that come with the program and are read at run time: prompts/, kernels/. */
#ifndef KEET_BASE_SHARE_H
#define KEET_BASE_SHARE_H

/* The path of a folder, as heap memory: below $KEET_SHARE when that is set, else share/keet-opt
 * beside the folder of the binary (as installed), else a folder above the binary (build/release is
 * inside the source tree). NULL when there is none. */
char *share_find(const char *folder);

#endif
