/* Finds the program, and the folders that come with it and are read at run time: prompts/,
 * kernels/. */
#ifndef KEET_BASE_SHARE_H
#define KEET_BASE_SHARE_H

/* The path of the running binary, in heap memory; NULL with errno when /proc does not tell. */
char *share_binary(void);

/* The path of a folder, in heap memory; NULL when there is none. Where $KEET_SHARE is set, the
 * folder is below it. Else it is below share/keet-opt beside the folder of the binary (as
 * installed), or in a folder above the binary (build/release is inside the source tree). */
char *share_find(const char *folder);

/* The path of a folder in the folder of the binary or in one above it, as heap memory; NULL when
 * there is none. For what setup.sh puts into the source tree: .deps/... */
char *share_above(const char *folder);

#endif
