"""Hypothesis strategies for datasets."""

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import xarray as xr

SIZES = {"x": 4, "y": 3, "z": 1, "empty": 0}
DTYPES = st.sampled_from(["i1", "i4", "u8", "f4", "f8", "c16", "?", "U3", "S2", "M8[ns]"])
NAMES = st.text("abcäß 0_", min_size=1, max_size=6).filter(
    lambda name: not name.startswith("__") and name not in SIZES and name.isprintable()
)
ATTRIBUTES = st.dictionaries(
    st.text("abc", min_size=1), st.one_of(st.integers(-99, 99), st.text(), st.lists(st.integers()))
)


@st.composite
def variables(draw, dtypes=DTYPES):
    """Draw a variable along some of the dimensions, chunked or not."""
    dims = tuple(draw(st.lists(st.sampled_from([*SIZES]), unique=True, max_size=3)))
    dtype = np.dtype(draw(dtypes))
    elements = None
    if dtype.kind == "M":  # days about 40 years apart, which round-trip exactly
        elements = st.integers(-20000, 20000).map(lambda day: np.datetime64(day, "D").astype(dtype))
    elif dtype.kind == "U":
        elements = st.text("abä", max_size=3)
    values = draw(npst.arrays(dtype, tuple(SIZES[dim] for dim in dims), elements=elements))
    variable = xr.Variable(dims, values, draw(ATTRIBUTES))
    if dims and draw(st.booleans()):
        variable.encoding["chunks"] = tuple(draw(st.integers(1, 4)) for _ in dims)
    return variable
