"""Owns the search: variants of an original, asked for and told."""
import ctypes
import os
import threading
import weakref

from . import _keet, _native, _results


class Search:
    """Proposes variants by rewriting and tuning, the more promising ones first.

        search = keet.Search(original)
        for variant in search:                  # until nothing is left to try
            search.tell(variant)                # checked and timed here, or:
            search.tell(variant, speedup=1.4)   # as measured elsewhere; 0: it failed
        print(search.best().source)

    Several variants may be asked for before one is told. Threads may share a search."""

    def __init__(self, original, *, policy="mcts", no_fast_math=False, keet=None):
        self._keet = keet or _keet.default()
        self._lock = threading.Lock()   # a search is in one call at a time
        options = _native.SearchOptions(ctypes.sizeof(_native.SearchOptions), policy.encode(),
                                        no_fast_math)
        with self._keet._use() as native:
            self._native = _native.call(self._keet.interrupt, "search_open",
                                        self._keet._task(native, original), ctypes.byref(options))
            self._pid = os.getpid()
            self._keet._searches.add(self)
            self._finalizer = weakref.finalize(self, _native.lib.keet_search_close, self._native)

    def _call(self, what, *arguments):
        if self._pid != os.getpid():
            raise _native.KeetError("the search belongs to the process of which this one is a fork")
        with self._lock, self._keet._use():
            if self._native is None:
                raise _native.KeetError("the search is closed")
            result = _native.call(self._keet.interrupt, "search_" + what, self._native, *arguments)
        return _native.take(result)

    def _finish(self):
        """Within the keet's close, or its use."""
        self._finalizer()
        self._native = None

    def ask(self):
        """The next Variant; None: nothing is left to try, or nothing until more is told."""
        variant = _results.variant_of(*self._call("ask"))
        return variant if variant.node > 0 else None

    def add(self, source, parent=0):
        """A Variant of your own, below a node that was told and is right (0: the original)."""
        text = _keet.read(source)[0]
        return _results.variant_of(*self._call("add", parent, text, len(text)))

    def tell(self, variant, speedup=None):
        """What became of a variant. None: it is checked and timed here. Returns its Run."""
        node = getattr(variant, "node", variant)
        told = None if speedup is None else ctypes.byref(ctypes.c_double(speedup))
        return _results.run_of(self._call("tell", node, told)[0])

    def best(self):
        """The fastest Run so far, as told; its `source` is the kernel."""
        return _results.run_of(self._call("best")[0])

    def converged(self):
        """Did the last 64 successes bring less than 1%?"""
        return bool(self._call("best")[0]["converged"])

    def __iter__(self):
        while (variant := self.ask()) is not None:
            yield variant

    def close(self):
        with self._lock, self._keet._use():
            self._finish()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
