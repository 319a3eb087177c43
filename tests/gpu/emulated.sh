#!/usr/bin/env bash
# usage: emulated.sh keet-opt libkeet-cuda.so libkeet-fake-cupti.so [h100]
# A GPU counts nothing by source line: the emulator's run of the same kernel fills that in, marked as
# the emulator's, and so `explain` finds on a GPU what it finds on the emulator. With h100, at the size of
# h100_matmul.txt, which is what an H100 counted of kernels/matmul.cu (results/gpu/): SASS, in which
# ptxas has unrolled the loop and moves a constant on the tensor pipe.
set -euo pipefail
program=$1
driver=$2
fake=$3
. "$(dirname "$0")/scratch.sh"
cd "$folder"
cp "$fake" libcupti.so # not a link: fake.txt lies beside it

if [ "${4-}" = h100 ]; then
    cp "$source/tests/gpu/h100_matmul.txt" fake.txt
    "$program" explain "$source/kernels/matmul.cu" --device emu --json >full.emu.json
    KEET_CUDA_DRIVER=$driver KEET_CUPTI=$folder/libcupti.so "$program" explain "$source/kernels/matmul.cu" \
        --device gpu --json >h100.json
else
    cp "$source/kernels/histogram.cu" .
    sed 's/= 1024/= 256/g' "$source/kernels/matmul.cu" >matmul.cu
    # of several launches
    sed 's/ROWS = 4096, COLS = 2048/ROWS = 64, COLS = 256/' "$source/kernels/bias_gelu.cu" >bias_gelu.cu
    for kernel in matmul histogram bias_gelu; do
        "$program" explain $kernel.cu --device emu --json >$kernel.emu.json
        KEET_CUDA_DRIVER=$driver "$program" explain $kernel.cu --device gpu --json >$kernel.gpu.json
    done
    KEET_CUDA_DRIVER=$driver KEET_CUPTI=$folder/libcupti.so "$program" run matmul.cu --device gpu --json >counters.json
    KEET_CUDA_DRIVER=$driver "$program" run matmul.cu --device gpu >text
    grep -q 'By line, as counted on the emulator' text || { cat text; exit 1; }
fi

python3 - "${4-}" <<'PYTHON'
import json
import sys

EMULATED = {"counted on the emulator", "sampled on the emulator"}


def node(path):
    document = json.load(open(path))
    return document.get("best", document)


def h100_beside_the_emulator():
    h100, emu = node("h100.json"), node("full.emu.json")
    metrics = h100["metrics"]
    assert [(f["tool"], f["line"]) for f in h100["findings"]] == [(f["tool"], f["line"]) for f in emu["findings"]]
    assert metrics["smsp__inst_executed.sum"]["value"] == 154664960, metrics
    assert metrics["keet__warp_inst_executed_op_matrix.sum"]["value"] == 0, metrics
    assert metrics["keet__flops.sum"]["value"] > 2e9, metrics
    said = [h100["summary"], *(t["text"] for t in h100["findings"] + h100["hypotheses"])]
    assert said[0] and not any("tensor instruction" in text for text in said), said
    # The loop's control is a share of all that threads execute, both of SASS: 1.4%.
    judged = h100["hypotheses"][0]
    assert judged["judgement"] == "refuted", judged
    assert "smsp__thread_inst_executed_pred_on.sum` = 4.94299e+09" in judged["why"], judged
    assert "op_control_pred_on.sum` = 7.02546e+07" in judged["why"], judged
    lacking = h100["unexamined"].split(", ")
    assert not any(tool in lacking for tool in ("coalescing", "redundant_loads", "barriers", "special_functions",
                   "tensor_cores", "cache_misses", "l2_reuse")), lacking


def beside_a_gpu():
    for kernel in ("matmul", "histogram", "bias_gelu"):
        emu, gpu = node(f"{kernel}.emu.json"), node(f"{kernel}.gpu.json")
        first = [[(f["tool"], f["line"]) for f in n["findings"]][:1] for n in (emu, gpu)]
        # bias_gelu.cu is small: how long its launches are apart is a matter of the device
        assert kernel == "bias_gelu" or (first[0] and first[0] == first[1]), (kernel, first)
        for name in gpu["metrics"]:
            if gpu["metrics"][name]["from"] in EMULATED:
                assert gpu["metrics"][name]["value"] == emu["metrics"][name]["value"], (kernel, name)
        name = "smsp__sass_data_bytes_mem_global_op_ld.sum"
        assert gpu["metrics"][name]["value"] == emu["metrics"][name]["value"], (kernel, name)
        assert gpu["metrics"][name]["from"] in EMULATED, gpu["metrics"][name]
        assert gpu["metrics"]["gpu__time_duration.sum"]["from"] not in EMULATED
        # what the model of time estimates is not taken for a GPU's
        assert "lts__t_sectors_op_read.sum" in emu["metrics"]
        assert "lts__t_sectors_op_read.sum" not in gpu["metrics"], kernel

    # What CUPTI counts stays, and only the rest is the emulator's.
    metrics = node("counters.json")["metrics"]
    assert metrics["smsp__sass_data_bytes_mem_global_op_ld.sum"]["from"] not in EMULATED, metrics
    assert metrics["keet__thread_inst_executed_op_special.sum"]["from"] in EMULATED, metrics
    assert metrics["keet__warp_inst_executed_op_barrier.sum"]["from"] in EMULATED, metrics


h100_beside_the_emulator() if sys.argv[1] == "h100" else beside_a_gpu()
PYTHON
echo "the emulator's counts beside a GPU's"
