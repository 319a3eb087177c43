// One thread of a block on each SM brings CHUNK bytes at a time into shared memory by bulk copies, four under way.
#pragma keet size   BYTES = 138412032
#pragma keet check  BYTES = 17301504
#pragma keet in     X : u8[BYTES]
#pragma keet out    OUT : i32[132]
#pragma keet tune   CHUNK = 16384 in {2048, 8192, 16384, 32768}
#pragma keet launch bulk<<<132, 32, 4*CHUNK>>>(X, OUT, BYTES/CHUNK)

__global__ void bulk(const char *x, int *out, int chunks)
{
    extern __shared__ __align__(128) char to[];
    __shared__ __align__(8) unsigned long long bars[4];
    const unsigned bar = (unsigned)__cvta_generic_to_shared(bars), s = (unsigned)__cvta_generic_to_shared(to);
    int mine = 0;
    if (threadIdx.x != 0)
        return;
    for (int k = 0; k < 4; k++)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar + 8 * k));
    asm volatile("fence.mbarrier_init.release.cluster;");
    for (int c = blockIdx.x; c < chunks + 4 * 132; c += 132, mine++) {
        const unsigned at = bar + mine % 4 * 8;
        if (mine >= 4 && c - 4 * 132 < chunks)
            asm volatile("{\n.reg .pred p;\nL:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra L;\n}" ::"r"(at), "r"((mine / 4 + 1) & 1) : "memory");
        if (c < chunks) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(CHUNK) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s + mine % 4 * CHUNK), "l"(x + (size_t)c * CHUNK), "r"(CHUNK), "r"(at) : "memory");
        }
    }
    out[blockIdx.x] = mine;
}
