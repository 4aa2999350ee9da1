"""The requirements of version 2, with their tests."""

from clauses import Clause

METADATA = "Arrays, Metadata"
DTYPES = "Data type encoding"
FILL = "Fill value encoding"
PATHS = "Logical storage paths"
GROUPS = "Groups"

REQUIRED = ("test_v2_document.py::test_members_that_must_be_there",)
WRONG = "test_v2_document.py::test_wrong_members_are_rejected_at_their_place"
NEW = "test_v2_create.py::test_defaults"

CLAUSES = [
    *(
        Clause(
            f"array-{name}",
            METADATA,
            "MUST",
            f"The array document has the member {name}: {meaning}.",
            (*REQUIRED, WRONG, NEW),
        )
        for name, meaning in (
            ("zarr_format", "the integer 2"),
            ("shape", "the length of each dimension"),
            ("chunks", "the length of each dimension of a chunk"),
            ("dtype", "a string or list that is a data type"),
            ("compressor", "an object, or null"),
            ("fill_value", "a scalar, or null"),
            ("order", "C or F"),
            ("filters", "a list of objects, or null"),
        )
    ),
    Clause(
        "compressor-id",
        METADATA,
        "MUST",
        "The object of the compressor has an id.",
        (WRONG, "test_bad_v2.py::test_wrong_documents_are_rejected"),
    ),
    Clause(
        "filter-id",
        METADATA,
        "MUST",
        "The object of each filter has an id.",
        (WRONG, "test_bad_v2.py::test_wrong_documents_are_rejected"),
    ),
    Clause(
        "separator",
        METADATA,
        "MAY",
        "The array document may have a dimension_separator, which is a period or a slash.",
        (
            "test_v2_document.py::test_the_separator_is_a_period_unless_it_is_given",
            "test_v2_create.py::test_separators",
            WRONG,
        ),
    ),
    Clause(
        "separator-default",
        METADATA,
        "MUST",
        "Without a dimension_separator it is a period.",
        (
            "test_v2_document.py::test_the_separator_is_a_period_unless_it_is_given",
            "test_v2_format.py::test_the_separator_is_found_by_the_chunks",
        ),
    ),
    Clause(
        "separator-nested",
        METADATA,
        "SHOULD",
        "Where stores permit it, keys with slashes are directories within each other.",
        ("test_v2_format.py::test_nested_chunks_are_read_written_and_survive_a_pickle",),
    ),
    Clause(
        "array-other-written",
        METADATA,
        "SHOULD NOT",
        "New array documents have no other members.",
        (NEW, "test_v2_document.py::test_a_new_document"),
    ),
    Clause(
        "array-other-ignored",
        METADATA,
        "SHOULD",
        "Other members of array documents are ignored.",
        (
            "test_v2_document.py::test_other_members_mean_nothing",
            "test_v2_document.py::test_read_metadata_is_preserved",
        ),
    ),
    Clause(
        "byte-order",
        DTYPES,
        "MUST",
        "Simple data types say their byte order.",
        (
            "test_typestr.py::test_invalid_data_type_error_has_pointer",
            "test_typestr.py::test_a_missing_byte_order_is_pointed_out",
            "test_typestr.py::test_simple_types",
            "test_v2_create.py::test_data_types",
        ),
    ),
    Clause(
        "date-units",
        DTYPES,
        "MUST",
        "Dates and durations have a unit in square brackets.",
        (
            "test_typestr.py::test_dates_have_units",
            "test_typestr.py::test_dates_without_units_are_rejected",
        ),
    ),
    Clause(
        "fill-floats",
        FILL,
        "MUST",
        "Fill values of floats that are no numbers are NaN, Infinity, -Infinity as strings.",
        (
            "test_fill.py::test_values_are_read",
            "test_fill.py::test_invalid_value_error_has_pointer",
            "test_fill.py::test_forms_of_version_3_are_written_in_words_of_version_2",
            "test_v2_create.py::test_data_types",
        ),
    ),
    Clause(
        "fill-bytes",
        FILL,
        "MUST",
        "A fill value of byte strings or records that is not null is standard base64 in ASCII.",
        (
            "test_fill.py::test_bytes_are_base64_and_may_be_short",
            "test_fill.py::test_records_are_base64_of_their_bytes_in_their_byte_order",
            "test_fill.py::test_invalid_value_error_has_pointer",
            "test_v2_peers.py::test_records_of_and_to_zarr_python",
        ),
    ),
    Clause(
        "missing-chunks",
        "Chunks",
        "MUST",
        "A chunk that is not stored is one full of the fill value.",
        (
            "test_v2_create.py::test_data_types",
            "test_v2_create.py::test_chunks_of_nothing_but_the_fill_value",
            "test_v2_create.py::test_an_undefined_fill_value_keeps_every_chunk",
            "test_bad_v2.py::test_v09_an_undefined_fill_value_is_no_memory_of_others",
        ),
    ),
    Clause(
        "path-backslash",
        PATHS,
        "MUST",
        "Backslashes in paths stand for slashes.",
        ("test_v2_paths.py::test_other_spellings_mean_the_same_node",),
    ),
    Clause(
        "path-leading",
        PATHS,
        "MUST",
        "Slashes before a path are stripped.",
        (
            "test_v2_paths.py::test_slashes_at_the_ends_are_stripped",
            "test_v2_paths.py::test_other_spellings_mean_the_same_node",
        ),
    ),
    Clause(
        "path-trailing",
        PATHS,
        "MUST",
        "Slashes behind a path are stripped.",
        (
            "test_v2_paths.py::test_slashes_at_the_ends_are_stripped",
            "test_v2_paths.py::test_other_spellings_mean_the_same_node",
        ),
    ),
    Clause(
        "path-collapse",
        PATHS,
        "MUST",
        "Several slashes together are one.",
        ("test_v2_paths.py::test_other_spellings_mean_the_same_node",),
    ),
    Clause(
        "path-dots",
        PATHS,
        "MUST",
        "A part of a path that is one period or two is an error.",
        (
            "test_v2_paths.py::test_segments_that_are_dots_are_errors",
            "test_bad_v2.py::test_paths_do_not_lead_out_of_the_store",
        ),
    ),
    Clause(
        "group-parents",
        GROUPS,
        "MUST",
        "Making a group makes groups at all paths that lead to it.",
        ("test_v2_create.py::test_groups_that_lead_to_a_node_are_created",),
    ),
    Clause(
        "group-parents-root",
        GROUPS,
        "MUST",
        "That includes the root, unless it is there already.",
        ("test_v2_create.py::test_groups_that_lead_to_a_node_are_created",),
    ),
    Clause(
        "array-parents",
        GROUPS,
        "MUST",
        "Making an array makes groups at all paths that lead to it.",
        ("test_v2_create.py::test_groups_that_lead_to_a_node_are_created",),
    ),
    Clause(
        "array-parents-root",
        GROUPS,
        "must",
        "That includes the root, unless it is there already.",
        ("test_v2_create.py::test_groups_that_lead_to_a_node_are_created",),
    ),
    Clause(
        "group-zarr_format",
        GROUPS,
        "MUST",
        "The group document has the member zarr_format: the integer 2.",
        (
            "test_v2_document.py::test_groups_that_are_none",
            "test_v2_create.py::test_groups_that_lead_to_a_node_are_created",
        ),
    ),
    Clause(
        "group-other",
        GROUPS,
        "MUST NOT",
        "Group documents have no other members: none is written; those of others are kept.",
        (
            "test_v2_document.py::test_groups",
            "test_v2_document.py::test_unmanaged_keys_in_groups_are_kept",
            "test_v2_document.py::test_members_that_groups_of_version_2_do_not_have",
        ),
    ),
    Clause(
        "attributes-absent",
        "Attributes",
        "should",
        "Without attributes document there are no attributes.",
        ("test_v2_document.py::test_attributes", "test_v2_format.py::test_where_documents_are"),
    ),
    Clause(
        "clarified-units",
        "Changes, clarifications",
        "must",
        "Dates and durations need a unit.",
        ("test_typestr.py::test_dates_without_units_are_rejected",),
    ),
    Clause(
        "clarified-bytes",
        "Changes, clarifications",
        "should",
        "Fill values of byte strings are encoded as the section on fill values has it.",
        ("test_fill.py::test_bytes_are_base64_and_may_be_short",),
    ),
    Clause(
        "clarified-attributes",
        "Changes, clarifications",
        "should",
        "Neither arrays nor groups need an attributes document; without it they have none.",
        ("test_v2_document.py::test_attributes", "test_v2_document.py::test_groups"),
    ),
]
