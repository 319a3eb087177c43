/* Where the program is, and the files that come with it and are read at run time: prompts/,
 * kernels/. */
#ifndef KEET_BASE_SHARE_H
#define KEET_BASE_SHARE_H

/* The path of the running binary, as heap memory; NULL with errno when /proc does not tell. */
char *share_binary(void);

/* The path of a folder, as heap memory: below $KEET_SHARE when that is set, else share/keet-opt
 * beside the folder of the binary (as installed), else a folder above the binary (build/release is
 * inside the source tree). NULL when there is none. */
char *share_find(const char *folder);

/* The path of a folder in the folder of the binary or in one above it, as heap memory; NULL when
 * there is none. For what setup.sh puts into the source tree: .deps/... */
char *share_above(const char *folder);

#endif
