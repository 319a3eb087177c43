"""The package as a Python program uses it: results, errors, threads, forks, Ctrl-C, what is left."""
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import keet
import numpy as np

SCALE = """\
#pragma keet size N = 4096
#pragma keet check N = 77
#pragma keet in X : f32[N]
#pragma keet out Y : f32[N]
#pragma keet tune BLOCK = 32 in {32, 64, 128}
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N)
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 3.0f * x[i];
}
"""
RIGHT = SCALE.replace("BLOCK = 32", "BLOCK = 128")
WRONG = SCALE.replace("3.0f", "3.1f")
ENDLESS = SCALE.replace("y[i] = 3", "for (volatile int k = 0; k < 2000000000; k++) y[i] = 3")


def fenced(text):
    return f"Larger blocks.\n\n```cuda\n{text}```\n"


def in_child(queue):
    queue.put((keet.check(SCALE, RIGHT).verdict, keet.check(SCALE, WRONG).verdict))


class Package(unittest.TestCase):
    def test_check(self):
        right, wrong = keet.check(SCALE, RIGHT), keet.check(SCALE, WRONG)
        self.assertTrue(right.ok and right.reason is None and right.runs > 1)
        self.assertEqual((wrong.verdict, wrong.ok, wrong.line), ("wrong", False, 11))
        self.assertIn("Y[", wrong.reason)
        self.assertGreater(wrong.max_abs, 0)
        self.assertEqual(keet.check(SCALE).verdict, "ok")
        self.assertEqual(keet.check(SCALE, b"\xff\xfe\0").ok, False)

    def test_run(self):
        run = keet.run(SCALE, RIGHT)
        self.assertEqual((run.verdict, run.time_from, run.check.verdict), ("ok", "modelled", "ok"))
        self.assertGreater(run.speedup, 0)
        self.assertEqual(run.metrics["launch__block_size"].value, 128)
        self.assertEqual(run.metrics["launch__block_size"].origin, "counted")
        stores = run.lines[run.lines["line"] == 11]
        self.assertEqual(len(stores), 1)
        # 128 warps load a value and store one: four sectors of 32 bytes each.
        self.assertEqual(stores["global_sectors"][0], 2 * 128 * 4)
        self.assertEqual(run.lines["line"].tolist(), sorted(run.lines["line"].tolist()))
        self.assertTrue(np.issubdtype(run.lines["warp_inst"].dtype, np.floating))
        broken = keet.run(SCALE, WRONG)
        self.assertEqual((broken.verdict, broken.time_ns, broken.speedup), ("wrong", None, None))

    def test_explain(self):
        explanation = keet.explain(SCALE)
        self.assertIn("modelled", str(explanation))
        self.assertEqual(explanation.speedup, 1)
        self.assertIn("roofline_ns", explanation.limits)
        self.assertTrue(keet.explain(SCALE, WRONG).text)

    def test_reward(self):
        good, bad = keet.reward(SCALE, fenced(RIGHT)), keet.reward(SCALE, fenced(WRONG))
        self.assertAlmostEqual(good.reward, 0.3 + good.speedup)
        self.assertEqual(good.source, RIGHT)
        self.assertAlmostEqual(good.speedup, good.original_ns / good.time_ns)
        self.assertEqual((bad.reward, bad.verdict, bad.check.line), (0, "wrong", 11))
        self.assertIn("3.1", WRONG)
        self.assertIn("not right", bad.feedback)
        refused = keet.reward(SCALE, "I would rather not.")
        self.assertEqual((refused.reward, refused.verdict, refused.source), (0, "no_kernel", None))
        self.assertEqual([r.verdict for r in keet.reward_many(SCALE, [fenced(RIGHT), "no"])],
                         ["ok", "no_kernel"])

    def test_search(self):
        with keet.Search(SCALE) as search:
            a, b = search.ask(), search.ask()
            self.assertNotEqual(a.source, b.source)
            self.assertEqual(search.tell(a, speedup=1.7).speedup, 1.7)
            self.assertFalse(search.tell(b, speedup=0).ok)
            with self.assertRaises(keet.KeetError):
                search.tell(b)
            own = search.add(RIGHT, parent=a.node)
            self.assertTrue(search.tell(own).ok)
            self.assertEqual(search.best().source, a.source)
            self.assertFalse(search.converged())
            self.assertEqual(keet.check(SCALE, search.best().source).verdict, "ok")
        with keet.Search(SCALE, policy="random") as search:
            nodes = [search.tell(v).verdict for v, _ in zip(search, range(3))]
            self.assertEqual(nodes, ["ok"] * 3)

    def test_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scale.cu")
            path.write_text(WRONG)
            self.assertIn("scale.cu:11", keet.check(str(path), SCALE).reason)
            self.assertEqual(keet.check(path, WRONG).verdict, "ok")
        with self.assertRaises(FileNotFoundError):
            keet.check("/nowhere/k.cu")

    def test_errors(self):
        with self.assertRaises(keet.OriginalError):
            keet.check("no kernel at all\n")
        with self.assertRaisesRegex(keet.KeetError, "/nowhere"):
            keet.Keet(program="/nowhere/keet-opt")
        with self.assertRaisesRegex(keet.KeetError, "policy"):
            keet.Search(SCALE, policy="luck")

    def test_threads(self):
        began = threading.active_count()
        with ThreadPoolExecutor(6) as pool:
            verdicts = list(pool.map(lambda i: keet.check(SCALE, RIGHT if i % 3 else WRONG).verdict,
                                     range(24)))
        self.assertEqual(verdicts, ["ok" if i % 3 else "wrong" for i in range(24)])
        self.assertEqual(threading.active_count(), began)

    def test_other_threads_go_on(self):
        """The interpreter's lock is free while a kernel is evaluated."""
        keet.check(SCALE, SCALE)
        turns, done = [0], threading.Event()

        def count():
            while not done.is_set():
                turns[0] += 1
                time.sleep(0)
        other = threading.Thread(target=count)
        other.start()
        before = turns[0]
        keet.check(SCALE, ENDLESS)
        self.assertGreater(turns[0] - before, 100)
        done.set()
        other.join()

    def test_close_and_configure(self):
        """What is closed while other threads use it goes on after their calls."""
        own = keet.Keet(processes=1)
        search = keet.Search(SCALE, keet=own)
        with ThreadPoolExecutor(4) as pool:
            found = [pool.submit(own.check, SCALE, RIGHT if i % 2 else WRONG) for i in range(12)]
            for _ in range(3):
                own.close()
            self.assertEqual([f.result().verdict for f in found], ["wrong", "ok"] * 6)
        with self.assertRaisesRegex(keet.KeetError, "closed"):
            search.ask()
        own.close()
        own.close()
        keet.configure(processes=1)
        self.assertEqual(keet.check(SCALE, RIGHT).verdict, "ok")
        keet.configure()

    def test_processes(self):
        keet.check(SCALE)   # the parent has processes of its own
        for method in "fork", "spawn":
            context = multiprocessing.get_context(method)
            queue = context.Queue()
            child = context.Process(target=in_child, args=(queue,))
            child.start()
            self.assertEqual(queue.get(timeout=120), ("ok", "wrong"), method)
            child.join()
            self.assertEqual(child.exitcode, 0)
        self.assertEqual(keet.check(SCALE, RIGHT).verdict, "ok")

    def test_interrupt(self):
        program = ("import keet, package, sys\n"
                   "print('begun', flush=True)\n"
                   "try:\n    keet.check(package.SCALE, package.ENDLESS)\n"
                   "except KeyboardInterrupt:\n    print('interrupted')\n"
                   "print(keet.check(package.SCALE, package.RIGHT).verdict)\n")
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                     [os.environ["PYTHONPATH"], str(Path(__file__).parent)])})
        self.assertEqual(child.stdout.readline(), "begun\n")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=120)[0].split()
        # On a fast machine the emulator's own limit is reached before.
        self.assertIn(said, (["interrupted", "ok"], ["ok"]))
        self.assertEqual(child.returncode, 0)

    def test_nothing_is_left(self):
        def descriptors():
            return len(os.listdir("/proc/self/fd"))
        keet.check(SCALE)
        before = descriptors()
        for _ in range(3):
            with keet.Keet(processes=1) as own:
                own.check(SCALE, RIGHT)
            with keet.Search(SCALE) as search:
                search.ask()
        self.assertEqual(descriptors(), before)
        program = ("import keet, os, package\n"
                   "keet.check(package.SCALE)\n"
                   "print(*open(f'/proc/{os.getpid()}/task/{os.getpid()}/children').read().split())\n"
                   "os.kill(os.getpid(), 9)\n")
        child = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                   [os.environ["PYTHONPATH"], str(Path(__file__).parent)])})
        helpers = child.stdout.split()
        self.assertTrue(helpers)
        for _ in range(200):    # a host that was killed takes its helpers along
            if not any(Path("/proc", pid, "exe").exists() for pid in helpers):
                break
            time.sleep(0.05)
        else:
            self.fail(f"{helpers} go on")


if __name__ == "__main__":
    unittest.main()
