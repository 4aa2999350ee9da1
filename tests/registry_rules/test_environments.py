"""Plugins installed by pip: many, conflicting, broken, slow, in any order."""

import os
import subprocess
import sys

import pytest
from plugins import SOURCES
from wheels import unpack, wheel

KINDS = ("codec", "data_type", "chunk_grid", "chunk_key_encoding", "storage_transformer", "store")
MANY = 500
CALLS = 400 * MANY  # calls of functions in Python and C, about 50 ms; independent of the load

FIRST_USE = """
import sys
import zarr_core.extension
from zarr_core.registry.resolve import find_class

calls = 0

def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")

before = set(sys.modules)
sys.setprofile(count)
found = find_class("codec", "many.123.0")
sys.setprofile(None)
print(calls)
assert found.__module__ == "many_123", found
print(*sorted(set(sys.modules) - before))
"""


def run(program, *places):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, places))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def pip_install(target, *wheels):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    options = ["--no-deps", "--no-index", "--no-compile", "--target", str(target)]
    subprocess.run([*pip, *options, *map(str, wheels)], check=True)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with 500 distributions and 2,000 entry points; one of them works."""
    folder = tmp_path_factory.mktemp("many")
    for number in range(MANY):
        module = f"many_{number}"
        lines = {}
        for line in range(4):
            kind = KINDS[(number * 4 + line) % len(KINDS)] if number != 123 else "codec"
            lines.setdefault(kind, {})[f"many.{number}.{line}"] = f"{module}:Extension"
        source = SOURCES["codec"] if number == 123 else "raise SystemExit('imported')"
        unpack(
            wheel(folder / "wheels", f"many-{number}", lines, {f"{module}/__init__.py": source}),
            folder / "site",
        )
    return folder / "site"


def test_the_first_name_among_two_thousand_is_found_in_no_time(many):
    calls, modules = run(FIRST_USE, many)
    foreign = [name for name in modules.split() if not name.startswith("zarr_core.")]
    assert foreign == ["many_123"], "nothing else is imported"
    assert MANY < int(calls) < CALLS


def test_all_of_them_are_found(many):
    program = """
import sys
import zarr_core
lines = zarr_core.installed_extensions(load=False)
mine = [line for line in lines if line.distribution.startswith("many-")]
print(len(mine), len({line.distribution for line in mine}), sum(line.wins for line in mine))
assert not [name for name in sys.modules if name.startswith("many_")]
"""
    assert run(program, many) == ["2000 500 2000"]


# --- installed by pip ---

REPORT = """
import sys
import zarr_core as zarr
for line in zarr.installed_extensions(load=False):
    if line.distribution.startswith("acme"):
        print(line)
for name in ("acme.one", "acme.two", "acme.both", "acme.broken"):
    try:
        array = zarr.create_array(data=[1, 2, 3], compressors=name)
        print(name, array[:].tolist(), type(array.compressors[0]).__module__)
    except zarr.errors.ZarrError as error:
        print(name, type(error).__name__, error)
print(*sorted(name for name in sys.modules if name.startswith("acme")))
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory):
    """Three wheels: two provide the same name, one cannot be imported."""
    folder = tmp_path_factory.mktemp("acme")
    codec = SOURCES["codec"]
    return [
        wheel(folder, name, kinds, {f"{name.replace('-', '_')}.py": source})
        for name, kinds, source in (
            (
                "acme-one",
                {"codec": {"acme.one": "acme_one:Extension", "acme.both": "acme_one:Extension"}},
                codec,
            ),
            (
                "acme-two",
                {"codec": {"acme.two": "acme_two:Extension", "acme.both": "acme_two:Extension"}},
                codec,
            ),
            ("acme-broken", {"codec": {"acme.broken": "acme_broken:Extension"}}, "1 / 0"),
        )
    ]


EXPECTED = [
    "codec acme.both  acme-one 1.0 (acme_one:Extension)  not used",
    "codec acme.both  acme-two 1.0 (acme_two:Extension)  not used",
    "codec acme.broken  acme-broken 1.0 (acme_broken:Extension)",
    "codec acme.one  acme-one 1.0 (acme_one:Extension)",
    "codec acme.two  acme-two 1.0 (acme_two:Extension)",
    "acme.one [1, 2, 3] acme_one",
    "acme.two [1, 2, 3] acme_two",
    "acme.both ExtensionConflictError 2 distributions provide the codec 'acme.both': acme-one 1.0 "
    "(acme_one:Extension); acme-two 1.0 (acme_two:Extension). "
    "Choose one: zarr_core.config.set(providers={'codec.acme.both': 'acme-one'})",
    "acme.broken ExtensionLoadError the codec 'acme.broken' is provided by acme-broken 1.0 as "
    "acme_broken:Extension, which failed to load: ZeroDivisionError: division by zero. "
    "Repair, upgrade or remove that distribution; other extensions are not affected.",
    "acme_one acme_two",
]


def test_neither_order_of_installation_nor_of_the_path_changes_anything(acme, tmp_path):
    one, two, broken = acme
    pip_install(tmp_path / "a", one, two, broken)
    assert run(REPORT, tmp_path / "a") == EXPECTED
    for wheel_ in (broken, two, one):  # in reverse order, one after the other
        pip_install(tmp_path / "b", wheel_)
    assert run(REPORT, tmp_path / "b") == EXPECTED
    for wheel_ in acme:  # each in its own directory
        unpack(wheel_, tmp_path / wheel_.name)
    places = [tmp_path / wheel_.name for wheel_ in acme]
    assert run(REPORT, *places) == EXPECTED
    assert run(REPORT, *places[::-1]) == EXPECTED


def test_advice_of_the_error_works(acme, tmp_path):
    for wheel_ in acme:
        unpack(wheel_, tmp_path)
    program = """
import zarr_core
try:
    zarr_core.create_array(data=[1, 2, 3], compressors="acme.both")
except zarr_core.errors.ExtensionConflictError as error:
    _, _, line = str(error).partition("Choose one: ")
eval(line)
array = zarr_core.create_array(data=[1, 2, 3], compressors="acme.both")
print(array[:].tolist(), type(array.compressors[0]).__module__)
"""
    assert run(program, tmp_path) == ["[1, 2, 3] acme_one"]


SLOW = """
import threading
started, release = threading.Event(), threading.Event()
import sys
sys.modules["__main__"].slow = sys.modules[__name__]
started.set()
assert release.wait(120)
"""


def test_a_plugin_that_takes_long_keeps_only_its_own_users_waiting(acme, tmp_path):
    lines = {"codec": {"acme.slow": "acme_slow:Extension"}}
    unpack(
        wheel(tmp_path / "w", "acme-slow", lines, {"acme_slow.py": SLOW + SOURCES["codec"]}),
        tmp_path,
    )
    unpack(acme[0], tmp_path)
    program = """
import sys, threading, time
import zarr_core as zarr

def use(name):
    print(name, zarr.create_array(data=[1, 2, 3], compressors=name)[:].tolist(), flush=True)

zarr.installed_extensions(load=False)
use("acme.one")
assert "acme_slow" not in sys.modules
slow = None
waiting = threading.Thread(target=use, args=["acme.slow"])
waiting.start()
while slow is None:
    time.sleep(0.001)
assert slow.started.wait(120)
use("acme.one")
use("gzip")
try:
    use("acme.unheard")
except LookupError:
    print("unknown")
slow.release.set()
waiting.join()
"""
    done = "[1, 2, 3]"
    assert run(program, tmp_path) == [
        f"acme.one {done}",
        f"acme.one {done}",
        f"gzip {done}",
        "unknown",
        f"acme.slow {done}",
    ]


CREATE = """
import zarr_core as zarr
print(zarr.create_array(zarr.MemoryStore(), data=[1, 2, 3])[:].tolist())
print(zarr.create_array("memory://x", data=[1, 2, 3], zarr_format=2)[:].tolist())
try:
    zarr.open("nowhere.zarr", mode="r")
except zarr.errors.NodeNotFoundError as error:
    print("not found", "acme" in str(error))
"""


FORMAT = """
from zarr_core.formats.v3 import V3

class Extension(V3):
    name = "acme.x"

    def __init__(self):
        {made}

    def read(self, store, path):
        {read}
"""


@pytest.mark.parametrize(
    ("made", "read"),
    [("1 / 0", "pass"), ("pass", "1 / 0"), ("pass", "return 5")],
)
def test_failing_format_is_isolated(made, read, tmp_path):
    lines = {"format": {"acme.x": "acme_0:Extension"}}
    source = FORMAT.format(made=made, read=read)
    unpack(wheel(tmp_path / "w", "acme-0", lines, {"acme_0.py": source}), tmp_path / "site")
    named = """
try:
    zarr.open("nowhere.zarr", mode="r", zarr_format="acme.x")
except zarr.errors.ExtensionLoadError as error:
    print(error.distribution)
"""
    created = ["[1, 2, 3]", "[1, 2, 3]", "not found True"]
    assert run(CREATE + named, tmp_path / "site") == [*created, "acme-0 1.0"]
