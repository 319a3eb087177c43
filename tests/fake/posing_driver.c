/* The software driver, posing as one of a card: it does not say that it is software. Where a file
 * "driver.txt" lies beside it, that is read: `version N` (as cuDriverGetVersion: 11040 is 11.4),
 * `init N` (the code that cuInit gives). All other functions are the software driver's, which it is
 * linked to. */
#include "beside.h"

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int read_beside(const char *wanted, int otherwise)
{
    FILE *file = open_beside("driver.txt");
    char word[32];
    int value;

    while (file && fscanf(file, "%31s %d", word, &value) == 2)
        if (strcmp(word, wanted) == 0)
            otherwise = value;
    if (file)
        fclose(file);
    return otherwise;
}

const char *keet_software_driver(void);
const char *keet_software_driver(void)
{
    return NULL;
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    *version = read_beside("version", CUDA_VERSION);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    const int code = read_beside("init", CUDA_SUCCESS);
    CUresult (*next)(unsigned);
    void *symbol = dlsym(RTLD_NEXT, "cuInit");

    memcpy(&next, &symbol, sizeof(next));
    return code != CUDA_SUCCESS ? (CUresult)code : next ? next(flags) : CUDA_ERROR_UNKNOWN;
}
