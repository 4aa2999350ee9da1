import contextlib
import subprocess
import sys
import warnings

import pytest
from zarr_core import messages
from zarr_core.codecs.bytes import BytesCodec
from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine import codec_calls
from zarr_core.errors import (
    ExtensionConflictError,
    ExtensionLoadError,
    MetadataValidationError,
    UnknownExtensionError,
    ZarrError,
)
from zarr_core.extension import Location, ValidationProblem, hookimpl
from zarr_core.registry import hooks, resolve
from zarr_core.registry.hooks import register_hooks, unregister_hooks
from zarr_core.registry.overrides import override_extensions

PLAIN = {"endian": "little"}


@pytest.fixture
def register():
    registered = []

    def add(plugin):
        register_hooks(plugin)
        registered.append(plugin)
        return plugin

    yield add
    for plugin in registered:
        unregister_hooks(plugin)


class Supplier:
    """Provides every codec whose name starts with ``any.``."""

    def __init__(self, answer=BytesCodec):
        self.answer = answer

    @hookimpl
    def zarr_supply_extension(self, extension_point, definition):
        return self.answer if definition.name.startswith("any.") else None


# --- providing extensions ---


def test_code_is_supplied_for_unknown_names(register):
    register(Supplier())
    assert resolve.create_extension("codec", ExtensionDefinition("any.x", PLAIN)) == BytesCodec(
        "little"
    )
    assert resolve.find_class("codec", "any.y") is BytesCodec
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "other.x")


def test_provided_names_do_not_call_hooks(register, install, codec_source):
    register(Supplier())
    install("acme", {"codec": {"any.x": "acme:Codec"}}, {"acme.py": codec_source})
    assert resolve.find_class("codec", "any.x").__module__ == "acme"


@pytest.mark.parametrize("answer", [7, int, BytesCodec()])
def test_supplied_class_of_another_extension_point_raises(register, answer):
    register(Supplier(answer))
    with pytest.raises(ExtensionLoadError, match=r"Supplier.* zarr_supply_extension returned"):
        resolve.create_extension("codec", ExtensionDefinition("any.x", must_understand=False))


def test_a_hook_that_fails_is_named(register):
    class Failing:
        @hookimpl
        def zarr_supply_extension(self, extension_point):
            raise LookupError("no catalogue")

    register(Failing())
    with pytest.raises(ExtensionLoadError) as caught:
        resolve.create_extension("codec", ExtensionDefinition("any.x", must_understand=False))
    assert "zarr_supply_extension raised LookupError: no catalogue" in caught.value.reason
    assert "Failing" in caught.value.target
    assert caught.value.distribution == "this process"


def test_errors_of_ours_pass_through_a_hook(register):
    class Strict:
        @hookimpl
        def zarr_check_metadata(self, location, document):
            raise MetadataValidationError(location, [ValidationProblem("/a", "is bad")])

    register(Strict())
    with pytest.raises(MetadataValidationError, match="/a: is bad"):
        hooks.check_metadata("s /a", {})


# --- selecting extensions ---


class Selector:
    def __init__(self, choose):
        self.choose = choose

    @hookimpl
    def zarr_select_provider(self, extension_point, name, providers):
        return self.choose(providers)


@pytest.fixture
def rivals(install, codec_source):
    install("acme-one", {"codec": {"x": "one:Codec"}}, {"one.py": codec_source})
    install("acme-two", {"codec": {"x": "two:Codec"}}, {"two.py": codec_source})


def test_a_hook_settles_a_conflict_but_the_settings_come_first(register, rivals):
    register(Selector(lambda providers: providers[1]))
    assert resolve.find_class("codec", "x").__module__ == "two"
    with config.set(providers={"codec.x": "acme-one"}):
        assert resolve.find_class("codec", "x").__module__ == "one"


def test_a_hook_that_does_not_care_leaves_the_conflict(register, rivals):
    register(Selector(lambda providers: None))
    with pytest.raises(ExtensionConflictError):
        resolve.find_class("codec", "x")


def test_a_hook_may_select_only_among_the_providers(register, rivals):
    register(Selector(lambda providers: "acme-two"))
    with pytest.raises(ExtensionLoadError, match=r"must be one of acme-one 1\.0"):
        resolve.find_class("codec", "x")


# --- check and observe ---


def test_objections_are_collected(register):
    class One:
        __hash__ = None

        @hookimpl
        def zarr_check_metadata(self, location, document):
            return [ValidationProblem("/a", f"{location} {document['a']}")]

    class Two:
        @hookimpl
        def zarr_check_metadata(self):
            return None

    assert hooks.check_metadata("s", {"a": 1}) == []
    register(One())
    register(Two())
    assert hooks.check_metadata("s", {"a": 1}) == [ValidationProblem("/a", "s 1")]


def test_hooks_observe_used_extensions(register):
    class Observer:
        def __init__(self):
            self.seen = []

        @hookimpl
        def zarr_extension_used(self, location, extension_point, name, provider):
            self.seen.append((str(location), extension_point, name, provider.distribution))

    observer = register(Observer())
    resolve.create_extension(
        "codec",
        ExtensionDefinition("bytes", PLAIN),
        Location("s /a", pointer="/codecs/0"),
    )
    resolve.create_extension("codec", ExtensionDefinition("no.such", must_understand=False))
    assert observer.seen == [("s /a at /codecs/0", "codec", "bytes", "zarr-core")]


def test_an_observer_that_fails_is_warned_of_once(register):
    class Clumsy:
        @hookimpl
        def zarr_extension_used(self):
            raise OSError("disk full")

    register(Clumsy())
    with pytest.warns(UserWarning, match=r"Clumsy.* zarr_extension_used raised OSError: disk full"):
        assert resolve.create_extension("codec", ExtensionDefinition("bytes", PLAIN))
    with warnings.catch_warnings(action="error"):
        assert resolve.create_extension("codec", ExtensionDefinition("bytes", PLAIN))
    messages._issued.clear()


# --- registering ---


class Misspelt:
    @hookimpl
    def zarr_suply_extension(self, extension_point, definition):
        return None


class WrongArgument:
    @hookimpl
    def zarr_supply_extension(self, species):
        return None


@pytest.mark.parametrize("plugin", [Misspelt, WrongArgument])
def test_a_misspelt_hook_is_an_error_at_once(plugin):
    with pytest.raises(ExtensionLoadError, match=r"zarr_suply_extension|species"):
        register_hooks(plugin())
    assert hooks.check_metadata("s", {}) == []  # and was not registered


def test_unmarked_hooks_raise():
    class Unmarked:
        def zarr_check_metadata(self):
            return None

    with pytest.raises(ExtensionLoadError, match="none of its functions is marked") as caught:
        register_hooks(Unmarked())
    assert "To disable it" not in str(caught.value)  # it is not installed
    assert hooks.check_metadata("s", {}) == []


def test_registering_twice_and_taking_back_twice_are_errors():
    plugin = Supplier()
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


def installed_hooks(install, source, distribution="acme-hooks"):
    module = distribution.replace("-", "_")
    install(distribution, {"hooks": {"acme": f"{module}:Hooks"}}, {f"{module}.py": source})


def test_installed_hooks_are_created_once(install):
    installed_hooks(install, HOOKS.format(name="zarr_check_metadata"))
    assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]
    with config.set(threads=1):
        hooks.check_metadata("here", {})
    assert len(sys.modules["acme_hooks"].made) == 1


@pytest.mark.parametrize("names", [["acme"], ["acme", "again"]])
def test_a_module_of_functions_will_do(install, names):
    source = """
from zarr_core.extension import ValidationProblem, hookimpl

@hookimpl
def zarr_check_metadata(location):
    return [ValidationProblem("/a", str(location))]
"""
    points = dict.fromkeys(names, "acme_hooks")
    install("acme-hooks", {"hooks": points}, {"acme_hooks.py": source})
    assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "here")]


def test_hooks_that_cannot_be_created_are_ignored_with_one_warning(install):
    source = "class Hooks:\n    def __init__(self): raise SystemExit"
    installed_hooks(install, source, "broken-hooks")
    installed_hooks(install, HOOKS.format(name="zarr_check_metadata"))
    with pytest.warns(UserWarning, match=r"hooks of broken-hooks 1\.0 .* are ignored"):
        assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]
    with warnings.catch_warnings(action="error"), config.set(disabled_plugins={"unrelated"}):
        assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]


@pytest.mark.parametrize("name", ["zarr_chek_metadata", "zarr_suply_extension"])
def test_a_misspelt_hook_of_a_distribution_is_ignored_with_one_warning(install, name):
    installed_hooks(install, HOOKS.format(name=name), "misspelt-hooks")
    installed_hooks(install, HOOKS.format(name="zarr_check_metadata"))
    disable = r"config.set\(disabled_plugins=\{'misspelt-hooks'\}\)"
    with pytest.warns(UserWarning, match=rf"misspelt-hooks 1\.0.*{name}.*{disable}"):
        assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]
    with warnings.catch_warnings(action="error"):
        assert resolve.create_extension("codec", ExtensionDefinition("bytes", PLAIN))


def test_a_hook_that_is_named_by_its_entry_point_is_imported_when_it_is_called(install):
    source = HOOKS.format(name="zarr_check_metadata")
    install("acme-hooks", {"hooks": {"zarr_check_metadata": "lazy:Hooks"}}, {"lazy.py": source})
    assert resolve.create_extension("codec", ExtensionDefinition("bytes", PLAIN))
    with pytest.raises(UnknownExtensionError):
        resolve.find_class("codec", "acme.nobody")
    assert "lazy" not in sys.modules
    assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]


def test_wrappers_of_hooks_are_rejected():
    class Wrapping:
        @hookimpl(wrapper=True)
        def zarr_check_metadata(self):
            return (yield)

    with pytest.raises(ExtensionLoadError, match="wrappers are not supported"):
        register_hooks(Wrapping())


@pytest.mark.parametrize(
    ("hook", "ask"),
    [
        ("zarr_select_provider", lambda: resolve.find_class("codec", "x")),
        ("zarr_check_metadata", lambda: hooks.check_metadata("s", {})),
        ("zarr_supply_extension", lambda: resolve.find_class("store", "acme-x")),
    ],
)
def test_an_installed_hook_that_fails_names_its_distribution_and_a_remedy(
    install, rivals, hook, ask
):
    source = f"""
from zarr_core.extension import hookimpl

@hookimpl
def {hook}():
    raise OSError("no catalogue")
"""
    install("acme-hooks", {"hooks": {"acme": "acme_hooks"}}, {"acme_hooks.py": source})
    with pytest.raises(ExtensionLoadError) as caught:
        ask()
    message = str(caught.value)
    assert (
        f"acme-hooks 1.0 as acme_hooks, which failed when it was called: {hook} raised" in message
    )
    assert "zarr_core.config.set(disabled_plugins={'acme-hooks'})" in message
    expected = contextlib.suppress(ExtensionConflictError, UnknownExtensionError)
    with config.set(disabled_plugins={"acme-hooks"}), expected:
        ask()


def test_hooks_that_open_something_while_they_are_imported_do_not_go_round_in_circles(install):
    source = f"""
from zarr_core.definition import ExtensionDefinition
from zarr_core.registry.resolve import create_extension
create_extension("codec", ExtensionDefinition("bytes", {PLAIN!r}))
{HOOKS.format(name="zarr_check_metadata")}
"""
    installed_hooks(install, source)
    assert hooks.check_metadata("here", {}) == [ValidationProblem("/a", "from here")]


def test_without_hooks_pluggy_is_not_imported():
    code = (
        "import sys\n"
        "from zarr_core.definition import ExtensionDefinition\n"
        "from zarr_core.registry import hooks, resolve\n"
        "assert 'importlib_metadata' not in sys.modules\n"
        f"resolve.create_extension('codec', ExtensionDefinition('bytes', {PLAIN!r}))\n"
        "assert hooks.check_metadata('', {}) == []\n"
        "assert not {'pluggy', 'jsonschema'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- invalid hooks ---


class Checking:
    def __init__(self, answer):
        self.answer = answer

    @hookimpl
    def zarr_check_metadata(self, document):
        return self.answer(document)


def generate(document):
    yield ValidationProblem("/a", "is bad")
    raise LookupError("no catalogue")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda document: 5, "returned 5, which must be a ValidationProblem"),
        (lambda document: "abc", "'abc', which must be a ValidationProblem"),
        (lambda document: [None], "None.* must be a ValidationProblem"),
        (generate, "zarr_check_metadata raised LookupError: no catalogue"),
    ],
)
def test_objections_that_are_none_are_named_as_a_fault_of_the_hook(register, answer, said):
    register(Checking(answer))
    with pytest.raises(ExtensionLoadError, match=said):
        hooks.check_metadata("s", {"a": 1})


def test_hook_cannot_change_the_document(register):
    register(Checking(lambda document: document["attributes"]["units"].clear()))
    document = {"attributes": {"units": ["m"]}}
    hooks.check_metadata("s", document)
    assert document == {"attributes": {"units": ["m"]}}


class PanicException(BaseException):
    """The exception of pyo3 for panics in Rust."""


PanicException.__module__ = "pyo3_runtime"


@pytest.mark.parametrize("error", [PanicException("at lib.rs"), SystemExit(3), KeyboardInterrupt()])
def test_a_panic_is_a_fault_but_an_order_to_stop_is_obeyed(register, error):
    class Raising:
        @hookimpl
        def zarr_check_metadata(self):
            raise error

        @hookimpl
        def zarr_extension_used(self):
            raise error

    class Codec(BytesCodec):
        @classmethod
        def from_definition(cls, definition):
            raise error

        def encode(self, array, decoded):
            raise error

    def encode():
        return codec_calls.encode_elements("any.x", Codec("little"), None, None)

    asks = [
        lambda: hooks.check_metadata("s", {}),
        lambda: hooks.extension_used("", "codec", "x", None),
    ]
    register(Raising())
    with override_extensions({"codec": {"any.x": Codec}}):
        asks += [
            lambda: resolve.create_extension("codec", ExtensionDefinition("any.x", PLAIN)),
            encode,
        ]
        for ask in asks:
            expected = pytest.raises(type(error))
            if isinstance(error, PanicException):
                expected = pytest.raises(ZarrError, match=r"at lib\.rs")
                if ask is asks[1]:
                    expected = pytest.warns(UserWarning, match=r"at lib\.rs")
            with expected:
                ask()
