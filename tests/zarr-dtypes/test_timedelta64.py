"""numpy.timedelta64, beside what test_datetime64.py tries of both."""

import numpy as np
import pytest
import zarr_core as zarr


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("layout", [{"chunks": 3}, {"chunks": 2, "shards": 4}])
def test_durations_round_trip(order, layout):
    values = np.array([-5, 0, 5, 2**62, -(2**63), 7, 1], "i8").view("m8[25s]")
    array = zarr.create_array(data=values.astype(f"{order}m8[25s]"), **layout)
    assert array.metadata.data_type.configuration == {"unit": "s", "scale_factor": 25}
    assert array[...].tobytes() == values.tobytes()
    assert array[...].dtype == "m8[25s]"
    assert array[1:6:2].tobytes() == values[1:6:2].tobytes()


def test_units_are_converted_as_numpy_does():
    array = zarr.create_array(shape=3, dtype="m8[s]")
    array[...] = np.array([1, 2, 3], "m8[m]")
    assert array[...].tolist() == np.array([60, 120, 180], "m8[s]").tolist()
    assert array.fill_value.dtype == "m8[s]"
