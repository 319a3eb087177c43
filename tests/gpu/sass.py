"""usage: sass.py sass_facts nvdisasm kernel.cu...

Compiles each task, and sets what our reader of machine code says of it beside nvdisasm's text, which
is read here on its own: mnemonics to kinds, and the file and line that stand over each instruction.
"""

import collections
import re
import subprocess
import sys
import tempfile

# Kinds by mnemonic: all of one name, or all that begin with it (a trailing dash).
KINDS = {
    "fp32": "FADD FMUL FFMA FSEL FMNMX- FSETP FCHK FSWZADD",
    "fp64": "DADD DMUL DFMA DSETP",
    "fp16": "HADD2- HMUL2- HFMA2- HSETP2 HMNMX2",
    "tensor": "HMMA IMMA BMMA DMMA HGMMA IGMMA QGMMA",
    "special function": "MUFU",
    "conversion": "F2F F2FP F2I F2IP I2F I2FP I2I FRND",
    "move": "MOV UMOV P2R R2P CS2R S2R S2UR R2UR B2R BMOV QSPC",
    "global load": "LDG",
    "global store": "STG",
    "generic load": "LD",
    "generic store": "ST",
    "shared load": "LDS LDSM",
    "shared store": "STS STSM STAS",
    "local load": "LDL",
    "local store": "STL",
    "constant load": "LDC ULDC LDCU",
    "atomic": "ATOM- RED REDG",
    "asynchronous copy": "LDGSTS LDGDEPBAR UTMA- UBLK-",
    "texture": "TEX TLD- TXD SULD SUST",
    "warp exchange": "SHFL VOTE- MATCH REDUX ELECT MOVM",
    "barrier": "BAR WARPSYNC DEPBAR SYNCS MEMBAR ERRBAR CGAERRBAR FENCE WARPGROUP UCGABAR- "
    "ENDCOLLECTIVE CCTL",
    "control": "BRA BRX BSSY BSYNC BREAK CALL RET EXIT YIELD LEPC BPT NANOSLEEP NOP PREEXIT "
    "ACQBULK PMTRIG",
    "integer": "IADD3 IMAD LEA LOP3 SHF SEL ISETP IABS VABSDIFF PRMT SGXT PLOP3 IDP VIADD- VIMNMX- "
    "IMNMX FLO BREV POPC USEL UISETP UIADD3 ULEA ULOP3 UPRMT USHF UIMAD UFLO UPOPC",
}


def kind_of(mnemonic):
    for kind, names in KINDS.items():
        for name in names.split():
            if name == mnemonic or (name.endswith("-") and mnemonic.startswith(name[:-1])):
                return kind
    return "other"


def disassemble(nvdisasm, path):
    """Kernel -> list of (line in the kernel's file, full mnemonic), the padding left out."""
    text = subprocess.run([nvdisasm, "-c", "-gi", path], capture_output=True, text=True, check=True)
    kernels, places, fresh, own_file = {}, [], False, {}
    name = None
    for row in text.stdout.splitlines():
        if match := re.match(r"\.text\.(\S+):$", row):
            name = match[1]
            kernels[name], places, own_file[name] = [], [], None
        elif match := re.match(r'\s*//## File "(.*?)", line (\d+)( inlined at)?', row):
            if not fresh:
                places, fresh = [], True
            places.append((match[1], int(match[2])))
            if not match[3] and own_file.get(name) is None and len(places) == 1:
                own_file[name] = match[1]
        elif match := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][A-Z0-9_.]*)", row):
            fresh = False
            lines = [line for file, line in places if file == own_file[name]]
            kernels[name].append((lines[0] if lines else 0, match[1]))
    for code in kernels.values():
        while code and code[-1][1] == "NOP":
            code.pop()
        if code and code[-1][1].startswith("BRA"):
            code.pop()
    return kernels


def expected(code):
    counts, wide = collections.Counter(), collections.defaultdict(lambda: [0, 0, 0])
    for line, full in code:
        name, *modifiers = full.split(".")
        counts[line, kind_of(name.split("_")[0] if name.startswith("UCGABAR") else name)] += 1
        if name in ("LDG", "STG"):
            bits = next((m for m in modifiers if m in ("U8", "S8", "U16", "S16", "64", "128")), "32")
            bytes_each = int(bits.strip("US")) // 8
            if bytes_each >= 8:
                wide[line][name == "STG"] += 1
                wide[line][2] = max(wide[line][2], bytes_each)
    return counts, dict(wide)


def ours(output):
    counts, wide, facts = (collections.defaultdict(dict) for _ in range(3))
    for row in output.splitlines():
        what, kernel, *rest = row.split("\t")
        if what == "count":
            counts[kernel][int(rest[0]), rest[1]] = int(rest[2])
        elif what == "wide":
            wide[kernel][int(rest[0])] = [int(n) for n in rest[1:]]
        elif what == "kernel":
            facts[kernel]["ptxas"] = [int(n) for n in rest]
        else:
            facts[kernel]["cubin"] = [int(n) for n in rest]
    return counts, wide, facts


def main():
    facts_program, nvdisasm, *paths = sys.argv[1:]
    nr_kernels = nr_insts = nr_wrong = 0
    for path in paths:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
            run = subprocess.run([facts_program, path, cubin.name], capture_output=True, text=True)
            if run.returncode != 0:
                print(f"{path}: {run.stderr.strip()}")
                nr_wrong += 1
                continue
            theirs = disassemble(nvdisasm, cubin.name)
        counts, wide, facts = ours(run.stdout)
        for kernel, fact in facts.items():
            nr_kernels += 1
            want, want_wide = expected(theirs[kernel])
            nr_insts += sum(want.values())
            (arch, registers, stack, smem), read = fact["ptxas"], fact["cubin"]
            if (arch, registers, stack, smem) != (90, *read):
                print(f"{path}: {kernel}: ptxas says {fact['ptxas']}, the cubin {read}")
                nr_wrong += 1
            for key in sorted(set(want) | set(counts[kernel])):
                if want.get(key, 0) != counts[kernel].get(key, 0):
                    print(f"{path}: {kernel}: line {key[0]}, {key[1]}: nvdisasm {want.get(key, 0)}, "
                          f"ours {counts[kernel].get(key, 0)}")
                    nr_wrong += 1
            for line in sorted(set(want_wide) | set(wide[kernel])):
                if want_wide.get(line) != wide[kernel].get(line):
                    print(f"{path}: {kernel}: line {line}: wide accesses: nvdisasm "
                          f"{want_wide.get(line)}, ours {wide[kernel].get(line)}")
                    nr_wrong += 1
    print(f"{nr_kernels} kernels, {nr_insts} instructions, {nr_wrong} differences")
    sys.exit(1 if nr_wrong or nr_kernels < 13 or nr_insts < 2000 else 0)


main()
