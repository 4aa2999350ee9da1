"""Hooks that report problems of metadata, when nodes are read and written."""

import pytest
import zarr_core as zarr
from zarr_core.errors import MetadataValidationError
from zarr_core.extension import ValidationProblem, hookimpl


class NoSecrets:
    """Reports a problem for one attribute."""

    @hookimpl
    def zarr_check_metadata(self, location, document):
        if "secret" in document.get("attributes", {}):
            return [ValidationProblem("/attributes/secret", f"not allowed in {location}")]
        return []


@pytest.fixture
def no_secrets():
    plugin = NoSecrets()
    zarr.register_hooks(plugin)
    yield
    zarr.unregister_hooks(plugin)


SECRET = {"secret": 1}


@pytest.mark.usefixtures("no_secrets")
def test_nothing_objectionable_is_written(tmp_path):
    with pytest.raises(MetadataValidationError, match="/attributes/secret"):
        zarr.create_array(tmp_path, path="a", shape=3, attributes=SECRET)
    with pytest.raises(MetadataValidationError, match="/attributes/secret"):
        zarr.create_group(tmp_path, path="g", attributes=SECRET)
    assert list(tmp_path.iterdir()) == []
    group = zarr.create_group(tmp_path, attributes={"open": 1})
    with pytest.raises(MetadataValidationError, match="/attributes/secret"):
        group.attrs.update(SECRET)
    assert dict(group.attrs) == dict(zarr.open(tmp_path).attrs) == {"open": 1}


def test_stored_invalid_array_is_rejected_at_opening(tmp_path):
    zarr.create_array(tmp_path / "a", shape=3, attributes=SECRET)
    zarr.create_group(tmp_path / "g", attributes=SECRET)
    plugin = NoSecrets()
    zarr.register_hooks(plugin)
    try:
        for name in "ag":
            with pytest.raises(MetadataValidationError, match="not allowed in file:"):
                zarr.open(tmp_path / name)
    finally:
        zarr.unregister_hooks(plugin)
    assert zarr.open(tmp_path / "a").attrs["secret"] == 1
