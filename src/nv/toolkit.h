/* The part of CUDA that setup.sh gets where a machine has no toolkit. */
#ifndef KEET_NV_TOOLKIT_H
#define KEET_NV_TOOLKIT_H

/* Its folder, with include/ and lib/ in it, as heap memory: .deps/cuda above the binary (in a
 * source tree), or share/keet-opt/cuda (where `cmake --install` left a link to it). NULL: there is
 * none. */
char *toolkit_of_setup(void);

#endif
