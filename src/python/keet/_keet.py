"""Owns the processes that evaluate: `Keet`, and the one that the functions of the package use."""
import ctypes
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from . import _native, _results


def read(kernel):
    """(bytes, name) of a kernel: a text, bytes, or the path of a .cu file."""
    if isinstance(kernel, bytes):
        return kernel, None
    if isinstance(kernel, os.PathLike) or ("\n" not in kernel and kernel.endswith(".cu")):
        path = Path(kernel)
        return path.read_bytes(), str(path)
    return kernel.encode("utf-8", "surrogateescape"), None


class Users:
    """How many calls are under way."""
    nr = 0


def _close_unused(native, users):
    """At the end of the interpreter, threads that go on may still be in a call: the processes then see
    that their host is gone."""
    if users.nr == 0:
        _native.lib.keet_close(native)


class Keet:
    """A set of helper processes. Threads may share it; a forked child of this process gets processes
    of its own when it first calls. Options: `processes` (calls at once; 0: one a core), `device`
    ("emu", "emu:h200", "gpu"), `limit_s` of one call (of processor time), `memory_bytes` of each process, `threads` of
    the emulator in each, `seed` of what checks draw, `cache_dir` of compiled code ("": none),
    `program` (keet-opt) and `cuda` (a folder with NVRTC)."""

    def __init__(self, *, processes=0, device="emu", limit_s=300.0, memory_bytes=0, threads=1,
                 seed=1, cache_dir=None, program=None, cuda=None):
        def encoded(text):
            return None if text is None else os.fsencode(text)

        self._options = _native.Options(
            size=ctypes.sizeof(_native.Options), program=encoded(program),
            cuda=encoded(cuda or _native.find_cuda()), device=encoded(device),
            cache_dir=encoded(cache_dir), processes=processes, threads=threads, limit_s=limit_s,
            memory_bytes=memory_bytes, seed=seed)
        self.processes = processes or os.cpu_count() or 1
        self._begin()
        with self._use():
            pass

    def _begin(self):
        self._changed = threading.Condition()   # of all fields below
        self._native = None
        self._pid = os.getpid()
        self._tasks = {}        # (text, name): its handle, which holds the text alone
        self._searches = weakref.WeakSet()
        self._users = Users()   # the calls under way
        self._closing = False
        self._finalizer = None

    def _here(self):
        """After a fork the parent's processes are the parent's."""
        if self._pid != os.getpid():
            if self._finalizer:
                self._finalizer.detach()
            self._begin()

    @contextmanager
    def _use(self):
        """The native handle, which is not closed meanwhile."""
        self._here()
        with self._changed:
            while self._closing:
                self._changed.wait()
            if self._native is None:
                self._native = _native.call(lambda: None, "open", ctypes.byref(self._options))
                self._finalizer = weakref.finalize(self, _close_unused, self._native, self._users)
            self._users.nr += 1
        try:
            yield self._native
        finally:
            with self._changed:
                self._users.nr -= 1
                self._changed.notify_all()

    def close(self):
        """Waits for the calls under way, and ends the processes and the searches. The next call starts
        processes anew."""
        self._here()
        with self._changed:
            self._closing = True
            while self._users.nr:
                self._changed.wait()
            for search in list(self._searches):
                search._finish()
            for task in self._tasks.values():
                _native.lib.keet_task_close(task)
            self._tasks.clear()
            if self._finalizer:
                self._finalizer()
            self._native = None
            self._closing = False
            self._changed.notify_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def interrupt(self):
        """Ends the calls that are under way, in whatever thread: they raise Interrupted."""
        native = self._native
        if native and self._pid == os.getpid():
            _native.lib.keet_interrupt(native)

    def _task(self, native, original):
        """Within _use."""
        text, name = read(original)
        key = text, name
        with self._changed:
            if key in self._tasks:
                return self._tasks[key]
        task = _native.call(self.interrupt, "task_open", native, text, len(text),
                            None if name is None else os.fsencode(name))
        with self._changed:
            kept = self._tasks.setdefault(key, task)
        if kept != task:    # another thread was faster
            _native.lib.keet_task_close(task)
        return kept

    def _evaluate(self, what, original, text):
        with self._use() as native:
            task = self._task(native, original)
            result = _native.call(self.interrupt, what, task, text, 0 if text is None else len(text))
        return _native.take(result)[0]

    def check(self, original, candidate=None):
        """A Check: does the candidate compute what the original computes? None: the original."""
        text = None if candidate is None else read(candidate)[0]
        return _results.check_of(self._evaluate("check", original, text))

    def run(self, original, candidate=None):
        """A Run: the check, and of a right kernel time, speedup, counters and findings."""
        text = None if candidate is None else read(candidate)[0]
        return _results.run_of(self._evaluate("run", original, text))

    def explain(self, original, candidate=None):
        """An Explanation: a Run, and what limits the kernel as a text."""
        text = None if candidate is None else read(candidate)[0]
        return _results.explanation_of(self._evaluate("explain", original, text))

    def reward(self, original, reply):
        """A Reward: a language model's reply, checked and timed, with a text for the next prompt."""
        if not isinstance(reply, bytes):
            reply = reply.encode("utf-8", "surrogateescape")
        return _results.reward_of(self._evaluate("reward", original, reply))

    def _many(self, function, texts):
        with ThreadPoolExecutor(self.processes) as pool:
            return list(pool.map(function, texts))

    def check_many(self, original, candidates):
        """A list of Checks, in the order of the candidates; as many at once as there are processes."""
        return self._many(partial(self.check, original), candidates)

    def reward_many(self, original, replies):
        """A list of Rewards, in the order of the replies."""
        return self._many(partial(self.reward, original), replies)


# ---- the processes of this interpreter ----

_options = {}
_default = None
_lock = threading.Lock()


def _after_fork():
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def default():
    global _default
    with _lock:
        if _default is None:
            _default = Keet(**_options)
        return _default


def configure(**options):
    """Sets the options (those of Keet) of the functions of the package, for the calls to come."""
    global _options, _default
    with _lock:
        _options, old, _default = options, _default, None
    if old:
        old.close()


def check(original, candidate=None):
    return default().check(original, candidate)


def run(original, candidate=None):
    return default().run(original, candidate)


def explain(original, candidate=None):
    return default().explain(original, candidate)


def reward(original, reply):
    return default().reward(original, reply)


def check_many(original, candidates):
    return default().check_many(original, candidates)


def reward_many(original, replies):
    return default().reward_many(original, replies)


for _name in ("check", "run", "explain", "reward", "check_many", "reward_many"):
    globals()[_name].__doc__ = getattr(Keet, _name).__doc__
