"""keet-opt patch on every x.cu or x.py of patch/ with the winner x.best.cu that was written for it.

    patch.py KEET-OPT [--compile [NVCC [DRIVER]]]

x.patch is the diff that must come out; x.refused, the reason where there must be none. With --compile the
patched files must compile too; without an nvcc that is skipped. DRIVER is the folder of the software driver:
there the programs of RUN say the same as their patched ones."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "patch"
RUN = ("tensor_map",)


def outcome(program, name, folder):
    source = f"{name}.cu" if (HERE / f"{name}.cu").exists() else f"{name}.py"
    done = subprocess.run([program, "patch", source, f"{name}.best.cu", "-o", f"{folder}/{name}.cu"],
                          cwd=HERE, capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip().split("cannot be written back: ")[-1]
    return (folder / f"{name}.patch").read_text()


def compiled(nvcc, name, folder):
    patched = folder / f"{name}.patched.cu"
    if not patched.exists():
        patched = folder / f"{name}.patched" / f"{name}.cu"
    if not patched.exists():
        return ""  # Python, which only PyTorch can build
    done = subprocess.run([nvcc, "-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-c", "-o", "/dev/null", str(patched)],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else f"  nvcc: {done.stderr.strip()[:800]}"


def says(nvcc, driver, source, folder):
    subprocess.run([nvcc, "-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-o", folder / "program", source], check=True,
                   env=dict(os.environ, NVCC_APPEND_FLAGS="-cudart shared"))
    done = subprocess.run([folder / "program"], env=dict(os.environ, LD_LIBRARY_PATH=driver), capture_output=True,
                          text=True)
    return done.stdout + (f"status {done.returncode}: {done.stderr}" if done.returncode else "")


def said_otherwise(nvcc, driver, name, folder):
    was, now = (says(nvcc, driver, file, folder) for file in (HERE / f"{name}.cu", folder / f"{name}.patched.cu"))
    return "" if was == now and was else f"  the program says {was!r}, the patched one {now!r}"


def main():
    program, nvcc, driver = sys.argv[1], *(sys.argv[3:] + ["", ""])[:2]
    failed = 0
    if "--compile" in sys.argv and not nvcc:
        print("skipped: there is no nvcc here")
        return 77
    names = sorted(p.name[:-8] for p in HERE.glob("*.best.cu"))
    for name in names:
        with tempfile.TemporaryDirectory() as temp:
            folder = pathlib.Path(temp)
            refused = HERE / f"{name}.refused"
            expected = (refused if refused.exists() else HERE / f"{name}.patch").read_text()
            got = outcome(program, name, folder)
            problem = "" if got.strip() == expected.strip() else f"  expected:\n{expected}\n  got:\n{got}"
            if not problem and nvcc and not refused.exists():
                problem = compiled(nvcc, name, folder) or (
                    said_otherwise(nvcc, driver, name, folder) if driver and name in RUN else "")
        failed += bool(problem)
        print(f"{'FAILED' if problem else 'ok    '} {name}" + ("\n" + problem if problem else ""))
    print(f"{len(names) - failed} of {len(names)} files")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
