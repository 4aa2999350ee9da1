"""Alternatives, which are used only if they are selected."""

import pytest
from zarr_core.config import config
from zarr_core.errors import ExtensionConflictError, ExtensionLoadError, UnknownExtensionError
from zarr_core.registry import discovery, resolve
from zarr_core.registry.discovery import name_of, usable_names
from zarr_core.registry.extension_list import installed_extensions


@pytest.fixture
def x(install, codec_source):
    """A codec, and two alternatives for it in one distribution."""
    install("acme", {"codec": {"x": "acme:Codec"}}, {"acme.py": codec_source})
    return install(
        "acme-fast",
        {"codec.isal": {"x": "fast_isal:Codec"}, "codec.zlib_ng": {"x": "fast_ng:Codec"}},
        {"fast_isal.py": codec_source, "fast_ng.py": codec_source},
    )


def found(choice=None, name="x"):
    with config.set(providers={f"codec.{name}": choice} if choice else {}):
        return resolve.find_class("codec", name).__module__


@pytest.mark.parametrize("choice", ["acme-fast[isal]", "Acme_Fast[isal]", " acme.fast[ISAL] "])
def test_the_setting_chooses_it(x, choice):
    assert found(choice) == "fast_isal"
    assert found() == "acme"


def test_one_distribution_may_have_several(x):
    assert found("acme-fast[zlib-ng]") == found("acme-fast[zlib_ng]") == "fast_ng"


def test_the_environment_chooses_it(x, monkeypatch):
    monkeypatch.setenv("ZARR_CORE_PROVIDERS", "codec.x=acme-fast[isal]")
    monkeypatch.delattr(config, "settings")
    assert resolve.find_class("codec", "x").__module__ == "fast_isal"


@pytest.mark.parametrize("choice", ["acme-fast", "isal", "acme-fast[]", "acme[isal]"])
def test_nothing_less_than_both_words_chooses_it(x, choice):
    with pytest.raises(UnknownExtensionError) as caught:
        found(choice)
    assert "it is provided by acme, acme-fast[isal], acme-fast[zlib_ng]." in str(caught.value)


def test_alternative_is_listed_but_not_used(install, codec_source):
    install("fast", {"codec.isal": {"x": "fast:Codec"}}, {"fast.py": codec_source})
    with pytest.raises(UnknownExtensionError) as caught:
        found()
    _, _, line = str(caught.value).partition("to select it: ")
    assert line == "zarr_core.config.set(providers={'codec.x': 'fast[isal]'})"
    assert "x" not in usable_names("codec")
    assert found("fast[isal]") == "fast"


def test_core_extension_can_have_an_alternative(install, codec_source):
    install("fast", {"codec.isal": {"bytes": "fast:Codec"}}, {"fast.py": codec_source})
    assert found(name="bytes") == "zarr_core.codecs.bytes"
    assert found("fast[isal]", name="bytes") == "fast"


def test_a_conflict_is_not_settled_by_alternatives(x, install, codec_source):
    install("other", {"codec": {"x": "other:Codec"}}, {"other.py": codec_source})
    with pytest.raises(ExtensionConflictError) as caught:
        found()
    assert [line.split()[0] for line in caught.value.distributions] == ["acme", "other"]
    assert found("acme-fast[isal]") == "fast_isal"


@pytest.mark.parametrize("off", ["acme-fast", "*"])
def test_switched_off_with_its_distribution(x, off):
    with config.set(disabled_plugins={off}), pytest.raises(UnknownExtensionError):
        found("acme-fast[isal]")


def test_missing_library_error_has_install_command(install):
    lines = {"codec.isal": {"x": "fast:Codec"}}
    install("acme-fast", lines, {"fast.py": "import not_installed_at_all"}, version="2.0")
    with pytest.raises(ExtensionLoadError, match=r"pip install 'acme-fast\[isal\]'") as caught:
        found("acme-fast[isal]")
    assert "acme-fast[isal] 2.0" in str(caught.value)
    [line] = installed_extensions(names=["x"])
    assert line.note == "not installed: pip install 'acme-fast[isal]'"


def test_it_is_listed_with_who_is_used(x):
    def lines(**providers):
        with config.set(providers=providers):
            listed = installed_extensions(load=False)
        return {line.choice: line for line in listed if line.name == "x"}

    plain = lines()
    assert [line.wins for line in plain.values()] == [True, False, False]
    assert str(plain["acme"]) == "codec x  acme 1.0 (acme:Codec)"
    assert (
        str(plain["acme-fast[isal]"])
        == "codec x  acme-fast[isal] 1.0 (fast_isal:Codec)  alternative"
    )
    assert plain["acme-fast[isal]"].distribution == "acme-fast"
    chosen = lines(**{"codec.x": "acme-fast[isal]"})
    assert [line.note for line in chosen.values()] == ["not used", "", "alternative"]
    assert "acme-fast[zlib_ng] 1.0" in str(chosen["acme-fast[zlib_ng]"])


def test_its_class_stands_for_the_name(x):
    with config.set(providers={"codec.x": "acme-fast[isal]"}):
        assert name_of("codec", resolve.find_class("codec", "x")) == "x"


def test_hooks_have_no_alternatives(install):
    install("acme", {"hooks.fast": {"a": "acme"}})
    assert "a" not in discovery.scan().get("hooks", {})
