"""The names that users may rely on: adding one is a decision, losing one is a break."""

import importlib
import subprocess
import sys

import pytest

NAMES = {
    "zarr_core": """
        Array Group LocalStore MemoryStore Progress Store array array_from_metadata check_consolidated config
        consolidate_metadata copy copy_all copy_store create create_array create_group empty empty_like
        extensions full full_like getsize group
        installed_extensions load locate move ones ones_like open open_array open_consolidated open_group
        register_hooks remove rename rmdir save save_array save_group tree unconsolidate_metadata unregister_hooks zeros zeros_like
    """,
    "zarr_core.extension": """
        JSON ArrayMetadata ArrayRepresentation ArrayToArrayCodec ArrayToBytesCodec
        BoundChain Box Budget Buffer BufferReader ByteRange BytesToBytesCodec Carrier Change ChecksumError
        ChunkAxis ChunkDecodeError ChunkGrid ChunkKeyEncoding ChunkMemoryLayout Chunking Codec
        CodecChain CodecChainError CodecError ConsolidatedMetadata DataType
        ExtensionConfigurationError ExtensionDefinition ExtensionError ExtensionLoadError Forking Format GroupMetadata
        KnownDocuments MetadataDecodeError MetadataError MetadataExtension MetadataValidationError
        Moved NodeExistsError NodeNameError NodeNotFoundError NodeTypeError Outer Pair Part Pieces
        Points Problem Progress ProgressReporter Provider Schema Selection SelectionError StorageTransformer Store
        StoreCapabilityError StoreError StoreKeyError StoreReadError StoreReadOnlyError
        UnknownExtensionError UnsupportedFieldError ValueReader ValueReplacedError WrapperReader ZarrError
        check_key
        check_prefix data_type_for foreign_key format_named format_of_new formats_without in_flight in_one_thread installed_entry_points is_node_name
        json_pointer key_lock lies_within make_extension normalise_path only_keys package_schema project put read_node run_in_threads
        scratch single_chunk store_new strictjson take thread_count understanding
        Note RechunkingPlan RechunkingStage RechunkingTask beside leftovers may_have_pieces
        missing_stay_missing plan_stages read_task tasks_of write_task
    """,
}


@pytest.mark.parametrize("module", NAMES)
def test_these_and_no_others(module):
    public = importlib.import_module(module).__all__
    assert set(public) == set(NAMES[module].split())
    assert list(public) == sorted(public, key=public_order), "sort __all__"


def public_order(name):
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in NAMES for name in NAMES[module].split()]
)
def test_every_name_is_there(module, name):
    found = importlib.import_module(module)
    assert getattr(found, name) is not None
    assert name in dir(found)


def test_unknown_names_are_refused():
    import zarr_core

    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        zarr_core.opne  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", NAMES["zarr_core"].split())
def test_no_import_changes_what_a_name_means(name):
    # A submodule of the same name would take its place in the package.
    assert not hasattr(getattr(importlib.import_module("zarr_core"), name), "__path__")
    assert type(getattr(importlib.import_module("zarr_core"), name)).__name__ != "module"


def test_the_settings_stay_the_settings():
    program = "import zarr_core.config, zarr_core; assert zarr_core.config.settings.threads is None"
    subprocess.run([sys.executable, "-c", program], check=True, env={})


@pytest.mark.parametrize("name", ["LocalStore", "hookimpl"])
def test_what_few_extensions_need_is_loaded_when_it_is_asked_for(name):
    from zarr_core import extension

    assert getattr(extension, name) is not None
