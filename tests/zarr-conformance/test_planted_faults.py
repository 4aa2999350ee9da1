"""The corpus finds faults that are planted in what an implementation reads and writes."""

import pytest
from planted_faults import duplicates, found_by
from reader_faults import FAULTS as READER_FAULTS
from writer_faults import FAULTS as WRITER_FAULTS

FAULTS = [*WRITER_FAULTS, *READER_FAULTS]

SURVIVORS = {
    # v3.1, "Resizing": data outside of a smaller shape "will be shown by default" if the array
    # grows again, so no case may require that it is removed from chunks that are cut.
    "resize-keeps-elements-in-cut-chunks",
}


def test_names_are_unique():
    assert duplicates(FAULTS) == []
    assert {it.name for it in FAULTS} >= SURVIVORS


@pytest.mark.parametrize("fault", FAULTS, ids=lambda it: it.name)
def test_fault_is_found(fault):
    assert (found_by(fault) is None) == (fault.name in SURVIVORS), fault.clause
