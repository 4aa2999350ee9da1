"""Commands that change hierarchies in an object store."""

from uuid import uuid4

import numpy as np
import zarr_core as zarr
from object_stores import s3_environment

pytest_plugins = ["servers.fixtures"]


def test_copy_rechunk_move_and_remove_in_a_bucket(s3_server, here, command, monkeypatch):
    for name, value in s3_environment(s3_server).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    values = np.arange(2000.0).reshape(40, 50)
    root = zarr.create_group("own.zarr")
    root.create_array("t", data=values, chunks=(4, 50), dimension_names=("y", "x"))
    url = f"s3://{s3_server.bucket}/{uuid4()}"
    command("copy", "own.zarr", f"{url}/a.zarr")
    command(
        "rechunk", f"{url}/a.zarr", f"{url}/b.zarr", "-c", "y=all,x=5", "--verify", "--consolidate"
    )
    command("move", f"{url}/b.zarr#t", f"{url}/b.zarr#u")
    assert "valid" in command("check", f"{url}/b.zarr", "--meta-only")
    new = zarr.open(f"{url}/b.zarr")["u"]
    assert new.chunks == (40, 5)
    assert np.array_equal(new[...], values)
    command("remove", f"{url}/b.zarr", "-y")
    assert "no Zarr array or group here" in command("info", f"{url}/b.zarr", status=1)
    assert np.array_equal(zarr.open(f"{url}/a.zarr")["t"][...], values)
