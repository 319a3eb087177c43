#!/usr/bin/env python3
"""The gate for CI: `keet-opt compare`, the steps of the workflow in docs/how-to/ci, and the hook.

The steps of the workflow run as GitHub runs them (bash -e -o pipefail, with the files and variables that GitHub gives),
in a clone of a repository with a change. Left out are the steps that use GitHub's own actions, and the step that
builds keet-opt.

usage: gate.py KEET_OPT ROOT [verb | --times N]      verb: not the workflow and the hook; --times: the workflow alone"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OLD = """#pragma keet size   N = 262144
#pragma keet check  N = 1001
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch scale<<<ceil_div(N, 256), 256>>>(X, Y, N)
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1.5f * x[i];
}
"""
FACTOR = "#define FACTOR 1.5f\n"
HOSTED = OLD.replace("__global__", '#include "factor.cuh"\n__global__').replace("1.5f", "FACTOR") + """int main()
{
    scale<<<1024, 256>>>(nullptr, nullptr, 262144);
}
"""
OTHER_CODE = OLD.replace("if (i < n)\n", "if (i >= n)\n        return;\n")
# Each tenth block stores twice: 10% more sectors, and 10% more requests.
MORE_STORES = OLD.replace("if (i < n)\n", "if (i < n && blockIdx.x % 10 == 0)\n"
                          "        ((volatile float *)y)[i] = 0;\n    if (i < n)\n")
WRONG = OLD.replace("x[i]", "x[i ^ (i == 77)]")
STORES = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
WORKFLOW_NOT_RUN = {"Get keet-opt"}  # builds what this test was given


def check(fact, *said):
    if not fact:
        sys.exit("gate.py: " + " ".join(str(word) for word in said))


def run(words, cwd, code, env=None):
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=250)
    check(done.returncode == code, words, "ended with", done.returncode, "not", code, "\n",
          done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + done.stderr


# ---- the verb ----

def verb(keet, folder):
    for name, text in [("old", OLD), ("other", OTHER_CODE), ("more", MORE_STORES), ("wrong", WRONG), ("stray", OLD.replace("x[i]", "x[i + n]")),
                       ("contract", OLD.replace("262144", "1024")), ("none", "int x;\n")]:
        (folder / f"{name}.cu").write_text(text)
    def compare(old, new, code, *limits):
        words = [keet, "compare", f"{old}.cu", f"{new}.cu", "--device", "emu"]
        return run(words + [w for limit in limits for w in ("--fail-if", limit)], folder, code)

    compare("old", "old", 0)
    for limit in ("slower=0%", f"metric:{STORES}=+0", f"metric:{STORES}=-0%", "metric:l1tex__data_bank*=0"):
        compare("old", "old", 0, limit)
    said = compare("old", "more", 3, "slower=0%", f"metric:{STORES}=+9%", f"metric:{STORES}=+11%", f"metric:{STORES}=0")
    check(f"broken   metric:{STORES}=+9%: 32768 before, 36" in said and "(+10." in said, said)
    check(f"kept     metric:{STORES}=+11%" in said and f"broken   metric:{STORES}=0" in said, said)
    check("failed: 2 of 4" in said or "failed: 3 of 4" in said, said)
    compare("more", "old", 3, f"metric:{STORES}=-9%")
    compare("more", "old", 0, f"metric:{STORES}=-10%", "slower=0%")
    said = compare("old", "wrong", 3, "slower=1000%")
    check("wrong.cu:10: Y[77] =" in said, said)
    check("contract" in compare("old", "contract", 3), "a changed contract")
    compare("old", "none", 3)
    check("does not run cleanly" in compare("stray", "old", 1), "a broken original")
    compare("none", "old", 1)
    compare("old", "missing", 1)
    check("not known" in compare("old", "old", 1, "metric:keet__energy.sum=0"), "energy")
    for wrong in ("slower", "slower=5", "slower=-5%", "faster=3%", "metric:nothing=0", f"metric:{STORES}=5%",
                  f"metric:{STORES}=", f"metric:{STORES}=+x%", f"metric:{STORES}=nan"):
        check(wrong.split("=")[0] in compare("old", "old", 2, wrong), wrong)
    document = json.loads(run([keet, "compare", "old.cu", "more.cu", "--json", "--device", "emu",
                               "--fail-if", f"metric:{STORES}=+9%"], folder, 3))
    check(document["passed"] is False and document["verdict"] == "ok" and document["from"] == "modelled", document)
    (limit,) = document["limits"]
    check(limit["metric"] == STORES and limit["old"] == 32768 and 36000 < limit["new"] < 36100, limit)
    check(limit["broken"] is True and 9.9 < limit["change_pct"] < 10.2, limit)
    check(any(m["metric"] == STORES and m["from"] in ("counted", "sampled") for m in document["metrics"]), document)


# ---- a repository with a change ----

def git(folder, *words):
    return run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", *words], folder, 0)


def repository(folder):
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "src").mkdir()
    (folder / "src" / "a kernel.cu").write_text(OLD)
    (folder / "src" / "other.cu").write_text(HOSTED)
    (folder / "src" / "factor.cuh").write_text(FACTOR)
    (folder / "host.cu").write_text("int main() { return 0; }\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "kernels")


# What a change writes, by path; does it pass; what the output then names.
CHANGES = {
    "nothing that counts": ({"src/a kernel.cu": "// " + OLD.replace("#", "\n#", 1)}, True, []),
    "other code": ({"src/a kernel.cu": OTHER_CODE, "host.cu": "int main() { return 1; }\n"}, True, []),
    "10% more stores": ({"src/a kernel.cu": MORE_STORES}, False, ["src/a kernel.cu", STORES]),
    "a wrong kernel": ({"src/a kernel.cu": WRONG}, False, ["src/a kernel.cu", "Y[77]"]),
    "a new kernel": ({"new.cu": OLD}, True, []),
    "a new kernel that is broken": ({"new.cu": OLD.replace("i < n", "i <= n")}, False, ["new.cu"]),
    "a header": ({"src/factor.cuh": "#define FACTOR 1.25f\n"}, False, ["src/other.cu", "Y[0]"]),
}


def change(folder, files):
    for path, text in files.items():
        (folder / path).write_text(text)
    git(folder, "add", ".")


# ---- the workflow ----

def steps_of(text):
    """The steps of the one job: name, uses, env and run. Enough of YAML for this file; anything else is an error."""
    lines, steps, at = text.split("\n"), [], 0
    at = next(i for i, line in enumerate(lines) if line == "    steps:") + 1
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            continue
        found = re.fullmatch(r"      (- |  )(\w[\w-]*):(.*)", line)
        if found:
            if found[1] == "- ":
                steps.append({})
            key, value = found[2], found[3].strip()
            check(key in ("name", "uses", "with", "env", "run", "id", "if"), "a step has", key)
            block = []
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" " * 10)):
                block.append(lines[at][10:])
                at += 1
            steps[-1][key] = "\n".join(block) if value in ("", "|") else value
        else:
            check(False, "the workflow has a line that this test cannot read:", line)
    return steps


def environment_of(text):
    """The env: of the whole workflow."""
    lines = text.split("\n")
    at = lines.index("env:") + 1
    env, key = {}, None
    for line in lines[at:]:
        if not line.startswith("  "):
            break
        found = re.fullmatch(r"  (\w+): (.*)", line)
        if found:
            key = found[1]
            env[key] = "" if found[2] == ">-" else found[2]
        else:
            env[key] = (env[key] + " " + line.strip()).strip()
    return env


def workflow(keet, text, origin, work, base):
    """Runs the steps in a clone. True when all ended with 0; and what was printed, the summary included."""
    clone, temp = work / "clone", work / "temp"
    temp.mkdir()
    git(work, "clone", "-q", str(origin), str(clone))
    summary = temp / "summary"
    summary.write_text("")
    env = {**os.environ, **environment_of(text), "RUNNER_TEMP": str(temp), "GITHUB_STEP_SUMMARY": str(summary),
           "GITHUB_PATH": str(temp / "path"), "PATH": f"{Path(keet).parent}:{os.environ['PATH']}"}
    known = {"github.event.pull_request.base.sha": base}
    printed = ""
    for step in steps_of(text):
        if "run" not in step or step["name"] in WORKFLOW_NOT_RUN:
            continue
        own = dict(re.findall(r"(\w+): \$\{\{ (.*?) \}\}", step.get("env", "")))
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=clone,
                              env={**env, **{name: known[value] for name, value in own.items()}},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250)
        printed += done.stdout
        if done.returncode != 0:
            return False, printed + summary.read_text()
    return True, printed + summary.read_text()


def try_workflow(keet, root, name):
    files, passes, named = CHANGES[name]
    text = (root / "docs/how-to/ci/keet-opt.yml").read_text()
    with tempfile.TemporaryDirectory(prefix="keet-ci-") as folder:
        origin = Path(folder) / "origin"
        repository(origin)
        base = git(origin, "rev-parse", "HEAD").strip()
        change(origin, files)
        git(origin, "commit", "-q", "-m", "a change")
        passed, said = workflow(keet, text, origin, Path(folder), base)
    check(passed == passes, "the workflow", "passes" if passed else "fails", "on", name, "\n", said)
    for word in named:
        check(word in said, "the workflow does not name", word, "on", name, "\n", said)
    check(("::error" in said) != passes, said)


# ---- the hook ----

def try_hook(keet, root, name):
    files, passes, named = CHANGES[name]
    with tempfile.TemporaryDirectory(prefix="keet-ci-") as folder:
        origin = Path(folder) / "origin"
        repository(origin)
        hook = origin / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text((root / "docs/how-to/ci/pre-commit").read_text())
        hook.chmod(0o755)
        change(origin, files)
        env = {**os.environ, "PATH": f"{Path(keet).parent}:{os.environ['PATH']}"}
        said = run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "a change"], origin,
                   0 if passes else 1, env)
    for word in named:
        check(word in said, "the hook does not name", word, "on", name, "\n", said)


def main():
    keet, root = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
    times = int(sys.argv[4]) if sys.argv[3:4] == ["--times"] else 0
    if times:
        for i in range(times):
            for name in ("nothing that counts", "other code", "10% more stores", "a wrong kernel"):
                try_workflow(keet, root, name)
        print(f"the workflow did as it should {times} times of {times}")
        return
    with tempfile.TemporaryDirectory(prefix="keet-ci-") as folder:
        verb(keet, Path(folder))
    if sys.argv[3:4] == ["verb"]:
        return
    for name in CHANGES:
        try_workflow(keet, root, name)
    for name in ("other code", "10% more stores", "a wrong kernel", "a header"):
        try_hook(keet, root, name)


main()
