#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Launches kernels from Python functions of all kinds, and writes down from where.

    python_stacks.py TRUTH

Launch N is of the kernel kN. TRUTH gets a JSON object: by kernel, the stack as Python
itself has it ("py::NAME:FILE" and the line, leaf first), and in "native" the kernels
that have libc's qsort between two of their functions.

Needs no package: the driver API is called through ctypes, on a GPU or on the stand-in.
"""
import asyncio
import contextlib
import ctypes
import functools
import gc
import json
import sys
import threading

MAX_LAUNCHES = 1000

cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
lock = threading.Lock()
stacks = {}
native = []


def check(result):
    if result:
        raise RuntimeError("CUDA error %d" % result)


def text_module():
    """Kernels k0, k1, ... that do nothing"""
    entries = [".version 7.0\n.target sm_70\n.address_size 64\n"]
    entries += [".visible .entry k%d() { ret; }\n" % i for i in range(MAX_LAUNCHES)]
    return "".join(entries).encode()


def start():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    module = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuModuleLoadData(ctypes.byref(module), text_module()))
    return context, module


def note():
    """A new kernel, with the stack of the caller put down"""
    with lock:
        name = "k%d" % len(stacks)
        stack = stacks[name] = []
    frame = sys._getframe(1)
    while frame:
        code = frame.f_code
        qualname = getattr(code, "co_qualname", code.co_name)
        stack.append(["py::%s:%s" % (qualname, code.co_filename), frame.f_lineno])
        frame = frame.f_back
    function = ctypes.c_void_p()
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    return function


def launch():
    check(cuda.cuLaunchKernel(note(), 1, 1, 1, 1, 1, 1, 0, None, None, None))


# --- functions calling functions ---

def plain(depth=0):
    if depth:
        return plain(depth - 1)
    launch()


def outer():
    def inner():
        launch()
    inner()


class Base:
    attribute = None

    def __init__(self):
        launch()

    def method(self):
        launch()

    @classmethod
    def of_class(cls):
        launch()

    @staticmethod
    def static():
        launch()

    @property
    def value(self):
        launch()

    def __call__(self):
        launch()

    def __enter__(self):
        launch()
        return self

    def __exit__(self, *unused):
        launch()

    def __matmul__(self, other):
        launch()
        return self

    def __getitem__(self, key):
        launch()
        return key

    def __setitem__(self, key, value):
        launch()

    def __delitem__(self, key):
        launch()

    def __contains__(self, key):
        launch()
        return True

    def __lt__(self, other):
        launch()
        return True

    def __iter__(self):
        launch()
        return iter(())

    def __del__(self):
        launch()

    def __getattr__(self, name):
        launch()
        return name

    def __bool__(self):
        launch()
        return True

    class Nested:
        def method(self):
            launch()


class Derived(Base):
    def method(self):
        super().method()


def methods():
    base = Derived()
    base.method()
    base.of_class()
    base.static()
    base.value
    base()
    with base:
        plain()
    base @ base
    base[1]
    base[2] = 3
    del base[2]
    4 in base
    base < base
    list(base)
    base.unknown
    assert base
    "%s" % (base[5],)
    Base.Nested().method()
    del base
    gc.collect()


def several_lines():
    (lambda: launch())()
    value = functools.reduce(
        lambda a, b: (launch(), a + b)[1],
        [1,
         2,
         3])
    [launch() for _ in range(2)]
    {launch(): plain()
     for _ in range(1)}
    return value


@functools.lru_cache(maxsize=None)
def cached(value):
    launch()
    return value


# --- from C and back ---

def by_key(value):
    launch()
    return value


def from_c():
    sorted([3, 1, 2], key=by_key)
    list(map(by_key, [1]))
    list(filter(by_key, [1]))
    max([1, 2], key=lambda value: by_key(value))
    functools.partial(by_key, 1)()
    cached(1)
    cached(1)
    getattr(Base(), "value")


def from_callback():
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def compare(a, b):
        native.append("k%d" % len(stacks))
        launch()
        return 0

    items = (ctypes.c_int * 3)(3, 1, 2)
    libc.qsort(items, 3, ctypes.sizeof(ctypes.c_int), compare_type(compare))


# --- generators and coroutines ---

def generate(count):
    for i in range(count):
        launch()
        yield i


def delegate():
    launch()
    yield from generate(2)
    return 1


def consume(generator):
    for _ in generator:
        launch()


@contextlib.contextmanager
def context():
    launch()
    yield
    launch()


def generators():
    consume(generate(2))
    consume(delegate())
    consume(i for i in generate(1))
    next(generate(1))
    generate(1).send(None)
    closing = generate(2)
    next(closing)
    closing.close()
    with context():
        plain()


async def leaf(value):
    launch()
    await asyncio.sleep(0)
    launch()
    return value


async def branch(value):
    return await leaf(value)


async def iterate():
    for i in range(2):
        launch()
        yield i


async def root():
    await asyncio.gather(branch(1), branch(2))
    async for _ in iterate():
        launch()
    [i async for i in iterate()]
    asyncio.get_running_loop().call_soon(plain)
    await asyncio.sleep(0)


# --- exceptions ---

def exceptions():
    try:
        plain()
        raise ValueError
    except ValueError:
        launch()
        try:
            {}["missing"]
        except KeyError:
            plain(2)
    finally:
        launch()


def unwinding():
    with contextlib.suppress(ValueError):
        with Base():
            raise ValueError


# --- code that comes and goes ---

def made_code():
    for i in range(60):
        scope = {"launch": launch}
        exec(compile("\n" * (i % 7) + "def made_%02d():\n%s    launch()\n" %
                     (i % 13, "    pass\n" * (i % 5)), "<made %d>" % (i % 3), "exec"),
             scope)
        scope["made_%02d" % (i % 13)]()
        del scope
        if i % 10 == 0:
            gc.collect()
    for i in range(20):
        eval(compile("\n" * i + "launch()", "<evaluated>", "eval"))
        exec("class C%d:\n    def f(self): launch()\nC%d().f()" % (i, i))


def fünf():
    launch()


def names():
    fünf()
    scope = {"launch": launch}
    exec(compile("def 関数():\n    launch()\n関数()", "/tmp/ä ö/\U0001f40d.py", "exec"), scope)
    exec(compile("def long_%s():\n    launch()\nlong_%s()" % ("x" * 500, "x" * 500),
                 "/" + "y" * 600, "exec"), scope)
    exec(compile("launch()", "", "exec"), scope)


def far_down():
    scope = {"launch": launch}
    exec(compile("def far():\n" + "    0\n" * 70000 + "    launch()\nfar()",
                 "<far>", "exec"), scope)
    exec(compile("def near():\n" + "    if 1:\n        pass\n" * 300 +
                 "    launch()\nnear()", "<near>", "exec"), scope)


def recursive():
    plain(30)
    # Each is a recursion of C with perf trampolines, which CPython 3.12 has less room for.
    with contextlib.suppress(RecursionError):
        plain(900)

    def through_c(depth):
        list(map(through_c, [depth - 1])) if depth else launch()

    through_c(5)
    through_c(60)


def threads():
    def work():
        check(cuda.cuCtxSetCurrent(module_context))
        for i in range(5):
            plain(i)
            from_callback()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


module_context, module = start()
launch()
plain()
outer()
methods()
several_lines()
from_c()
from_callback()
generators()
asyncio.run(root())
exceptions()
unwinding()
made_code()
names()
far_down()
recursive()
threads()
for _ in range(3):
    outer()
check(cuda.cuCtxSynchronize())
with open(sys.argv[1], "w", encoding="utf-8", errors="surrogateescape") as truth:
    json.dump({"stacks": stacks, "native": native}, truth)
