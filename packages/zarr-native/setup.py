"""Build of the compiled module.

Without a compiler or Python.h, the package is installed without the module, and says why it does
nothing.  A compiler that reports errors fails the installation.

Libraries whose development files ``pkg-config`` finds are linked; all others are looked for at run
time.  ``ZARR_NATIVE_LINK=""`` links none, ``ZARR_NATIVE_CFLAGS`` adds options of the compiler.
"""

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

SOURCE = "src/zarr_native"
LIBRARIES = {
    "zlib": "HAVE_ZLIB",
    "libzstd": "HAVE_ZSTD",
    "liblz4": "HAVE_LZ4",
    "blosc": "HAVE_BLOSC",
    "libdeflate": "HAVE_LIBDEFLATE",
}


def missing_tool() -> str:
    """Return why nothing can be compiled here; empty if it can."""
    if os.name != "posix":
        return "the module needs a POSIX system"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if shutil.which(compiler) is None:
        return f"there is no C compiler {compiler!r}"
    header = Path(sysconfig.get_path("include"), "Python.h")
    return "" if header.is_file() else f"there is no {header}"


def pkg_config(library: str) -> list[str] | None:
    """Return the options for a library; None if it is not installed for development."""
    try:
        done = subprocess.run(
            ["pkg-config", "--cflags", "--libs", library],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return shlex.split(done.stdout)


def extension() -> Extension:
    """Describe the module: the limited API of Python 3.11, so that one build is for all versions."""
    macros: list[tuple[str, str | None]] = [
        ("_GNU_SOURCE", None),
        ("Py_LIMITED_API", "0x030b0000"),
    ]
    more = shlex.split(os.environ.get("ZARR_NATIVE_CFLAGS", ""))
    compile_args, link_args = ["-std=c11", "-O3", "-fvisibility=hidden", "-pthread", *more], [*more]
    wanted = os.environ.get("ZARR_NATIVE_LINK", " ".join(LIBRARIES)).split()
    for library in wanted:
        options = pkg_config(library)
        if options is not None:
            macros.append((LIBRARIES[library], None))
            compile_args += [it for it in options if not it.startswith("-l")]
            link_args += options
    return Extension(
        "zarr_native._native",
        sources=sorted(map(str, Path(SOURCE, "c").glob("*.c"))),
        depends=sorted(
            map(str, [*Path(SOURCE, "c").glob("*.h"), *Path(SOURCE, "include").glob("*.h")])
        ),
        include_dirs=[f"{SOURCE}/include", f"{SOURCE}/c"],
        define_macros=macros,
        extra_compile_args=compile_args,
        extra_link_args=["-pthread", *link_args],
        libraries=["dl"] if os.uname().sysname == "Linux" else [],
        py_limited_api=True,
    )


if problem := missing_tool():
    print(f"zarr-native is built without its compiled module: {problem}")
setup(
    ext_modules=[] if problem else [extension()],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
