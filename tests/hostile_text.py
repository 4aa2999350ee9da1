"""A hierarchy whose names, attributes and metadata contain control sequences of terminals."""

import json

import zarr_core as zarr

SIGNS = "\x1b[2J\x07\r\n\t\x08\x7f\x9b31m\x85\u202e\u2066\u2028\u2029"
"""What clears a screen, rings, begins lines, deletes, and turns text around."""

FORBIDDEN = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u202e\u2066\u2028\u2029"}

NAME = f"n{SIGNS}é温"
"""A name, with letters that must stay."""


def raw_signs(text, keep="\n"):
    """The control characters in a text."""
    return sorted(FORBIDDEN.intersection(text).difference(keep))


def create(store, zarr_format=3):
    """Create the hierarchy: damaged nodes, unknown codecs and sound nodes below a group."""
    attributes = {NAME: SIGNS, "nested": {NAME: [SIGNS]}}
    root = zarr.create_group(store, zarr_format=zarr_format, attributes=attributes)
    # Keys of version 2 are ASCII.
    name = NAME if zarr_format == 3 else NAME.encode("ascii", "ignore").decode()
    group = root.create_group(name, attributes=attributes)
    named = {"dimension_names": [NAME, None]} if zarr_format == 3 else {}
    group.create_array(f"a{name}", data=[[1, 2], [3, 4]], attributes=attributes, **named)
    root.create_array("text", data=[SIGNS, NAME], dtype=str, fill_value=SIGNS)
    return root


def sabotage(store):
    """Add nodes of version 3 that cannot be opened, for different reasons."""
    plain = zarr.create_array(zarr.MemoryStore(), shape=2, dtype="i2").metadata.to_json()
    unknown = {"name": NAME, "configuration": {NAME: SIGNS}}
    documents = {
        "codec": plain | {"codecs": ["bytes", unknown]},
        "ignored_codec": plain | {"codecs": ["bytes", unknown | {"must_understand": False}]},
        "configuration": plain | {"codecs": [{"name": "bytes", "configuration": {NAME: SIGNS}}]},
        "data_type": plain | {"data_type": NAME},
        "fill": plain | {"fill_value": SIGNS},
        "member": plain | {NAME: {SIGNS: 1}},
        "grid": plain | {"chunk_grid": unknown},
        "type": plain | {"node_type": NAME},
        "dimension": plain | {"dimension_names": [{NAME: SIGNS}]},
        "struct": plain
        | {
            "data_type": {
                "name": "struct",
                "configuration": {"fields": [{"name": NAME, "data_type": SIGNS}]},
            }
        },
    }
    for name, document in documents.items():
        store.set(f"{name}{NAME}/zarr.json", json.dumps(document).encode())
    twice = f'{{"zarr_format":3,"node_type":"group","attributes":{{{json.dumps(NAME)}:1,{json.dumps(NAME)}:2}}}}'
    store.set(f"twice{NAME}/zarr.json", twice.encode())
    store.set(f"no_json{NAME}/zarr.json", SIGNS.encode())
    nan = f'{{"zarr_format":3,"node_type":"group","attributes":{{{json.dumps(NAME)}:NaN}}}}'
    store.set(f"nan{NAME}/zarr.json", nan.encode())
    return [f"{name}{NAME}" for name in (*documents, "twice", "no_json", "nan")]
