"""The requirements of the draft of December 2022 for stores, operations, extensions and codecs."""

from clauses import Clause

STORES = "Abstract store interface"
OPERATIONS = "Operations"
TRANSFORMERS = "Storage transformers"
SHARDING = "Sharding storage transformer"
DATETIME = "Datetime data types"

_VALUES = "store_values.py::StoreValueTests::test_"
_STORE_KEYS = "store_keys.py::StoreKeyTests::test_"
_CHANGES = "store_changes.py::StoreChangeTests::test_"
_KEYS = "test_draft_keys.py::test_"
_TYPE = "test_draft_data_types.py::test_"
_CODEC = "test_draft_codecs.py::test_"
_CHUNK = "test_draft_chunks.py::test_"
_FORMAT = "test_draft_format.py::test_"
_SHARD = "test_transformer.py::test_"
_SHARDS = "test_sharded_store.py::test_"
_LAYOUT = "test_layout.py::test_"


def _row(level, name, section, text, *tests):
    return Clause(name, section, level, text, tests)


MORE = [
    # Stores
    _row("must", "store-operations", "Stores", "A store has the operations of the interface.",
         f"{_VALUES}value_round_trip", f"{_CHANGES}erase", f"{_STORE_KEYS}list_dir",
         f"{_STORE_KEYS}list_prefix_matches_whole_segments"),
    _row("may", "store-capabilities", STORES, "A store need not have all capabilities.",
         f"{_CHANGES}read_only", f"{_FORMAT}a_store_that_cannot_list"),
    _row("may", "store-case", STORES, "Keys are case sensitive.",
         f"{_STORE_KEYS}keys_are_case_sensitive_and_not_normalized", f"{_KEYS}names_differ_in_case"),
    _row("may", "range-open", STORES, "A range may be without length: up to the end.",
         f"{_VALUES}partial_values_are_slices"),
    _row("may", "ranges-repeated", STORES, "A key may occur several times with other ranges.",
         f"{_VALUES}partial_values_keep_order"),
    _row("may", "ranges-missing", STORES, "Values of missing keys are none.",
         f"{_VALUES}partial_values_keep_order"),
    _row("may", "starts-repeated", STORES, "A key may occur several times with other starts.",
         f"{_VALUES}set_partial_values"),
    _row("must not", "starts-overlap", STORES, "Values of one key do not overlap.",
         f"{_VALUES}set_partial_values"),
    _row("may", "listing-some", STORES, "A listable store has one or more of three operations.",
         f"{_STORE_KEYS}list", f"{_STORE_KEYS}list_dir"),
    _row("should", "partial-optional", STORES,
         "Operations on partial values are optional, with fallbacks.",
         f"{_VALUES}partial_values_are_slices", f"{_VALUES}set_partial_values"),
    _row("should", "partial-supplied", STORES, "They are supplied where possible.",
         f"{_VALUES}reader"),
    _row("should", "whole-by-partial", STORES,
         "Operations on whole values may be made of those on partial values.",
         f"{_SHARDS}properties_are_those_of_the_underlying_store",
         f"{_SHARDS}partial_values_take_two_operations"),
    # Storage
    _row("must", "keys-documents", "Storage keys", "Documents have the keys of the table.",
         f"{_KEYS}keys_of_documents"),
    _row("must", "keys-chunks", "Storage keys", "Chunks have the keys of the table.",
         f"{_KEYS}keys_of_chunks"),
    _row("may", "both-kinds", OPERATIONS,
         "Nobody makes an array with a group at one path, which need not be looked for.",
         f"{_FORMAT}the_order_of_existence", f"{_FORMAT}an_implied_group_can_be_made_explicit"),
    _row("may", "create-group", OPERATIONS, "Creating a group needs no documents of ancestors.",
         f"{_FORMAT}no_groups_are_created_to_lead_to_a_node", f"{_FORMAT}a_group_document"),
    _row("may", "create-array", OPERATIONS, "Creating an array needs no documents of ancestors.",
         f"{_FORMAT}no_groups_are_created_to_lead_to_a_node"),
    _row("must", "children", OPERATIONS, "Children are what list_dir of the prefix gives.",
         f"{_FORMAT}the_example_of_discovery"),
    _row("must", "children-elsewhere", OPERATIONS,
         "Where a store cannot list, children are told by other means.",
         f"{_FORMAT}a_store_that_cannot_list"),
    _row("must", "all-nodes", OPERATIONS, "All nodes are found by the keys below meta.",
         f"{_FORMAT}all_nodes"),
    _row("must", "erase-array", OPERATIONS, "An array is erased with its document and chunks.",
         f"{_FORMAT}erasing_an_array"),
    _row("should", "erase-implicit", OPERATIONS, "An implicit group is erased by its prefixes.",
         f"{_FORMAT}erasing_a_group"),
    _row("should", "erase-explicit", OPERATIONS,
         "An explicit group is erased by its document and its prefixes.",
         f"{_FORMAT}erasing_a_group"),
    _row("must", "exists", OPERATIONS, "A node is an array, explicit group, implicit group.",
         f"{_FORMAT}the_order_of_existence", f"{_FORMAT}a_node_that_is_not_there"),
    _row("may", "make-explicit", "Implementation Notes", "Implicit groups may be made explicit.",
         f"{_FORMAT}attributes_make_an_implied_group_explicit"),
    _row("may", "empty-parents", "Implementation Notes",
         "Erasing the last descendant may erase an implicit group.",
         f"{_FORMAT}erasing_the_last_of_an_implied_group_erases_the_group"),
    _row("must", "parent-care", "Implementation Notes",
         "A parent that shall stay is made explicit; the root stays by itself.",
         f"{_FORMAT}the_root_is_a_group_from_the_entry_point_on"),
    # Storage transformers
    _row("may", "transformer-runtime", TRANSFORMERS,
         "Transformers that keep the layout may be given at run time.",
         "test_store_wrapping.py::test_calls_are_counted"),
    _row("SHOULD NOT", "transformer-stateless", TRANSFORMERS,
         "A transformer does not keep what is needed to restore the data.",
         f"{_SHARD}arrays_pickle", f"{_SHARD}a_transformer_is_a_value"),
    _row("may", "transformer-stack", TRANSFORMERS, "Transformers may be stacked.",
         f"{_SHARD}shards_of_shards", f"{_CHUNK}transformers_behind_sharding_stay"),
    _row("should", "transformer-predefined", TRANSFORMERS, "Sharding is implemented.",
         f"{_CHUNK}a_shard_has_its_chunks_and_their_index_at_the_end"),
    _row("must", "transformer-required", "Extensions",
         "Grids, layouts, encodings, transformers are always required.",
         "test_bad_draft.py::test_other_unknown_extensions"),
    # Data type extensions
    _row("must", "datetime", DATETIME, "Byte order and unit of a datetime are given.",
         f"{_TYPE}times_need_byte_order_and_unit", f"{_TYPE}every_unit_of_time"),
    _row("must", "timedelta", DATETIME, "Byte order and unit of a timedelta are given.",
         f"{_TYPE}times_need_byte_order_and_unit", f"{_TYPE}every_unit_of_time"),
    _row("must", "strings", "String data types", "Strings are Sn, <Un or >Un.",
         f"{_TYPE}strings", f"{_TYPE}strings_of_no_form"),
    _row("may", "structures", "Struct data types",
         "Each field of a structure may have its own data type.",
         f"{_TYPE}structures", f"{_TYPE}fields_of_several_byte_orders",
         f"{_TYPE}structures_of_no_form"),
    # Sharding
    _row("must", "shard-starts", SHARDING, "Shards start where chunks_per_shard divides.",
         f"{_LAYOUT}the_example_of_the_text", f"{_CHUNK}new_arrays_with_shards_have_the_transformer"),
    _row("must", "shard-counts", SHARDING, "There is a count for each dimension.",
         f"{_CHUNK}the_counts_are_one_positive_integer_a_dimension",
         f"{_SHARD}the_number_of_dimensions_must_match"),
    _row("must", "shard-format", SHARDING, "The only format is indexed.",
         f"{_CHUNK}the_only_format_is_indexed", f"{_SHARD}invalid_configurations_raise"),
    _row("must", "shard-keys", SHARDING, "Keys of shards are keys of chunks, divided.",
         f"{_LAYOUT}the_example_of_the_text", f"{_LAYOUT}a_shard_is_named_as_its_chunks_are"),
    _row("may", "shard-separator", SHARDING, "The separator of keys may be configured.",
         f"{_CHUNK}new_arrays_with_shards_have_the_transformer", f"{_SHARDS}every_form_of_names"),
    _row("may", "shard-order", SHARDING, "Chunks may be in any order, with gaps.",
         f"{_SHARDS}any_order_gaps_and_overlaps_are_read_and_kept"),
    _row("must", "shard-index", SHARDING,
         "The index is at the end, little-endian, of all chunks that a shard can have.",
         f"{_SHARDS}the_bytes_of_a_shard",
         f"{_CHUNK}a_shard_has_its_chunks_and_their_index_at_the_end"),
    _row("must", "shard-empty", SHARDING, "Empty chunks have the largest numbers as entries.",
         f"{_CHUNK}missing_chunks_are_the_fill_value", f"{_SHARDS}the_bytes_of_a_shard"),
    _row("may", "shard-no-order", SHARDING, "No order is expected of chunks in a shard.",
         f"{_SHARDS}any_order_gaps_and_overlaps_are_read_and_kept"),
    _row("may", "shard-writing", SHARDING, "A strategy of writing may replace or append chunks.",
         f"{_SHARDS}partial_values_of_several_chunks_rewrite_the_shard_once"),
    _row("must not", "shard-strategy", SHARDING,
         "Parameters of the strategy of writing are not in the document.",
         f"{_CHUNK}new_arrays_with_shards_have_the_transformer",
         f"{_CHUNK}the_document_stays_that_of_a_transformer"),
    _row("should", "shard-get", SHARDING, "Partial values take two operations of the store.",
         f"{_SHARDS}partial_values_take_two_operations"),
    _row("must", "shard-set", SHARDING, "Chunks that are not updated are read and kept.",
         f"{_SHARDS}partial_values_of_several_chunks_rewrite_the_shard_once"),
    _row("may", "shard-read-whole", SHARDING, "A shard may be read completely instead.",
         f"{_SHARDS}partial_values_of_several_chunks_rewrite_the_shard_once"),
    _row("must", "shard-stored", SHARDING, "Shards that changed are stored.",
         f"{_SHARD}the_codec_reads_the_same", f"{_CHUNK}codec_and_transformer_read_the_same"),
    _row("may", "shard-append", SHARDING, "Stores that append may read the index only.",
         f"{_SHARDS}reading_a_chunk_reads_only_its_entry_and_bytes"),
    _row("may", "shard-erase", SHARDING, "Erasing may rewrite the index, or the shard.",
         f"{_SHARDS}all_chunks_of_a_shard_are_erased_without_reading_it",
         f"{_SHARDS}erasing_missing_chunks_changes_nothing"),
    _row("must", "shard-erase-prefix", SHARDING, "A prefix erases the chunks that it covers.",
         f"{_SHARDS}erasing_a_part_of_a_name",
         f"{_SHARDS}erase_of_whole_prefix_is_delegated"),
    _row("must", "shard-list", SHARDING, "Existing chunks are listed by their own keys.",
         f"{_SHARDS}keys_below_a_part_of_a_name", f"{_SHARDS}directly_below_a_part_of_a_name"),
    _row("may", "shard-list-prefixes", SHARDING, "Listed prefixes may hold nothing.",
         f"{_LAYOUT}prefixes_of_all_chunks_that_a_shard_can_have"),
    # Codecs
    _row("must", "endian", "Endian codec", "endian is required, big or little.",
         f"{_CODEC}endian_is_big_or_little", f"{_CODEC}byte_orders"),
    _row("must", "blosc-members", "Blosc codec", "cname, clevel, shuffle, blocksize have a range.",
         f"{_CODEC}blosc", f"{_CODEC}configurations_of_blosc_that_are_rejected",
         f"{_CODEC}members_of_blosc_are_required"),
    _row("must", "gzip-level", "Gzip codec", "level is an integer from 0 to 9.",
         f"{_CODEC}levels_of_gzip"),
    _row("should", "gzip-format", "Gzip codec", "Data conform to the gzip file format.",
         f"{_CODEC}gzip"),
    # File system store
    _row("must", "files", "File system store", "Keys are paths below a directory, and back.",
         "test_store_local.py::test_urls", f"{_FORMAT}a_prefix_that_holds_nothing_is_not_a_group",
         f"{_STORE_KEYS}list"),
]  # fmt: skip
