"""A small plugin for each extension point, and the ways in which it can be broken."""

import json

NAME = "acme.x"
URI = "https://acme.example/x/1.0"

# The configuration of every extension has one member, `key`: its schema permits 0 to 9, its
# code rejects 7.
SCHEMA = json.dumps(
    {"properties": {"key": {"type": "integer", "maximum": 9}}, "additionalProperties": False}
)


def _source(imports, base, made, body=""):
    return f"""
{imports}

class Extension({base}):
    @classmethod
    def from_definition(cls, definition):
        if definition.configuration.get("key") == 7:
            raise ValueError("key 7 brings no luck")
        return {made}

    def to_definition(self):
        raise AssertionError("the document is written back as it was")
{body}
"""


SOURCES = {
    "codec": _source(
        "from zarr_core.extension import BytesToBytesCodec",
        "BytesToBytesCodec",
        "cls()",
        """
    def encode(self, data, decoded_size):
        return bytes(data)

    def decode(self, data, decoded_size):
        return bytes(data)
""",
    ),
    "data_type": _source(
        "import numpy\nfrom zarr_core.extension import DataType",
        "DataType",
        "cls()",
        """
    numpy_dtype = numpy.dtype("int32")

    def fill_value_from_json(self, value):
        return numpy.array(value, "int32")

    def fill_value_to_json(self, value):
        return int(value)
""",
    ),
    "chunk_grid": _source(
        "from zarr_core.chunk_grids import RegularGrid", "RegularGrid", "cls((2,))"
    ),
    "chunk_key_encoding": _source(
        "from zarr_core.chunk_key_encodings import DefaultEncoding",
        "DefaultEncoding",
        "cls('/')",
    ),
    "chunk_memory_layout": _source(
        "from zarr_core.extension import ChunkMemoryLayout",
        "ChunkMemoryLayout",
        "cls()",
        """
    def codec(self, ndim):
        return None
""",
    ),
    "storage_transformer": _source(
        "from zarr_core.extension import StorageTransformer",
        "StorageTransformer",
        "cls()",
        """
    def transform(self, store, prefix):
        return store
""",
    ),
    "extension": _source(
        "from zarr_core.extension import MetadataExtension",
        "MetadataExtension",
        "cls()",
        """
    def check(self, document):
        return []
""",
    ),
    "format": """
from zarr_core.formats.v3 import V3

class Extension(V3):
    name = "acme.x"
""",
    "store": """
from zarr_core.stores.memory import MemoryStore

class Extension(MemoryStore):
    @classmethod
    def from_url(cls, url, *, read_only=False):
        return cls(read_only=read_only)
""",
    "display": """
from zarr_core.extension import Display

class Extension(Display):
    def html(self, shown):
        return "<b>shown</b>"

    def info(self, node, complete=False):
        return {"Name": node.name}
""",
    "native": """
from zarr_core.extension import NativeExecutor

class Extension(NativeExecutor):
    def plan(self, array):
        return "it plans nothing"
""",
    "hooks": """
from zarr_core.extension import hookimpl

class Extension:
    @hookimpl
    def zarr_check_metadata(self, document):
        return []
""",
}

BROKEN = {
    "raises": "1 / 0",
    "exits": "import sys\nsys.exit(3)",
    "panics": "class Panic(BaseException): pass\nraise Panic('from another language')",
    "syntax": "def",
    "no module": "import a_library_that_is_not_installed",
    "no attribute": "Another = 1",
    "wrong class": "class Extension: pass",
    "no class": "Extension = 'a string'",
}

MISSPELT = SOURCES["hooks"].replace("zarr_check_metadata", "zarr_chek_metadata")
FAILING = {
    "hooks": SOURCES["hooks"].replace("return []", "1 / 0"),
    "display": SOURCES["display"].replace('return "<b>shown</b>"', "1 / 0"),
    "native": SOURCES["native"].replace('return "it plans nothing"', "1 / 0"),
}
