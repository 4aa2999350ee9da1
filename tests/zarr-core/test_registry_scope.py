import threading

import pytest
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.codec import BytesToBytesCodec, Codec
from zarr_core.registry import overrides, resolve
from zarr_core.registry.overrides import override_extensions


class Other(Codec):
    pass


def test_blocks_nest():
    assert overrides.current() == {}
    with override_extensions({"codec": {"a": BytesCodec, "b": BytesCodec}}):
        with override_extensions({"codec": {"b": Other}}):
            assert overrides.current() == {"codec": {"a": BytesCodec, "b": Other}}
        assert overrides.current() == {"codec": {"a": BytesCodec, "b": BytesCodec}}
    assert overrides.current() == {}


def test_a_block_ends_with_an_error_too():
    with pytest.raises(RuntimeError), override_extensions({"codec": {"a": BytesCodec}}):
        raise RuntimeError
    assert "codec" not in overrides.current()


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_changes_nothing(nothing):
    before = overrides.cache_key()
    with override_extensions(nothing):
        assert overrides.cache_key() == before


def test_one_thread_does_not_see_the_block_of_another():
    seen = []
    with override_extensions({"codec": {"a": BytesCodec}}):
        thread = threading.Thread(target=lambda: seen.append(overrides.current()))
        thread.start()
        thread.join()
    assert seen == [{}]


@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ({"codecs": {"a": BytesCodec}}, ValueError, "unknown extension point 'codecs'"),
        (
            {"codec": {"a": int}},
            TypeError,
            "invalid class for codec 'a': .*not a class derived from Codec",
        ),
        ({"codec": {"a": Other()}}, TypeError, "is not a class"),
        ({"data_type": {"a": BytesCodec}}, TypeError, "not derived|not a class derived"),
        ({"codec": {"a": BytesToBytesCodec}}, TypeError, "does not define decode, encode"),
        ({"hooks": {"a": Other}}, ValueError, "register_hooks"),
    ],
)
def test_invalid_override_raises(mapping, error, message):
    with pytest.raises(error, match=message), override_extensions(mapping):
        pass
    assert overrides.current() == {}


def test_errors_can_say_where_a_class_comes_from():
    with override_extensions({"codec": {"a": Other}}):
        provider = resolve.find_provider("codec", ExtensionDefinition("a"))
    assert provider.distribution == "this process"
    assert provider.target.endswith(":Other")
