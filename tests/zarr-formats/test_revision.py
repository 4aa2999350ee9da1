"""Unchanged members of a document are written as they were read."""

import pytest
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    MetadataValidationError,
    ValidationProblem,
)
from zarr_formats.revision import Part, revise

OLD = ArrayMetadata(
    shape=(4,),
    data_type=ExtensionDefinition("int8"),
    chunk_grid=ExtensionDefinition("regular"),
    chunk_key_encoding=ExtensionDefinition("v2"),
    codecs=(),
    fill_value=1,
)
RAW = {"foo": 1, "length": "four", "fill": "one", "extra": None}


def refuse(metadata):
    raise MetadataValidationError("", [ValidationProblem("/fill_value", "no words for it")])


PARTS = (
    Part(("shape",), ("length",), lambda m: {"length": m.shape[0]}),
    Part(("fill_value",), ("fill", "extra"), lambda m: {"fill": m.fill_value}),
)


def test_nothing_changed():
    written = revise(RAW, OLD, OLD, PARTS, "here")
    assert written == RAW
    assert list(written) == list(RAW)


def test_changes_are_written_in_place():
    written = revise(RAW, OLD, OLD.replace(shape=(5,)), PARTS, "here")
    assert list(written.items()) == [("foo", 1), ("length", 5), ("fill", "one"), ("extra", None)]


def test_members_that_are_no_longer_said_go():
    written = revise(RAW, OLD, OLD.replace(fill_value=2), PARTS, "here")
    assert list(written.items()) == [("foo", 1), ("length", "four"), ("fill", 2)]


@pytest.mark.parametrize("value", [1.0, True, "1"])
def test_equal_is_not_the_same(value):
    assert revise(RAW, OLD, OLD.replace(fill_value=value), PARTS, "here")["fill"] is value


def test_a_new_document():
    assert revise(None, None, OLD, PARTS, "here") == {"length": 4, "fill": 1}


def refuse_codecs(metadata):
    raise MetadataValidationError("", [ValidationProblem("/codecs", "no words for them")])


def test_every_problem_is_reported_once():
    parts = (
        PARTS[0],
        Part(("fill_value",), (), refuse),
        Part(("fill_value", "codecs"), (), refuse),
        Part(("codecs",), (), refuse_codecs),
    )
    with pytest.raises(MetadataValidationError) as caught:
        revise(None, None, OLD, parts, "here")
    assert caught.value.location == "here"
    assert [it.pointer for it in caught.value.problems] == ["/fill_value", "/codecs"]
    # Unchanged members are written as they were read.
    assert revise(RAW, OLD, OLD, parts, "here") == RAW
