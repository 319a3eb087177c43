"""Owns the way into libkeet.so: its functions by ctypes (which lets other threads of Python run
during a call), its errors as exceptions, and where CUDA's compiler is."""
import ctypes
import importlib.util
import json
import os
import threading
from pathlib import Path

INTERRUPT_EVERY_S = 0.2


class KeetError(RuntimeError):
    """Something outside the candidate is broken; the text names it and says what to do."""


class OriginalError(KeetError):
    """The original kernel is broken, so that nothing can be compared with it."""


class Interrupted(KeetError):
    """Another thread's KeyboardInterrupt ended the call."""


class Error(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("text", ctypes.c_char * 2048)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("program", ctypes.c_char_p), ("cuda", ctypes.c_char_p),
                ("device", ctypes.c_char_p), ("cache_dir", ctypes.c_char_p),
                ("processes", ctypes.c_uint), ("threads", ctypes.c_uint),
                ("limit_s", ctypes.c_double), ("memory_bytes", ctypes.c_uint64),
                ("seed", ctypes.c_uint64)]


class SearchOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("policy", ctypes.c_char_p),
                ("no_fast_math", ctypes.c_bool)]


_ERRORS = {1: OriginalError, 2: Interrupted}


def _find_library():
    """$KEET_LIBRARY, or the library that is packed beside this file."""
    named = os.environ.get("KEET_LIBRARY")
    return named if named else str(Path(__file__).parent / "lib" / "libkeet.so.0")


def _load():
    lib = ctypes.CDLL(_find_library())
    text, size, handle = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
    error = ctypes.POINTER(Error)
    functions = {
        "version": (text, []), "open": (handle, [ctypes.POINTER(Options), error]),
        "close": (None, [handle]), "interrupt": (None, [handle]),
        "task_open": (handle, [handle, text, size, text, error]), "task_close": (None, [handle]),
        "check": (handle, [handle, text, size, error]), "run": (handle, [handle, text, size, error]),
        "explain": (handle, [handle, text, size, error]),
        "reward": (handle, [handle, text, size, error]),
        "search_open": (handle, [handle, ctypes.POINTER(SearchOptions), error]),
        "search_close": (None, [handle]), "search_ask": (handle, [handle, error]),
        "search_add": (handle, [handle, ctypes.c_long, text, size, error]),
        "search_tell": (handle, [handle, ctypes.c_long, ctypes.POINTER(ctypes.c_double), error]),
        "search_best": (handle, [handle, error]), "result_free": (None, [handle]),
        "json": (text, [handle]), "source": (handle, [handle, ctypes.POINTER(size)]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(lib, "keet_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _load()


def version():
    return lib.keet_version().decode()


def find_cuda():
    """The folder of NVIDIA's wheels in this Python. None: there are none, or KEET_CUDA names one."""
    spec = None if os.environ.get("KEET_CUDA") else importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec else []:
        if any(Path(folder, "cu13", "lib").glob("libnvrtc.so*")):
            return str(Path(folder, "cu13"))
    return None


def _patiently(interrupt, function, *arguments):
    """Calls the function. Python's signal handlers run in the main thread and not during a call, so
    that the main thread lets another make the call, and Ctrl-C ends it."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    box = []
    thread = threading.Thread(target=lambda: box.append(function(*arguments)), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(INTERRUPT_EVERY_S)
    except BaseException:
        interrupt()
        thread.join()
        raise
    return box[0]


def call(interrupt, name, *arguments):
    """What keet_<name> returns; the last argument of the function, its error, becomes an exception."""
    error = Error()
    result = _patiently(interrupt, getattr(lib, "keet_" + name), *arguments, ctypes.byref(error))
    if result:
        return result
    raise _ERRORS.get(error.kind, KeetError)(error.text.decode(errors="replace"))


def take(result):
    """The document and the source of a result, which is freed."""
    try:
        size = ctypes.c_size_t()
        at = lib.keet_source(result, ctypes.byref(size))
        source = ctypes.string_at(at, size.value).decode(errors="replace") if at else None
        return json.loads(lib.keet_json(result)), source
    finally:
        lib.keet_result_free(result)
