/* Owns the place of the CUDA that setup.sh got. */
#include "nv/toolkit.h"

#include "base/share.h"

#include <stddef.h>

char *toolkit_of_setup(void)
{
    char *root = share_above(".deps/cuda");

    return root ? root : share_find("cuda");
}
