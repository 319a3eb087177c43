/* A program of CUDA 12: its own declarations of what it calls otherwise than one of CUDA 13. Built
 * with the kernel of older_kernel.cu, and linked with libcudart.so.12. */
#include <stdio.h>
#include <string.h>

struct address_facts {
    int type, device;
    void *on_device, *on_host;
};
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMemPrefetchAsync(const void *, size_t, int, void *);
int cudaPointerGetAttributes(struct address_facts *, const void *);
int cudaGetDeviceProperties_v2(void *, int);
int cudaRuntimeGetVersion(int *);
int cudaThreadSynchronize(void);
void twice(int *x, int n);

int main(void)
{
    struct {
        struct address_facts facts;
        char after[64];
    } looked;
    struct {
        char bytes[1032], after[64];
    } properties;
    char untouched[64];
    int version, major, *x, wrong = 0;

    memset(untouched, 0x5a, sizeof(untouched));
    memset(&looked, 0x5a, sizeof(looked));
    memset(&properties, 0x5a, sizeof(properties));
    wrong += cudaRuntimeGetVersion(&version) != 0 || version / 1000 != 12;
    wrong += cudaMallocManaged((void **)&x, 400, 1) != 0;
    for (int i = 0; i < 100; i++)
        x[i] = i;
    wrong += cudaMemPrefetchAsync(x, 400, 0, NULL) != 0;
    wrong += cudaPointerGetAttributes(&looked.facts, x) != 0 || looked.facts.type != 3 ||
             looked.facts.on_device != x;
    wrong += memcmp(looked.after, untouched, sizeof(untouched)) != 0;
    wrong += cudaGetDeviceProperties_v2(&properties, 0) != 0;
    memcpy(&major, properties.bytes + 360, sizeof(major));
    wrong += major != 9 || memcmp(properties.after, untouched, sizeof(untouched)) != 0;
    twice(x, 100);
    wrong += cudaThreadSynchronize() != 0;
    for (int i = 0; i < 100; i++)
        wrong += x[i] != 2 * i;
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong;
}
