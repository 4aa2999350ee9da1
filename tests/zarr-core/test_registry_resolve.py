"""Plugins that are missing, broken, conflicting, or have the wrong name.

tests/registry_rules has what happens with each; here are the details.
"""

import importlib
import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionLoadError,
    UnknownExtensionError,
)
from zarr_core.extension import Location, hookimpl
from zarr_core.interfaces.codec import BytesToBytesCodec, Codec
from zarr_core.registry import discovery, hooks, overrides, resolve
from zarr_core.registry.overrides import override_extensions


def define(name, optional=False, **configuration):
    return ExtensionDefinition(name, configuration, must_understand=not optional)


@pytest.fixture
def acme(install, codec_source):
    install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": codec_source})


@pytest.fixture
def install_method(install, codec_source):
    """A function that installs a codec ``acme.x`` whose ``from_definition`` has these statements."""

    def write(*statements):
        lines = ["@classmethod", "def from_definition(cls, definition):"]
        lines += [f"    {statement}" for statement in statements]
        source = codec_source + "".join(f"\n    {line}" for line in lines)
        install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": f"{source}\n"})

    return write


def test_only_what_is_used_is_imported(install, acme, codec_source):
    install("unused", {"codec": {"unused": "unused:Codec"}}, {"unused.py": "raise SystemExit"})
    resolve.find_class("codec", "acme.x")
    resolve.find_class("codec", "bytes")
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "no.such.codec")
    assert "unused" not in sys.modules


def test_aliases_lead_to_one_class(install, codec_source):
    lines = {"acme.x": "acme:Codec", "https://acme.org/codecs/x/1.0": "acme:Codec"}
    install("acme", {"codec": lines}, {"acme.py": codec_source})
    first, second = (resolve.find_class("codec", name) for name in lines)
    assert first is second


# --- known but broken ---


def test_a_configuration_error_has_all_problems(install, codec_source):
    schema = {"properties": {"key": {"maximum": 9}}, "additionalProperties": False}
    install(
        "acme",
        {"codec": {"acme.x": "acme:Codec"}},
        {"acme/__init__.py": codec_source, "acme/schemas/codec/acme.x.json": json.dumps(schema)},
    )
    with pytest.raises(ExtensionConfigurationError) as caught:
        resolve.create_extension(
            "codec",
            define("acme.x", optional=True, key=12, kee=1),
            Location("s /a", pointer="/codecs/0"),
        )
    error = caught.value
    assert [problem.pointer for problem in error.problems] == [
        "/codecs/0/configuration/kee",
        "/codecs/0/configuration/key",
    ]
    assert error.location == "s /a at /codecs/0"


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("ValueError('level is odd')", "level is odd"),
        ("TypeError('no')", "no"),
        ("ValueError()", "ValueError: "),
        ("KeyError('level')", "KeyError: 'level'"),
        ("ZeroDivisionError('x')", "ZeroDivisionError: x"),
        ("RecursionError('deep')", "RecursionError: deep"),
    ],
)
def test_exception_becomes_a_configuration_error(install_method, raised, message):
    install_method(f"raise {raised}")
    with pytest.raises(ExtensionConfigurationError) as caught:
        resolve.create_extension("codec", define("acme.x"), Location(pointer="/codecs/0"))
    (problem,) = caught.value.problems
    assert (problem.pointer, problem.message) == ("/codecs/0/configuration", message)
    assert caught.value.__cause__ is not None


def test_an_unexpected_member_is_rejected_without_a_schema_too(acme):
    with pytest.raises(ExtensionConfigurationError, match="unexpected keyword argument 'kee'"):
        resolve.create_extension("codec", define("acme.x", kee=1))


OUTER = """
    @classmethod
    def from_definition(cls, definition):
        from zarr_core.definition import ExtensionDefinition
        from zarr_core.location import Location
        from zarr_core.registry.resolve import create_extension
        for number, item in enumerate(definition.configuration["codecs"]):
            create_extension("codec", ExtensionDefinition.from_json(item), Location(pointer=f"/configuration/codecs/{number}"))
        return cls()
"""


@pytest.mark.parametrize(
    ("inner", "error", "message"),
    [
        ("acme.unheard", UnknownExtensionError, "/configuration/codecs/1: no codec called"),
        (
            {"name": "acme.in", "configuration": {"kee": 1}},
            ExtensionConfigurationError,
            "/configuration/codecs/1: invalid configuration of codec 'acme.in' of acme 1.0:\n"
            "  /codecs/0/configuration/codecs/1/configuration: ",
        ),
        (
            {"name": "acme.x", "configuration": {"codecs": ["bytes", "acme.unheard"]}},
            UnknownExtensionError,
            "/configuration/codecs/1/configuration/codecs/1: no codec called",
        ),
    ],
)
def test_errors_of_inner_extensions_say_where_they_are(
    install, codec_source, inner, error, message
):
    names = {"acme.x": "outer:Codec", "acme.in": "inner:Codec"}
    files = {"outer.py": codec_source + OUTER, "inner.py": codec_source}
    install("acme", {"codec": names}, files)
    plain = {"name": "bytes", "configuration": {"endian": "little"}}
    with pytest.raises(error) as caught:
        resolve.create_extension(
            "codec", define("acme.x", codecs=[plain, inner]), Location("s /a", pointer="/codecs/0")
        )
    assert str(caught.value).startswith(f"s /a at /codecs/0{message}")


def test_a_new_definition_may_leave_members_to_the_code_and_so_may_those_inside(
    install, codec_source
):
    files = {
        "acme/__init__.py": codec_source,
        "acme/outer.py": codec_source + OUTER,
        "acme/schemas/codec/acme.in.json": '{"required": ["key"]}',
    }
    names = {"acme.in": "acme:Codec", "acme.out": "acme.outer:Codec"}
    install("acme", {"codec": names}, files)
    inner, outer = define("acme.in"), define("acme.out", codecs=["acme.in"])
    for definition in (inner, outer):
        with pytest.raises(ExtensionConfigurationError, match="key: is missing"):
            resolve.create_extension("codec", definition)
        assert resolve.create_extension("codec", definition, complete=False)
        with pytest.raises(ExtensionConfigurationError, match="key: is missing"):
            resolve.create_extension("codec", definition, Location("s /a"))


def test_problem_of_an_extension_has_a_pointer(install_method):
    install_method(
        "from zarr_core.errors import ExtensionConfigurationError, ValidationProblem",
        "problems = [ValidationProblem('/configuration/a', 'is odd')]",
        "raise ExtensionConfigurationError('codec', definition.name, '', problems)",
    )
    with pytest.raises(ExtensionConfigurationError) as caught:
        resolve.create_extension("codec", define("acme.x"), Location("s /a", pointer="/codecs/0"))
    assert caught.value.location == "s /a at /codecs/0"
    assert [str(item) for item in caught.value.problems] == ["/codecs/0/configuration/a: is odd"]


def test_non_extension_is_rejected(install_method):
    install_method("return 7")
    message = "failed when it was called: from_definition returned 7"
    with pytest.raises(ExtensionLoadError, match=message):
        resolve.create_extension("codec", define("acme.x"))


def test_a_repaired_plugin_works_without_a_restart(install, codec_source):
    site = install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": "import missing_one"})
    with pytest.raises(ExtensionLoadError):
        resolve.find_class("codec", "acme.x")
    (site / "missing_one.py").write_text("")
    (site / "acme.py").write_text(codec_source + "# and another length\n")
    importlib.invalidate_caches()
    assert resolve.find_class("codec", "acme.x")


# --- several providers ---


@pytest.fixture
def rivals(install, codec_source):
    install("acme-one", {"codec": {"x": "one:Codec"}}, {"one.py": codec_source}, version="1.5")
    install("acme-two", {"codec": {"x": "two:Codec"}}, {"two.py": codec_source})


def test_setting_without_provider_raises(rivals):
    with config.set(providers={"codec.x": "acme-three", "codec.bytes": "acme-three"}):
        with pytest.raises(UnknownExtensionError, match=r"selects 'acme-three'.*acme-one"):
            resolve.create_extension("codec", define("x", optional=True))
        with pytest.raises(UnknownExtensionError, match="it is provided by zarr-core"):
            resolve.find_class("codec", "bytes")
    with (
        config.set(providers={"codec.unheard": "acme-three"}),
        pytest.raises(UnknownExtensionError, match="no distribution does"),
    ):
        resolve.find_class("codec", "unheard")


def test_one_distribution_that_offers_two_is_in_conflict_with_itself(install, codec_source):
    site = install("acme", {"codec": {"x": "one:Codec"}}, {"one.py": codec_source})
    with (site / "acme-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write("\nx = two:Codec\n")
    discovery.refresh()
    # No setting selects one.
    with pytest.raises(ExtensionConflictError, match=r"acme provides .* once: .*two.*repaired\.$"):
        resolve.find_class("codec", "x")
    with config.set(providers={"codec.x": "acme"}), pytest.raises(ExtensionConflictError):
        resolve.find_class("codec", "x")


def test_core_extensions_are_replaced_only_by_settings(install, codec_source):
    names = {"codec": {"bytes": "pretender:Codec"}, "data_type": {"r24": "pretender:Nothing"}}
    install("pretender", names, {"pretender.py": codec_source})
    assert resolve.find_class("codec", "bytes").__module__ == "zarr_core.codecs.bytes"
    assert resolve.find_class("data_type", "r24").__module__ == "zarr_core.data_types.raw"
    assert "pretender" not in sys.modules
    with config.set(providers={"codec.bytes": "pretender"}):
        assert resolve.find_class("codec", "bytes").__module__ == "pretender"
    with config.set(providers={"codec.bytes": "zarr-core"}):
        assert resolve.find_class("codec", "bytes").__module__ == "zarr_core.codecs.bytes"


# --- overrides ---


class Other(Codec):
    pass


def test_override_takes_precedence(rivals, acme):
    mapping = {"codec": {"x": Other, "acme.x": Other}}
    with config.set(providers={"codec.x": "acme-two"}), override_extensions(mapping):
        assert resolve.find_class("codec", "x") is Other
        assert resolve.find_class("codec", "acme.x") is Other
        provider = resolve.find_provider("codec", define("x"))
    assert resolve.find_class("codec", "acme.x") is not Other
    assert provider.distribution == "this process"
    assert provider.target.endswith(":Other")


def test_blocks_nest():
    with override_extensions({"codec": {"a": BytesCodec, "b": BytesCodec}}):
        with override_extensions({"codec": {"b": Other}}):
            assert overrides.current() == {"codec": {"a": BytesCodec, "b": Other}}
        assert overrides.current() == {"codec": {"a": BytesCodec, "b": BytesCodec}}


def test_a_block_ends_with_an_error_too():
    with pytest.raises(RuntimeError), override_extensions({"codec": {"a": BytesCodec}}):
        raise RuntimeError
    assert overrides.current() == {}


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_changes_nothing(nothing):
    before = overrides.cache_key()
    with override_extensions(nothing):
        assert overrides.cache_key() == before


def test_one_thread_does_not_see_the_block_of_another():
    with override_extensions({"codec": {"a": BytesCodec}}), ThreadPoolExecutor(1) as pool:
        assert pool.submit(overrides.current).result() == {}


@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ({"codecs": {"a": BytesCodec}}, ValueError, "unknown extension point 'codecs'"),
        ({"codec": {"a": int}}, TypeError, "class for codec 'a': .*not a class derived from Codec"),
        ({"codec": {"a": Other()}}, TypeError, "is not a class"),
        ({"data_type": {"a": BytesCodec}}, TypeError, "not a class derived"),
        ({"codec": {"a": BytesToBytesCodec}}, TypeError, "does not define decode, encode"),
        ({"hooks": {"a": Other}}, ValueError, "register_hooks"),
    ],
)
def test_invalid_override_raises(mapping, error, message):
    with pytest.raises(error, match=message), override_extensions(mapping):
        pass
    assert overrides.current() == {}


# --- state ---


def test_cache_key_changes_with_results(install):
    class Looking:
        @hookimpl
        def zarr_check_metadata(self):
            return None

    override = {"codec": {"x": BytesCodec}}
    states = [overrides.cache_key()]
    for block in (lambda: override_extensions(override), lambda: config.set(fallback="use")):
        with block():
            states.append(overrides.cache_key())
        assert overrides.cache_key() == states[0]
        with block():
            assert overrides.cache_key() == states[-1]
    install("acme", {"codec": {"acme.x": "acme:Codec"}})
    states.append(overrides.cache_key())
    plugin = Looking()
    hooks.register_hooks(plugin)
    states.append(overrides.cache_key())
    hooks.unregister_hooks(plugin)
    states.append(overrides.cache_key())
    assert len(set(states)) == len(states)


def test_a_result_is_not_remembered_beyond_a_change(install, codec_source):
    assert resolve.create_extension("codec", define("acme.x", optional=True)) is None
    install("acme", {"codec": {"acme.x": "acme:Codec"}}, {"acme.py": codec_source})
    assert resolve.create_extension("codec", define("acme.x", optional=True)) is not None
