"""The installed distributions and settings of each case of the table, and the use of each extension."""

import json
import re
import sys
import warnings
from dataclasses import dataclass, field

import numpy as np
import zarr_core as zarr
from plugins import BROKEN, FAILING, MISSPELT, NAME, SCHEMA, SOURCES, URI

CORE = {
    "codec": "bytes",
    "data_type": "int32",
    "chunk_grid": "regular",
    "chunk_key_encoding": "default",
    "format": "v3",
    "store": "memory",
}
DATA = np.arange(6, dtype="int32")


@dataclass(frozen=True)
class Case:
    """The situation of a name.

    Parameters
    ----------
    sources : tuple of str, dict of str or None
        The module of each distribution that provides it, by extension point if they differ; None
        for a working one.
    settings : dict
        The settings.
    key : int
        The only member of the configuration.
    given : bool
        Whether a class is passed to the call.
    core : bool
        Whether the core provides the name.
    """

    sources: tuple = ()
    settings: dict = field(default_factory=dict)
    key: int = 1
    given: bool = False
    core: bool = False


OFF = {"disabled_plugins": {"acme-0"}}
CASES = {
    "unknown": Case(),
    "switched off": Case((None,), OFF),
    "installed": Case((None,)),
    "given": Case(given=True),
    "core": Case(("raise SystemExit",), core=True),
    **{name: Case((source,)) for name, source in BROKEN.items()},
    "misspelt": Case((MISSPELT,)),
    "fails": Case((FAILING,)),
    "two": Case((None, None)),
    "two, chosen": Case((None, "raise SystemExit"), {"providers": "Acme_0"}),
    "two, one switched off": Case(("raise SystemExit", None), OFF),
    "absent is chosen": Case((None,), {"providers": "acme-9"}),
    "schema": Case((None,), key=12),
    "code": Case((None,), key=7),
}


def case_called(name):
    """The case, and whether ``must_understand`` is false in the metadata."""
    base, _, rest = name.partition(", optional")
    assert not rest
    return CASES[base], base != name


def distributions(zarr_format, kind, case):
    """Arguments of ``wheel`` for the distributions of a case."""
    name = _called(zarr_format, kind, case)
    for number, source in enumerate(case.sources):
        module = f"acme_{number}"
        source = source[kind] if isinstance(source, dict) else source
        files = {
            f"{module}/__init__.py": SOURCES[kind] if source is None else source,
            f"{module}/schemas/{kind}/{NAME}.json": SCHEMA,
        }
        yield f"acme-{number}", {kind: {name: f"{module}:Extension"}}, files


def _called(zarr_format, kind, case):
    if kind in ("display", "native"):
        return "default"  # the only name of this extension point
    if case.core:
        return CORE[kind]
    return URI if zarr_format == "draft" else NAME


def _settings(kind, case, name):
    changes = dict(case.settings)
    if kind in ("display", "native"):  # whether zarr-display or zarr-native is installed or not
        changes["disabled_plugins"] = {f"zarr-{kind}", *changes.get("disabled_plugins", ())}
    if "providers" in changes:
        changes["providers"] = {f"{kind}.{name}": changes["providers"]}
    return changes


def _given(kind, case, name):
    if not case.given:
        return {}
    names = {"__name__": "given"}
    exec(compile(SOURCES[kind], "given", "exec"), names)
    return {kind: {name: names["Extension"]}}


# --- metadata ---


def stored_in_v3(kind, definition, store=None):
    """A store with an array ``a`` whose metadata contains an extension."""
    store = zarr.MemoryStore() if store is None else store
    zarr.create_array(store, path="a", data=DATA, chunks=2, compressors=None)
    document = json.loads(store.get("a/zarr.json"))
    if kind == "codec":
        document["codecs"] += [definition] if definition else []
    elif kind == "storage_transformer":
        document["storage_transformers"] = [definition]
    elif kind == "extension":
        members = {**definition["configuration"], **definition}
        document[NAME] = {
            key: value for key, value in members.items() if key not in ("name", "configuration")
        }
    else:
        document[kind] = definition
    store.set("a/zarr.json", json.dumps(document).encode())
    return store


def stored_in_draft(kind, definition, optional=False):
    """The same in the draft of December 2022."""
    store = zarr.MemoryStore()
    zarr.create_array(store, path="a", data=DATA, chunks=2, compressors=None, zarr_format="draft")
    key = "meta/a.array.json"
    document = json.loads(store.get(key))
    if kind == "codec":
        document["codecs"] = [{"type": URI, "configuration": definition}]
    elif kind == "storage_transformer":
        document["storage_transformers"] = [
            {"extension": URI, "type": "x", "configuration": definition}
        ]
    elif kind == "extension":
        document["extensions"] = [
            {"extension": URI, "must_understand": not optional, "configuration": definition}
        ]
    else:
        document[kind] = {"extension": URI, "type": "x", **definition}
        if kind == "chunk_grid":
            document[kind]["separator"] = "/"
    store.set(key, json.dumps(document).encode())
    return store


# --- use ---


def use(zarr_format, kind, name):
    """Use an extension in a case; return the outcome, the message, and the array or None."""
    case, optional = case_called(name)
    called = _called(zarr_format, kind, case)
    outcome, said, array = outcome_of(
        lambda: _use(zarr_format, kind, case, optional, _given(kind, case, called)),
        _settings(kind, case, called),
    )
    if outcome == "works" and not (imported() or case.given or case.core):
        outcome = "ignored"
    return outcome, said, array


def imported():
    """Numbers of the imported distributions, as one string."""
    return "".join(sorted(name[5:] for name in sys.modules if re.fullmatch(r"acme_\d", name)))


def outcome_of(opening, changes):
    """The outcome of opening an array with the given settings."""
    with zarr.config.set(**changes), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            array = opening()
        except Exception as error:
            return type(error).__name__, one_line(error), None
        assert array[...].view("int32").tolist() == DATA.tolist()
    said = " ".join(one_line(item.message) for item in warned)
    if array.read_only:
        return "left out", said, array
    array[0] = array[0]
    return "warned" if said else "works", said, array


def _use(zarr_format, kind, case, optional, given):
    options = {"data": DATA, "chunks": 2, "extensions": given}
    if kind == "hooks":
        return _created(zarr.MemoryStore(), **options)
    if kind == "display":
        with zarr.override_extensions(given):
            array = zarr.create_array(data=DATA, chunks=2)
        assert array._repr_html_() in (None, "<b>shown</b>")
        return array
    if kind == "native":
        with zarr.override_extensions(given):
            return zarr.create_array(data=DATA, chunks=2)
    if kind == "format":
        return _created(zarr.MemoryStore(), zarr_format="v3" if case.core else NAME, **options)
    if kind == "store":
        return _created("memory://rules" if case.core else f"{NAME}://place", **options)
    configuration = {"key": case.key}
    if case.core:
        store = stored_in_v3("codec", None)
    elif zarr_format == "draft":
        store = stored_in_draft(kind, configuration, optional)
    else:
        definition = {"name": NAME, "configuration": configuration}
        if optional:
            definition["must_understand"] = False
        store = stored_in_v3(kind, definition)
    return zarr.open(store, path="a", mode="r+", extensions=given)


def _created(store, extensions, **options):
    with zarr.override_extensions(extensions):
        return zarr.create_array(store, overwrite=True, **options)


def one_line(error):
    return " ".join(str(error).split())
