"""The public names. Adding one needs a decision; removing one breaks programs."""

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zarr_core

NAMES = {
    "zarr_core": """
        Array Attributes ChunkLayout Group LocalStore MemoryStore Progress Store StoreLike
        array array_from_metadata
        check_consolidated codec config consolidate_metadata convert copy copy_all copy_store create
        create_array create_group empty empty_like errors full full_like getsize group
        installed_extensions load resolve_store_path move ones ones_like open open_array open_consolidated
        open_group override_extensions register_hooks remove rmdir save
        unconsolidate_metadata unregister_hooks zeros zeros_like
    """,
    "zarr_core.extension": """
        JSON ArrayMetadata ArrayRepresentation ArrayToArrayCodec ArrayToBytesCodec BasicIndexer
        Buffer BufferByteReader Buffers ByteRange ByteReader BytesToBytesCodec CachingStore Change
        ChecksumError ChunkAxis ChunkDecodeError ChunkGrid ChunkKeyEncoding ChunkMemoryLayout ChunkObserver
        Codec CodecError CoordinateIndexer DataType Display
        ExtensionConfigurationError ExtensionDefinition Format GroupMetadata KeyValueStore
        Location MetadataExtension MetadataValidationError NativeExecutor NativePlan NodeNotFoundError
        OrthogonalIndexer
        PartialDecodeCodec PartialEncodeCodec Provider Selection StorageTransformer Store
        StoreCapabilityError StoreError StoreKeyError StoreReadError StoreReadOnlyError StoreTraits
        SubchunkCodec ValidationProblem ValueReplacedError WrapperStore ZarrError check_key check_prefix hookimpl
        Schema StoredArray create_extension data_type_for encode_key escape_controls inner_order
        installed_entry_points json_pointer key_lock native_reason_against package_schema read_metadata
        store_new strictjson update_additional_fields
    """,
    "zarr_transfer": """
        Budget ChunkEdges Chunking ConversionError CopyExecutor CopyPlan CopyResult CopyStep
        ElementsDifferError Plan Progress RechunkPlan RechunkStage WaitNotices convert copy
        copy_all copy_store empty_like full_like getsize load move ones_like plan_conversion plan_rechunk
        plan_selection rmdir save zeros_like
    """,
}


@pytest.mark.parametrize("module", NAMES)
def test_these_and_no_others(module):
    public = importlib.import_module(module).__all__
    assert set(public) == set(NAMES[module].split())
    assert list(public) == sorted(public, key=public_order), "sort __all__"


@pytest.mark.parametrize("name", ["zarr_core.extension", "zarr_transfer"])
def test_type_checkers_see_the_names(name):
    module = importlib.import_module(name)
    stub = ast.parse((Path(module.__file__).with_suffix(".pyi")).read_text())
    imported = [it for node in stub.body if isinstance(node, ast.ImportFrom) for it in node.names]
    assigned = [it for node in stub.body if isinstance(node, ast.Assign) for it in node.targets]
    shown = {it.asname for it in imported} | {it.id for it in assigned}
    assert shown >= {*module.__all__}


def public_order(name):
    return (not name.isupper(), not name[0].isupper(), name)


@pytest.mark.parametrize("module", NAMES)
def test_dir_shows_public_names_only(module):
    found = importlib.import_module(module)
    shown = {name for name in dir(found) if not name.startswith("__")}
    assert shown == {*NAMES[module].split()}
    assert all(hasattr(found, name) for name in shown)


CHECKED = {
    "zarr.open_array": None,
    "zarr.errors.NodeNotFoundError": None,
    "extension.hookimpl": None,
    'zarr.open_array(use_consolidated="x")': 'Argument "use_consolidated" to "open_array" has',
    "zarr.open_group(chunks=4)": 'Unexpected keyword argument "chunks" for "open_group"',
    "zarr.open_array(shape=(2,), dtype=int).chunks": None,
    "zarr.open_array().create_group": '"Array" has no attribute "create_group"',
    "zarr.open_arry": 'Module has no attribute "open_arry"; maybe "open_array"?',
    "extension.Stores": 'Module has no attribute "Stores"; maybe "Store"',
}
"""Lines of a program, and what type checkers are to say of each."""


@pytest.mark.parametrize("line", CHECKED)
def test_type_checkers_find_misspelt_names(line, type_errors):
    expected = CHECKED[line]
    assert (expected in type_errors[line]) if expected else type_errors[line] == ""


@pytest.mark.parametrize("name", ["open_array", "open_consolidated", "open_group"])
def test_help_shows_the_parameters_of_functions_that_open(name):
    shown = inspect.signature(getattr(zarr_core, name))
    assert {"path", "storage_options", "extensions"} <= shown.parameters.keys()
    assert shown.return_annotation == ("Array" if name == "open_array" else "Group")


@pytest.fixture(scope="module")
def type_errors(tmp_path_factory):
    """The messages of mypy for each line of a program that uses the public modules."""
    pytest.importorskip("mypy")
    lines = list(CHECKED)
    folder = tmp_path_factory.mktemp("checked")
    program = folder / "program.py"
    program.write_text(
        "\n".join(["import zarr_core as zarr; from zarr_core import extension", *lines])
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=",
         f"--cache-dir={folder / 'cache'}", program],
        env={**os.environ, "MYPYPATH": str(Path(zarr_core.__file__).parents[1])},
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    told = dict.fromkeys(lines, "")
    for number, text in re.findall(r"^program\.py:(\d+): error: (.*)$", done.stdout, re.MULTILINE):
        told[lines[int(number) - 2]] += text
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return told


@pytest.mark.parametrize("name", NAMES["zarr_core"].split())
def test_no_import_changes_what_a_name_means(name):
    # A submodule of the same name would replace it in the package.
    assert not hasattr(getattr(importlib.import_module("zarr_core"), name), "__path__")
    is_module = type(getattr(importlib.import_module("zarr_core"), name)).__name__ == "module"
    assert is_module == (name == "errors")


def test_the_settings_stay_the_settings():
    program = "import zarr_core.config, zarr_core; assert zarr_core.config.settings.threads is None"
    subprocess.run([sys.executable, "-c", program], check=True, env={})
