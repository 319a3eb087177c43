#!/usr/bin/env python3
"""Kernels of wgmma, tensor copies and clusters: right ones, of which no sanitizer says anything, and
the same with one mistake each, which the sanitizers name with both lines.

    hopper.py KEET_OPT"""
import os
import re
import subprocess
import sys
import tempfile

keet = os.path.abspath(sys.argv[1])
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensor")
folder = tempfile.mkdtemp()


def source(name):
    with open(os.path.join(here, name + ".cu"), encoding="utf-8") as file:
        text = file.read()
    return re.sub("M = 4096, N = 4096, K = 4096", "M = 256, N = 512, K = 512", text)


def line_of(text, part):
    at = [i + 1 for i, line in enumerate(text.splitlines()) if part in line]
    assert len(at) == 1, (part, at)
    return at[0]


def sanitize(text):
    path = os.path.join(folder, "kernel.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([keet, "run", "--sanitize", "all", path], capture_output=True, text=True,
                          timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def planted(name, old, new, says, *lines, nr=1):
    """The kernel with `old` in place of `new` (nr times): a finding has all of `says`, and names the
    lines on which the parts `lines` stand."""
    text = source(name)
    assert text.count(old) == nr, (old, text.count(old))
    text = text.replace(old, new)
    status, said = sanitize(text)
    wanted = [f"line {line_of(text, part)}" for part in lines]
    found = [f for f in said.splitlines() if all(s in f for s in says) and all(
        re.search(rf"\b{w}\b", f) for w in wanted)]
    assert found, (says, wanted, status, said)


def test_right_kernels_are_clean():
    for name in ("wgmma_bf16", "wgmma_cluster", "wgmma_stored"):
        status, said = sanitize(source(name))
        assert status == 0 and said.startswith("0 found"), said


def test_a_warpgroup_meets_at_its_fence():
    """Warps that write rows for each other need no barrier before the fence."""
    text = source("wgmma_stored")
    alone = text.replace("__syncthreads();\n        asm volatile(\"wgmma.fence", "asm volatile(\"wgmma.fence")
    assert alone != text
    status, said = sanitize(alone)
    assert status == 0 and said.startswith("0 found"), said
    for name, code in ("original", text), ("alone", alone):
        with open(f"{folder}/{name}.cu", "w", encoding="utf-8") as file:
            file.write(code)
    done = subprocess.run([keet, "check", f"{folder}/original.cu", f"{folder}/alone.cu", "--device", "emu"],
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


WAIT = 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");'
ARRIVE = """if (threadIdx.x % 128 == 0)
                arrive(empty + 8 * i);"""


def test_a_result_read_too_early():
    planted("wgmma_bf16", WAIT, "", ["read of a register", "before wgmma.wait_group waited for it"],
            ': R32(0), R32(32), R32(64), R32(96)', "d[4 * j + 2], d[4 * j + 3])")


def test_a_buffer_let_go_too_early():
    text = source("wgmma_bf16")
    assert WAIT in text and ARRIVE in text
    planted("wgmma_bf16", WAIT + "\n            " + ARRIVE, ARRIVE + "\n            " + WAIT,
            ["race on", "of smem (shared memory)"],
            ':: "r"(to), "l"(map)',
            ': R32(0), R32(32), R32(64), R32(96)')


def test_registers_without_a_fence():
    planted("wgmma_bf16", 'asm volatile("wgmma.fence.sync.aligned;" ::: "memory");', "",
            ["a wgmma", "was written after the last wgmma.fence"],
            ': R32(0), R32(32), R32(64), R32(96)')


def test_bytes_that_do_not_come():
    planted("wgmma_bf16", "expect(full + 8 * i, stage_bytes);", "expect(full + 8 * i, stage_bytes + 16);",
            ["waits for a phase of the mbarrier", "16 bytes of those announced"],
            "mbarrier.try_wait", "mbarrier.arrive.expect_tx")


def test_a_store_without_a_proxy_fence():
    planted("wgmma_cluster", 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', "",
            ["read of shared memory by an asynchronous unit", "fence.proxy.async must stand between"],
            ':: "l"(&mapC)', 'st.shared.b32 [%0], %1;" :: "r"(to),')


def test_a_store_that_a_product_reads_without_a_proxy_fence():
    planted("wgmma_stored", 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', "",
            ["read of shared memory by an asynchronous unit", "fence.proxy.async must stand between"],
            "descriptor(right)));", "left[place(")


# Each block writes a row of T, which a bulk copy then reads.
THROUGH_MEMORY = """#pragma keet size   N = 512
#pragma keet in     X : f32[N]
#pragma keet temp   T : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch turn<<<N/128, 128>>>(X, T, Y)
__global__ void turn(const float *X, float *T, float *Y)
{
    __shared__ __align__(128) float row[128];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned b = (unsigned)__cvta_generic_to_shared(&bar), s = (unsigned)__cvta_generic_to_shared(row);
    const int t = threadIdx.x, base = blockIdx.x * 128;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b));
    T[base + t] = 2 * X[base + t];
    asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" :: "r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" :: "r"(s), "l"(T + base), "r"(b) : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
    Y[base + t] = row[127 - t];
}
"""


def test_a_store_to_memory_without_a_proxy_fence():
    status, said = sanitize(THROUGH_MEMORY)
    assert status == 0 and said.startswith("0 found"), said
    for fence in ("", "fence.proxy.async.shared::cta;"):
        text = THROUGH_MEMORY.replace("fence.proxy.async.global;", fence)
        status, said = sanitize(text)
        store, copy = line_of(text, "T[base + t] = "), line_of(text, "cp.async.bulk.shared")
        assert [f for f in said.splitlines() if "read of global memory by an asynchronous unit" in f and
                f"(line {store})" in f and f"(line {copy})" in f], (status, said)


def test_a_buffer_overwritten_while_a_product_reads_it():
    planted("wgmma_stored", WAIT, "", ["write of shared memory", "wgmma.wait_group has not waited for it"],
            "descriptor(right)));", "left[place(")
    planted("wgmma_stored", WAIT, "", ["write of shared memory", "wgmma.wait_group has not waited for it"],
            "descriptor(right)));", "right[place(")


def test_a_buffer_overwritten_while_a_copy_reads_it():
    text = source("wgmma_cluster")
    many = text.replace("min(132, ", "min(2, ")
    status, said = sanitize(many)
    assert status == 0 and said.startswith("0 found"), said
    broken = many.replace("""            if (t == 0)
                asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
""", "")
    assert broken != many
    status, said = sanitize(broken)
    assert "write of shared memory" in said and "that a bulk copy" in said, said
    copy = line_of(broken, ':: "l"(&mapC)')
    assert f"(line {copy})" in said, said


def test_a_wait_for_the_phase_before():
    """A phase that is waited for twice, where the wait has an end, is in the unit test emu_mbarrier."""
    planted("wgmma_bf16", "wait(full + 8 * i, k / STAGES & 1);", "wait(full + 8 * i, 0);",
            ["waits for a phase of the mbarrier", "never ends"], "mbarrier.try_wait")


def test_a_block_that_leaves_its_cluster():
    text = source("wgmma_cluster")
    at = text.rindex("    cluster_sync();")
    text = text[:at] + text[at:].replace("    cluster_sync();", "")
    status, said = sanitize(text)
    ends, reads = f"(line {len(text.splitlines())})", f"(line {line_of(text, 'mbarrier.arrive.release.cluster')})"
    assert [f for f in said.splitlines() if "barrier of the cluster must stand between" in f
            and ends in f and reads in f], (status, said)


def test_warps_that_issue_different_products():
    planted("wgmma_bf16", "for (int q = 0; q < BK / 16; q++)",
            "for (int q = 0; q < BK / 16 - (threadIdx.x / 32 == 5); q++)",
            ["waits for a wgmma that other warps of its warpgroup never issue"])


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(name, "ok", flush=True)
