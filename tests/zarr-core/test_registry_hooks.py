"""Hooks: what they supply and check; how they are registered and installed."""

import contextlib
import sys
import warnings

import pytest
import zarr_core as zarr
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine import codec_calls
from zarr_core.errors import (
    ExtensionLoadError,
    MetadataValidationError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.extension import ValidationProblem, hookimpl
from zarr_core.registry import hooks, resolve
from zarr_core.registry.hooks import register_hooks, unregister_hooks
from zarr_core.registry.overrides import override_extensions

PLAIN = ExtensionDefinition("bytes", {"endian": "little"})
OPTIONAL = ExtensionDefinition("any.x", must_understand=False)


def plugin(mark=hookimpl, **functions):
    """An object of a class ``Acme`` whose hooks are these functions."""
    methods = {name: staticmethod(mark(function)) for name, function in functions.items()}
    return type("Acme", (), methods)()


@contextlib.contextmanager
def registered(plugin):
    register_hooks(plugin)
    try:
        yield
    finally:
        unregister_hooks(plugin)


@pytest.fixture
def register():
    with contextlib.ExitStack() as stack:
        yield lambda plugin: stack.enter_context(registered(plugin))


def failing(error):
    def hook():
        raise error

    return hook


def supplier(answer=BytesCodec):
    """A plugin that supplies every codec whose name starts with ``any.``."""

    def supply(extension_point, definition):
        return answer if definition.name.startswith("any.") else None

    return plugin(zarr_supply_extension=supply)


# --- supplying and checking ---


def test_code_is_supplied_for_unknown_names(register, install, codec_source):
    register(supplier())
    definition = ExtensionDefinition("any.x", PLAIN.configuration)
    assert resolve.create_extension("codec", definition) == BytesCodec("little")
    assert resolve.find_class("codec", "any.y") is BytesCodec
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "other.x")
    install("acme", {"codec": {"any.x": "acme:Codec"}}, {"acme.py": codec_source})
    assert resolve.find_class("codec", "any.x").__module__ == "acme"


@pytest.mark.parametrize(
    ("faulty", "reason"),
    [
        (supplier(7), "zarr_supply_extension returned 7"),
        (supplier(int), "zarr_supply_extension returned <class 'int'>"),
        (supplier(BytesCodec()), "zarr_supply_extension returned BytesCodec"),
        (
            plugin(zarr_supply_extension=failing(LookupError("no catalogue"))),
            "zarr_supply_extension raised LookupError: no catalogue",
        ),
    ],
    ids=["an object", "a class of another kind", "an instance", "an error"],
)
def test_a_fault_of_a_hook_that_supplies_names_it_and_is_not_ignored(register, faulty, reason):
    register(faulty)
    with pytest.raises(ExtensionLoadError) as caught:
        resolve.create_extension("codec", OPTIONAL)
    assert reason in caught.value.reason
    assert "Acme" in caught.value.target
    assert caught.value.distribution == "this process"


def test_problems_of_all_plugins_are_collected(register):
    def check(location, document):
        return [ValidationProblem("/a", f"{location} {document['a']}")]

    assert hooks.check_metadata("s", {"a": 1}) == []
    unhashable = plugin(zarr_check_metadata=check)
    type(unhashable).__hash__ = None
    register(unhashable)
    register(plugin(zarr_check_metadata=lambda: None))
    assert hooks.check_metadata("s", {"a": 1}) == [ValidationProblem("/a", "s 1")]


def generate():
    yield ValidationProblem("/a", "is bad")
    raise LookupError("no catalogue")


@pytest.mark.parametrize(
    ("check", "error", "message"),
    [
        (lambda: 5, ExtensionLoadError, "returned 5, which must be a ValidationProblem"),
        (lambda: "abc", ExtensionLoadError, "'abc', which must be a ValidationProblem"),
        (lambda: [None], ExtensionLoadError, "None.* must be a ValidationProblem"),
        (generate, ExtensionLoadError, "zarr_check_metadata raised LookupError: no catalogue"),
        (
            failing(MetadataValidationError("s", [ValidationProblem("/a", "is bad")])),
            MetadataValidationError,
            "/a: is bad",
        ),
    ],
    ids=["a number", "a string", "a list of None", "a generator", "an error of this library"],
)
def test_a_fault_of_a_hook_that_checks_names_it(register, check, error, message):
    register(plugin(zarr_check_metadata=check))
    with pytest.raises(error, match=message):
        hooks.check_metadata("s", {"a": 1})


def test_hook_cannot_change_the_document(register):
    register(plugin(zarr_check_metadata=lambda document: document["attributes"]["units"].clear()))
    document = {"attributes": {"units": ["m"]}}
    hooks.check_metadata("s", document)
    assert document == {"attributes": {"units": ["m"]}}


def no_secrets(location, document):
    if "secret" in document.get("attributes", {}):
        return [ValidationProblem("/attributes/secret", f"not allowed in {location}")]
    return []


NO_SECRETS = plugin(zarr_check_metadata=no_secrets)
SECRET = {"secret": 1}


def test_metadata_with_a_problem_are_not_written(tmp_path):
    group = zarr.create_group(tmp_path / "g", attributes={"open": 1})
    for write in (
        lambda: zarr.create_array(tmp_path, path="a", shape=3, attributes=SECRET),
        lambda: zarr.create_group(tmp_path, path="b", attributes=SECRET),
        lambda: group.attrs.update(SECRET),
    ):
        with (
            registered(NO_SECRETS),
            pytest.raises(MetadataValidationError, match="/attributes/secret"),
        ):
            write()
    assert [path.name for path in tmp_path.iterdir()] == ["g"]
    assert dict(group.attrs) == dict(zarr.open(tmp_path / "g").attrs) == {"open": 1}


def test_stored_metadata_with_a_problem_are_rejected_at_opening(tmp_path):
    zarr.create_array(tmp_path / "a", shape=3, attributes=SECRET)
    zarr.create_group(tmp_path / "g", attributes=SECRET)
    with registered(NO_SECRETS):
        for name in "ag":
            with pytest.raises(MetadataValidationError, match="not allowed in file:"):
                zarr.open(tmp_path / name)
    assert zarr.open(tmp_path / "a").attrs["secret"] == 1


class PanicException(BaseException):
    """The exception of pyo3 for panics in Rust."""


PanicException.__module__ = "pyo3_runtime"


@pytest.mark.parametrize("error", [PanicException("at lib.rs"), SystemExit(3), KeyboardInterrupt()])
def test_a_panic_is_a_fault_but_an_order_to_stop_is_obeyed(register, error):
    class Codec(BytesCodec):
        @classmethod
        def from_definition(cls, definition):
            raise error

        def encode(self, array, decoded):
            raise error

    register(plugin(zarr_check_metadata=failing(error)))
    is_panic = isinstance(error, PanicException)
    expected = (ZarrError, r"at lib\.rs") if is_panic else (type(error), None)
    with override_extensions({"codec": {"any.x": Codec}}):
        for call in (
            lambda: hooks.check_metadata("s", {}),
            lambda: resolve.create_extension("codec", ExtensionDefinition("any.x")),
            lambda: codec_calls.encode_elements("any.x", Codec("little"), None, None),
        ):
            with pytest.raises(expected[0], match=expected[1]):
                call()


# --- registering ---


@pytest.mark.parametrize(
    ("invalid", "message"),
    [
        (plugin(zarr_suply_extension=lambda definition: None), "zarr_suply_extension"),
        (plugin(zarr_supply_extension=lambda species: None), "species"),
        (plugin(lambda function: function, zarr_check_metadata=lambda: None), "is marked with"),
        (
            plugin(hookimpl(wrapper=True), zarr_check_metadata=lambda: (yield)),
            "wrappers are not supported",
        ),
    ],
    ids=["a misspelt hook", "a misspelt argument", "unmarked functions", "a wrapper"],
)
def test_invalid_hooks_are_not_registered(invalid, message):
    with pytest.raises(ExtensionLoadError, match=message) as caught:
        register_hooks(invalid)
    assert "To disable it" not in str(caught.value)  # it is not installed
    assert hooks.check_metadata("s", {}) == []


def test_registering_twice_and_taking_back_twice_are_errors():
    plugin = supplier()
    register_hooks(plugin)
    with pytest.raises(ValueError, match="already"):
        register_hooks(plugin)
    unregister_hooks(plugin)
    with pytest.raises(ValueError, match="not registered"):
        unregister_hooks(plugin)
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "any.x")


# --- installed hooks ---

HOOKS = """
from zarr_core.extension import ValidationProblem, hookimpl
made = []

class Hooks:
    def __init__(self):
        made.append(self)

    @hookimpl
    def {name}(self, location, document):
        return [ValidationProblem("/a", f"from {{location}}")]
"""
CHECKING = HOOKS.format(name="zarr_check_metadata")
FUNCTION = """
from zarr_core.extension import ValidationProblem, hookimpl

@hookimpl
def zarr_check_metadata(location):
    return [ValidationProblem("/a", f"from {location}")]
"""
# The plugin opens something while it is imported.
OPENING = f"""
from zarr_core.definition import ExtensionDefinition
from zarr_core.registry.resolve import create_extension
create_extension("codec", {PLAIN!r})
{CHECKING}
"""


@pytest.fixture
def install_hooks(install):
    def write(source, distribution="acme-hooks", target=":Hooks", names=("acme",)):
        module = distribution.replace("-", "_")
        points = {"hooks": dict.fromkeys(names, f"{module}{target}")}
        install(distribution, points, {f"{module}.py": source})

    return write


def check():
    """The problems that the installed hooks report."""
    return [problem.message for problem in hooks.check_metadata("here", {})]


@pytest.mark.parametrize(
    ("source", "target", "names"),
    [
        (CHECKING, ":Hooks", ["acme"]),
        (FUNCTION, "", ["acme"]),
        (FUNCTION, "", ["acme", "again"]),
        (OPENING, ":Hooks", ["acme"]),
    ],
    ids=["a class", "functions of a module", "two entry points", "an import that opens something"],
)
def test_installed_hooks_are_created_once(install_hooks, source, target, names):
    install_hooks(source, target=target, names=names)
    assert check() == ["from here"]
    with config.set(threads=1):
        assert check() == ["from here"]
    assert len(getattr(sys.modules["acme_hooks"], "made", [1])) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Hooks:\n    def __init__(self): raise SystemExit", "are ignored"),
        (HOOKS.format(name="zarr_chek_metadata"), "zarr_chek_metadata"),
        (HOOKS.format(name="zarr_suply_extension"), "zarr_suply_extension"),
    ],
    ids=["not created", "misspelt", "another misspelt"],
)
def test_broken_hooks_are_ignored_with_one_warning(install_hooks, source, message):
    install_hooks(source, "broken-hooks")
    install_hooks(CHECKING)
    with pytest.warns(UserWarning, match=message) as caught:
        assert check() == ["from here"]
    assert "hooks of broken-hooks 1.0 " in str(caught[0].message)
    assert "config.set(disabled_plugins={'broken-hooks'})" in str(caught[0].message)
    with warnings.catch_warnings(action="error"), config.set(disabled_plugins={"unrelated"}):
        assert check() == ["from here"]
        assert resolve.create_extension("codec", PLAIN)


def test_a_hook_that_is_named_by_its_entry_point_is_imported_when_it_is_called(install_hooks):
    install_hooks(CHECKING, names=["zarr_check_metadata"])
    assert resolve.create_extension("codec", PLAIN)
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "acme.nobody")
    assert "acme_hooks" not in sys.modules
    assert check() == ["from here"]


@pytest.mark.parametrize(
    ("hook", "call"),
    [
        ("zarr_check_metadata", check),
        ("zarr_supply_extension", lambda: resolve.find_class("store", "acme-x")),
    ],
)
def test_an_installed_hook_that_fails_names_its_distribution_and_a_remedy(
    install_hooks, hook, call
):
    source = f"from zarr_core.extension import hookimpl\n@hookimpl\ndef {hook}(): 1 / 0"
    install_hooks(source, target="")
    with pytest.raises(ExtensionLoadError) as caught:
        call()
    message = str(caught.value)
    assert (
        f"acme-hooks 1.0 as acme_hooks, which failed when it was called: {hook} raised" in message
    )
    assert "zarr_core.config.set(disabled_plugins={'acme-hooks'})" in message
    expected = contextlib.suppress(UnknownExtensionError)
    with config.set(disabled_plugins={"acme-hooks"}), expected:
        call()
