import sys

import pytest
from zarr_core import installed_extensions
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConflictError, ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import discovery
from zarr_core.registry.resolve import create_extension, find_class

BRIDGE = """
from zarr_core.extension import Provider, hookimpl

asked = []

@hookimpl
def zarr_list_extensions():
    asked.append(1)
    return [
        Provider("codec", name, target, distribution, "2.0", "bridge_code:adapt")
        for name, target, distribution in {offered}
    ]

@hookimpl
def zarr_supply_extension():
    return zarr_list_extensions()
"""
ADAPT = """
from dataclasses import dataclass
from zarr_core.extension import BytesToBytesCodec

def adapt(provider, found):
    @dataclass(frozen=True, slots=True)
    class Adapted(BytesToBytesCodec):
        key: int = found().key
        def encode(self, data, decoded_size):
            return bytes(byte ^ self.key for byte in data)
        def decode(self, data, decoded_size):
            return self.encode(data, decoded_size)
    Adapted.__name__ = f"{provider.name} of {provider.distribution}"
    return Adapted
"""
FOREIGN = "class Foreign:\n    key = 5\n"


@pytest.fixture
def bridged(install):
    def write(offered, name="acme-bridge", module="bridge"):
        install(
            name,
            {"hooks": {"zarr_list_extensions": module, "zarr_supply_extension": module}},
            {f"{module}.py": BRIDGE.format(offered=offered), "bridge_code.py": ADAPT,
             "foreign.py": FOREIGN, "broken.py": "1 / 0"},
        )  # fmt: skip

    return write


def test_extensions_of_another_library_are_adapted(bridged):
    bridged([("far", "foreign:Foreign", "far-away")])
    codec = create_extension("codec", ExtensionDefinition("far"))
    assert codec.encode(b"\0", None) == b"\5"
    assert find_class("codec", "far").__name__ == "far of far-away"


def test_hooks_are_imported_only_for_missing_names(bridged):
    bridged([("bytes", "foreign:Foreign", "far-away"), ("crc32c", "broken:X", "far-away")])
    assert find_class("codec", "bytes").__module__ == "zarr_core.codecs.bytes"
    assert find_class("codec", "crc32c").__module__ == "zarr_codecs.crc32c"  # not replaced
    assert not {"bridge", "bridge_code", "foreign"} & set(sys.modules)
    with pytest.raises(UnknownExtensionError):
        find_class("codec", "acme.nobody")
    assert "bridge" in sys.modules
    assert not {"bridge_code", "foreign", "broken"} & set(sys.modules)


def test_it_is_asked_once_for_a_name_that_it_supplies(bridged):
    bridged([("far", "foreign:Foreign", "far-away")])
    for _ in range(3):
        assert find_class("codec", "far").__name__ == "far of far-away"
    import bridge

    assert bridge.asked == [1]
    discovery.refresh()
    assert find_class("codec", "far").__name__ == "far of far-away"
    assert bridge.asked == [1, 1]


@pytest.mark.parametrize(
    ("settings", "name", "used"),
    [
        ({"providers": {"codec.far": "far-two"}}, "far", "far of far-two"),
        ({"disabled_plugins": {"far-two"}}, "far", "far of far-one"),
        # Instead of one that is installed.
        ({"providers": {"codec.crc32c": "far-one"}}, "crc32c", "crc32c of far-one"),
        ({"disabled_plugins": {"zarr-codecs"}}, "crc32c", "crc32c of far-one"),
    ],
)
@pytest.mark.parametrize("bridges", [1, 2])
def test_the_settings_select_what_hooks_supply(bridged, bridges, settings, name, used):
    one = [("far", "foreign:Foreign", "far-one"), ("crc32c", "foreign:Foreign", "far-one")]
    two = [("far", "foreign:Foreign", "far-two")]
    bridged(one if bridges == 2 else one + two)
    if bridges == 2:
        bridged(two, name="acme-other", module="other_bridge")
    with pytest.raises(ExtensionConflictError, match=r"far-one 2\.0 .*far-two 2\.0 .*providers=\{"):
        find_class("codec", "far")
    with config.set(settings):
        assert find_class("codec", name).__name__ == used


def test_errors_name_the_distribution_behind_it(bridged):
    bridged([("far", "broken:X", "far-away")])
    with pytest.raises(ExtensionLoadError, match=r"far-away 2\.0.*ZeroDivisionError"):
        create_extension("codec", ExtensionDefinition("far", must_understand=False))


def test_a_bridge_is_switched_off_like_any_plugin(bridged):
    bridged([("far", "foreign:Foreign", "far-away")])
    for disabled in ("acme_bridge", "*"):
        with config.set(disabled_plugins={disabled}), pytest.raises(UnknownExtensionError):
            find_class("codec", "far")
    with (
        config.set(disabled_plugins={"far-away"}),
        pytest.raises(UnknownExtensionError, match=r"far-away 2\.0, which .* disables"),
    ):
        find_class("codec", "far")


def test_it_is_listed(bridged):
    bridged([("far", "foreign:Foreign", "far-away"), ("crc32c", "broken:X", "far-away")])
    lines = [
        line
        for line in installed_extensions(load=False)
        if line.extension_point in ("hooks", "codec")
    ]
    assert ("far", "far-away", True) in [(x.name, x.distribution, x.wins) for x in lines]
    assert ("zarr_list_extensions", "acme-bridge", True) in [
        (x.name, x.distribution, x.wins) for x in lines
    ]
    assert {(x.distribution, x.wins) for x in lines if x.name == "crc32c"} >= {
        ("zarr-codecs", True), ("far-away", False),
    }  # fmt: skip
    with config.set(disabled_plugins={"acme-bridge"}):
        assert "far-away" not in {line.distribution for line in installed_extensions(load=False)}


def test_similar_names_are_among_the_hints(bridged):
    bridged([("faraway", "foreign:Foreign", "far-away")])
    with pytest.raises(UnknownExtensionError, match="faraway"):
        find_class("codec", "farawya")


@pytest.mark.parametrize("offered", ["[1 / 0]", "[('x',)]", "None"])
def test_a_hook_that_fails_does_not_affect_another(bridged, offered):
    bridged([("far", "foreign:Foreign", "far-away")])
    bridged(offered, name="acme-broken", module="collapsed")
    with pytest.warns(UserWarning, match=r"acme-broken 1\.0 as collapsed.*raised .*acme-broken'}"):
        assert find_class("codec", "far").__name__ == "far of far-away"
    # Without another, the name is not unknown: the hook might supply it.
    with pytest.raises(ExtensionLoadError, match=r"acme-broken 1\.0.*raised"):
        find_class("codec", "near")


def test_a_hook_may_not_list_anything_else(install):
    source = """
from zarr_core.extension import hookimpl

@hookimpl
def zarr_list_extensions():
    return ["codec far"]
"""
    install("acme", {"hooks": {"zarr_list_extensions": "strings"}}, {"strings.py": source})
    with (
        pytest.warns(UserWarning, match="'codec far' is not a class"),
        pytest.raises(UnknownExtensionError),
    ):
        find_class("codec", "far")


def test_a_class_for_another_configuration_is_supplied_each_time(install, codec_source):
    source = f"""{codec_source}
from zarr_core.extension import hookimpl

class Other(Codec):
    pass

@hookimpl
def zarr_supply_extension(definition):
    return Other if definition.configuration.get("key") else Codec
"""
    install("acme", {"hooks": {"zarr_supply_extension": "many"}}, {"many.py": source})
    made = [create_extension("codec", ExtensionDefinition("x", {"key": key})) for key in (0, 1, 0)]
    assert [type(item).__name__ for item in made] == ["Codec", "Other", "Codec"]
