import threading

import pytest
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.interfaces.codec import BytesToBytesCodec, Codec
from zarr_core.registry import scope
from zarr_core.registry.scope import extensions


class Other(Codec):
    pass


def test_blocks_nest():
    assert scope.current() == {}
    with extensions({"codec": {"a": BytesCodec, "b": BytesCodec}}):
        with extensions({"codec": {"b": Other}}):
            assert scope.current() == {"codec": {"a": BytesCodec, "b": Other}}
        assert scope.current() == {"codec": {"a": BytesCodec, "b": BytesCodec}}
    assert scope.current() == {}


def test_a_block_ends_with_an_error_too():
    with pytest.raises(RuntimeError), extensions({"codec": {"a": BytesCodec}}):
        raise RuntimeError
    assert scope.lookup("codec", "a") is None


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_changes_nothing(nothing):
    before = scope.state()
    with extensions(nothing):
        assert scope.state() is before


def test_one_thread_does_not_see_the_block_of_another():
    seen = []
    with extensions({"codec": {"a": BytesCodec}}):
        thread = threading.Thread(target=lambda: seen.append(scope.current()))
        thread.start()
        thread.join()
    assert seen == [{}]


@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ({"codecs": {"a": BytesCodec}}, ValueError, "no kind of extension is called 'codecs'"),
        ({"codec": {"a": int}}, TypeError, "could be called 'a': .*not a class derived from Codec"),
        ({"codec": {"a": Other()}}, TypeError, "is not a class"),
        ({"data_type": {"a": BytesCodec}}, TypeError, "not derived|not a class derived"),
        ({"codec": {"a": BytesToBytesCodec}}, TypeError, "does not define decode, encode"),
        ({"hooks": {"a": Other}}, ValueError, "register_hooks"),
    ],
)
def test_what_is_no_extension_of_the_kind_is_refused(mapping, error, message):
    with pytest.raises(error, match=message), extensions(mapping):
        pass
    assert scope.current() == {}


def test_errors_can_say_where_a_class_comes_from():
    with extensions({"codec": {"a": Other}}):
        provider = scope.lookup("codec", "a").provider
    assert provider.distribution == "this process"
    assert provider.target.endswith(":Other")
