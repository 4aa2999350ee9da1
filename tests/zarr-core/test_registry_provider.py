import subprocess
import sys

import pytest
from zarr_core.errors import ExtensionLoadError
from zarr_core.registry.provider import Provider


def provider(target, name="acme", extension_point="codec"):
    return Provider(extension_point, name, target, "acme-dist", "2.0")


def test_identity_is_reported():
    line = provider("acme.mod:Outer.Inner [extra]")
    assert line.origin == "acme-dist 2.0"
    assert str(line) == "acme-dist 2.0 (acme.mod:Outer.Inner [extra])"
    assert line.module == "acme.mod"


def test_it_loads_a_class_within_a_class(install, codec_source):
    install(
        "acme-dist",
        {},
        {
            "acme.py": codec_source.replace("@dataclass", "class Outer: pass\n@dataclass")
            + "\nOuter.Codec = Codec"
        },
    )
    assert provider("acme:Outer.Codec").load().__name__ == "Codec"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "from zarr_core.extension import BytesToBytesCodec\nclass Codec(BytesToBytesCodec): pass",
            "Codec does not define decode, encode",
        ),
        (
            "from zarr_core.extension import Warpdrive",
            "it requires zarr_core.extension of another version of zarr-core",
        ),
    ],
)
def test_a_problem_becomes_a_load_error(install, source, reason):
    install("acme-dist", {}, {"acme.py": source})
    with pytest.raises(ExtensionLoadError) as caught:
        provider("acme:Codec").load()
    error = caught.value
    assert reason in error.reason
    assert (error.extension_point, error.extension_name) == ("codec", "acme")
    assert (error.target, error.distribution) == ("acme:Codec", "acme-dist 2.0")
    assert "derived" in reason or "define" in reason or error.__cause__ is not None


def test_interrupting_an_import_interrupts(install):
    install("acme-dist", {}, {"acme.py": "raise KeyboardInterrupt"})
    with pytest.raises(KeyboardInterrupt):
        provider("acme:Codec").load()


def test_hooks_may_be_any_object(install):
    install("acme-dist", {}, {"acme.py": "hooks = object()"})
    assert type(provider("acme:hooks", extension_point="hooks").load()) is object
    assert provider("acme", extension_point="hooks").load().__name__ == "acme"


def test_pluggy_is_imported_with_hookimpl():
    code = (
        "import sys, zarr_core.extension as extension\n"
        "assert not {'pluggy', 'importlib_metadata', 'jsonschema'} & set(sys.modules)\n"
        "extension.hookimpl\n"
        "assert 'pluggy' in sys.modules\n"
        "try: extension.nothing_of_this_name\n"
        "except AttributeError: pass\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
