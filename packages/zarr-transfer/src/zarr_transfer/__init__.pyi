"""Names of :mod:`zarr_transfer` for type checkers."""

from zarr_transfer.arrays_like import empty_like as empty_like
from zarr_transfer.arrays_like import full_like as full_like
from zarr_transfer.arrays_like import ones_like as ones_like
from zarr_transfer.arrays_like import zeros_like as zeros_like
from zarr_transfer.conversion import convert as convert
from zarr_transfer.conversion import plan_conversion as plan_conversion
from zarr_transfer.copy_elements import plan_rechunk as plan_rechunk
from zarr_transfer.copy_executor import CopyExecutor as CopyExecutor
from zarr_transfer.copy_executor import CopyResult as CopyResult
from zarr_transfer.copy_keys import copy_store as copy_store
from zarr_transfer.copy_keys import getsize as getsize
from zarr_transfer.copy_keys import rmdir as rmdir
from zarr_transfer.copy_nodes import copy as copy
from zarr_transfer.copy_nodes import copy_all as copy_all
from zarr_transfer.errors import ConversionError as ConversionError
from zarr_transfer.errors import ElementsDifferError as ElementsDifferError
from zarr_transfer.move_node import move as move
from zarr_transfer.plan import CopyPlan as CopyPlan
from zarr_transfer.plan import CopyStep as CopyStep
from zarr_transfer.progress import Progress as Progress
from zarr_transfer.progress import WaitNotices as WaitNotices
from zarr_transfer.rechunk import Budget as Budget
from zarr_transfer.rechunk import Chunking as Chunking
from zarr_transfer.rechunk import RechunkPlan as RechunkPlan
from zarr_transfer.rechunk import RechunkStage as RechunkStage
from zarr_transfer.regions import ChunkEdges as ChunkEdges
from zarr_transfer.save_arrays import load as load
from zarr_transfer.save_arrays import save as save
from zarr_transfer.selection_plan import Plan as Plan
from zarr_transfer.selection_plan import plan_selection as plan_selection

__version__: str
