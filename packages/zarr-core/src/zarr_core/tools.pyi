"""Names of :mod:`zarr_core.tools` for type checkers."""

from zarr_core import strictjson as strictjson
from zarr_core.cache import Cache as Cache
from zarr_core.chunk_grids import RegularAxis as RegularAxis
from zarr_core.config import max_encoded_nbytes as max_encoded_nbytes
from zarr_core.engine.chain import CodecChain as CodecChain
from zarr_core.engine.chain import PreparedCodecChain as PreparedCodecChain
from zarr_core.engine.chain import codec_definition as codec_definition
from zarr_core.engine.chain import inner_order as inner_order
from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.native import reason_against
from zarr_core.engine.read import ChunkReader as ChunkReader
from zarr_core.engine.read import read_open as read_open
from zarr_core.engine.scratch import MemoryLimiter as MemoryLimiter
from zarr_core.engine.scratch import Reservation as Reservation
from zarr_core.engine.scratch import remote_memory as remote_memory
from zarr_core.engine.scratch import scratch as scratch
from zarr_core.engine.stored_array import StoredArray as StoredArray
from zarr_core.engine.stored_node import StoredGroup as StoredGroup
from zarr_core.engine.write import UnconfirmedKeys as UnconfirmedKeys
from zarr_core.formats.detect import conflicting_format as conflicting_format
from zarr_core.formats.detect import format_of_new as format_of_new
from zarr_core.formats.detect import read_node as read_node
from zarr_core.formats.key_order import KeyOrder as KeyOrder
from zarr_core.formats.key_order import key_order as key_order
from zarr_core.formats.lookup import format_named as format_named
from zarr_core.formats.lookup import formats_without as formats_without
from zarr_core.formats.unmanaged_keys import is_auxiliary as is_auxiliary
from zarr_core.formats.unmanaged_keys import without_chunks as without_chunks
from zarr_core.formats.walk import walk as walk
from zarr_core.hierarchy.array import assigned_values as assigned_values
from zarr_core.hierarchy.array import check_out as check_out
from zarr_core.hierarchy.array import parse_selection as parse_selection
from zarr_core.hierarchy.array_view import as_index
from zarr_core.hierarchy.coerce import is_chunked as is_chunked
from zarr_core.hierarchy.consolidate import require_consolidating as require_consolidating
from zarr_core.hierarchy.create_node import StoreSnapshot as StoreSnapshot
from zarr_core.hierarchy.create_node import check_reserved_names as check_reserved_names
from zarr_core.hierarchy.create_node import make_room as make_room
from zarr_core.hierarchy.create_node import occupied as occupied
from zarr_core.hierarchy.create_node import permit_nodes as permit_nodes
from zarr_core.hierarchy.delete import erase_node as erase_node
from zarr_core.hierarchy.delete import require_erasing as require_erasing
from zarr_core.hierarchy.display import chunk_lengths as chunk_lengths
from zarr_core.hierarchy.display import data_type_text as data_type_text
from zarr_core.hierarchy.display import stored_lengths as stored_lengths
from zarr_core.hierarchy.node import Node as Node
from zarr_core.hierarchy.node import update_additional_fields as update_additional_fields
from zarr_core.hierarchy.progress import Progress as Progress
from zarr_core.hierarchy.progress import Reporter
from zarr_core.hierarchy.progress import reporting as reporting
from zarr_core.hierarchy.rollback import Rollback as Rollback
from zarr_core.hierarchy.rollback import holds_anything as holds_anything
from zarr_core.hierarchy.store_path import StoreLike as StoreLike
from zarr_core.hierarchy.store_path import opened_store as opened_store
from zarr_core.hierarchy.store_path import refuse_misspelt as refuse_misspelt
from zarr_core.interfaces.byte_reader import SubrangeReader as SubrangeReader
from zarr_core.interfaces.byte_reader import WrapperReader as WrapperReader
from zarr_core.interfaces.format import NodeMetadata as NodeMetadata
from zarr_core.interfaces.format import store_new as store_new
from zarr_core.interfaces.keylock import key_lock as key_lock
from zarr_core.interfaces.keys import encode_key as encode_key
from zarr_core.interfaces.keys import only_keys as only_keys
from zarr_core.interfaces.metadata_document import read_metadata as read_metadata
from zarr_core.interfaces.metadata_document import read_metadata_from as read_metadata_from
from zarr_core.interfaces.selection import MaskIndexer as MaskIndexer
from zarr_core.interfaces.store import NewValue as NewValue
from zarr_core.interfaces.store import store_from_object as store_from_object
from zarr_core.interfaces.store import to_bytes as to_bytes
from zarr_core.log import log as log
from zarr_core.metadata.attributes import check_attributes as check_attributes
from zarr_core.metadata.consolidated import ConsolidatedMetadata as ConsolidatedMetadata
from zarr_core.metadata.nonstandard import number_from_text as number_from_text
from zarr_core.metadata.schema import Schema as Schema
from zarr_core.metadata.schema import package_schema as package_schema
from zarr_core.metadata.validation_problem import json_pointer as json_pointer
from zarr_core.names import CHECKPOINT_NAME as CHECKPOINT_NAME
from zarr_core.names import MANIFEST_NAMES as MANIFEST_NAMES
from zarr_core.names import is_node_name as is_node_name
from zarr_core.names import is_reserved_name as is_reserved_name
from zarr_core.names import join as join
from zarr_core.names import normalise_path as normalise_path
from zarr_core.normalize.chunk_shapes import CHUNK_BYTES as CHUNK_BYTES
from zarr_core.normalize.chunk_shapes import SHARD_BYTES as SHARD_BYTES
from zarr_core.normalize.chunk_shapes import divisor_below as divisor_below
from zarr_core.normalize.chunk_shapes import parse_lengths as parse_lengths
from zarr_core.normalize.compare_metadata import metadata_differences as metadata_differences
from zarr_core.normalize.constraints import parse_partial_metadata as parse_partial_metadata
from zarr_core.normalize.data_types import data_type_for as data_type_for
from zarr_core.optional import optional_function as optional_function
from zarr_core.printable import escape_controls as escape_controls
from zarr_core.printable import escape_json as escape_json
from zarr_core.printable import listed as listed
from zarr_core.printable import printable_message as printable_message
from zarr_core.printable import quoted as quoted
from zarr_core.printable import shorten as shorten
from zarr_core.registry.discovery import providers
from zarr_core.registry.entry_points import entry_points
from zarr_core.registry.extension_names import is_provided as is_provided
from zarr_core.registry.hints import other_providers as other_providers
from zarr_core.registry.resolve import create_extension as create_extension
from zarr_core.registry.resolve import find_provider as find_provider
from zarr_core.registry.resolve import require_extension as require_extension
from zarr_core.selection.parse import is_integer as is_integer
from zarr_core.selection.parsed_selection import ParsedSelection as ParsedSelection
from zarr_core.selection.projection import ChunkProjection as ChunkProjection
from zarr_core.selection.projection import project as project
from zarr_core.selection.projection import project_dimension as project_dimension
from zarr_core.selection.projection import put as put
from zarr_core.selection.projection import take as take
from zarr_core.stores.local import LocalStore as LocalStore
from zarr_core.stores.local import path_from_url as path_from_url
from zarr_core.stores.local_files import file_lock as file_lock
from zarr_core.strictjson import keep_nonfinite as keep_nonfinite
from zarr_core.threads import available_threads as available_threads
from zarr_core.threads import call_after_fork as call_after_fork
from zarr_core.threads import call_interruptibly as call_interruptibly
from zarr_core.threads import concurrent_map as concurrent_map
from zarr_core.threads import in_one_thread as in_one_thread
from zarr_core.threads import longest_wait as longest_wait
from zarr_core.threads import parallel_for as parallel_for
from zarr_core.threads import thread_count as thread_count
from zarr_core.threads import waiting as waiting
from zarr_core.user_warning import warn as warn

fill_value_test = fill_test
ProgressReporter = Reporter
field_index = as_index
installed_entry_points = entry_points
native_reason_against = reason_against
providers_of = providers
