"""Compile and run the target of libFuzzer in ``packages/zarr-native/fuzz``.

``python scripts/fuzz_target.py [--seconds 60] [options of libFuzzer]``.  It needs clang, and fuzzes the
codecs whose libraries ``pkg-config`` finds.  New inputs are added to ``build/fuzz/corpus``; the
committed ones in ``packages/zarr-native/fuzz/corpus`` are not changed.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "packages" / "zarr-native"
SOURCE = PACKAGE / "src" / "zarr_native"
SEEDS = PACKAGE / "fuzz" / "corpus"
BUILD = ROOT / "build" / "fuzz"
LIBRARIES = {
    "zlib": "HAVE_ZLIB",
    "libzstd": "HAVE_ZSTD",
    "liblz4": "HAVE_LZ4",
    "blosc": "HAVE_BLOSC",
    "libdeflate": "HAVE_LIBDEFLATE",
}
SANITIZERS = "-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined"


def main(arguments: list[str] | None = None) -> int:
    """Compile and run the target; return the exit status of the fuzzer."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=60)
    options, more = parser.parse_known_args(arguments)
    clang = shutil.which("clang")
    if clang is None:
        print("the fuzzer needs clang, which is not installed")
        return 0
    return run(compiled(clang), options.seconds, more)


def compiled(clang: str) -> Path:
    """Compile the target with the sources of the module that do not need Python."""
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "target"
    libraries: list[str] = []
    for library, macro in LIBRARIES.items():
        found = subprocess.run(
            ["pkg-config", "--cflags", "--libs", library],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.returncode:
            print(f"without {library}, which pkg-config does not find")
        else:
            libraries += [f"-D{macro}", *shlex.split(found.stdout)]
    sources = [it for it in sorted((SOURCE / "c").glob("*.c")) if it.name != "module.c"]
    subprocess.run(
        [
            clang, "-std=c11", "-g", "-O1", "-pthread", "-D_GNU_SOURCE", *shlex.split(SANITIZERS),
            f"-I{SOURCE / 'include'}", f"-I{SOURCE / 'c'}", str(PACKAGE / "fuzz" / "target.c"),
            *map(str, sources), *libraries, "-ldl", "-o", str(program),
        ],
        check=True,
    )  # fmt: skip
    return program


def run(program: Path, seconds: int, more: list[str]) -> int:
    """Run the target; findings are stored in ``build/fuzz``."""
    corpus = BUILD / "corpus"
    corpus.mkdir(exist_ok=True)
    command = [
        str(program), f"-max_total_time={seconds}", "-max_len=4096", "-len_control=0", "-timeout=20",
        f"-artifact_prefix={BUILD}/", *more, str(corpus), str(SEEDS),
    ]  # fmt: skip
    environment = {"ASAN_OPTIONS": "detect_leaks=1", **os.environ}
    return subprocess.run(command, check=False, env=environment).returncode


if __name__ == "__main__":
    raise SystemExit(main())
