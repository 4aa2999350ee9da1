"""Which libraries read a hierarchy, and what stops them.

``features`` lists the features of metadata documents, ``support`` looks them up in the measured
table ``support.json``, and ``requirement`` finds arguments for arrays that given libraries read.
"""

from zarr_conformance.portability.requirement import create_portable_array

__all__ = ["create_portable_array"]
