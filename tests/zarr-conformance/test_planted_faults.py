"""The corpus finds faults that are planted in what an implementation reads and writes."""

import pytest
from planted_faults import is_found
from reader_faults import FAULTS as READER_FAULTS
from writer_faults import FAULTS as WRITER_FAULTS

FAULTS = {fault.name: fault for fault in (*WRITER_FAULTS, *READER_FAULTS)}

# v3.1, "Resizing": data outside of a smaller shape "will be shown by default" if the array
# grows again, so no case may require that it is removed from chunks that are cut.
SURVIVORS = {"resize-keeps-elements-in-cut-chunks"}


def test_names_are_unique():
    assert len(FAULTS) == len(WRITER_FAULTS) + len(READER_FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(name):
    assert is_found(FAULTS[name]) == (name not in SURVIVORS)
