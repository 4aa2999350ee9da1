"""The test of each fault for each kind of store, or the reason why there is none."""

import ast
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

DATABASES = ("sqlite", "lmdb", "dbm")
SERVERS = ("redis", "mongodb", "postgresql")
KINDS = ("directory", "zip", *DATABASES, *SERVERS, "object", "http", "fsspec")

NO_LINE = "there is no connection"

FILES = {
    "local": "zarr-core/test_store_local.py",
    "local_read": "zarr-core/test_store_local_read.py",
    "local_processes": "zarr-core/test_store_local_processes.py",
    "zip": "zarr-stores/test_zip.py",
    "places": "zarr-stores/test_zip_places.py",
    "databases": "zarr-stores/test_databases.py",
    "dbm": "zarr-stores/test_dbm.py",
    "full": "zarr-stores/test_full_disk.py",
    "contract": "database_contract.py",
    "servers": "server_store_contract.py",
    "stores": "zarr-stores/test_server_stores.py",
    "faults": "reliability/test_object_faults.py",
    "updates": "reliability/test_object_updates.py",
    "processes": "reliability/test_object_processes.py",
    "killed": "reliability/test_killed.py",
    "object": "zarr-stores/test_object.py",
    "fsspec": "zarr-stores/test_fsspec_places.py",
    "flight": "zarr-stores/test_fsspec_flight.py",
    "missing": "reliability/test_missing.py",
    "copying": "zarr-transfer/test_copy_nodes.py",
    "synchronizers": "zarr-stores/test_synchronizers.py",
    "foreign": "zarr-stores/test_foreign_objects.py",
}


CLASSES = {
    "sqlite": ("databases", "TestSQLiteStore"),
    "lmdb": ("databases", "TestLMDBStore"),
    "redis": ("stores", "TestRedisStore"),
    "mongodb": ("stores", "TestMongoDBStore"),
    "postgresql": ("stores", "TestPostgreSQLStore"),
}
"""Where a kind of store has the tests of a contract."""


def each(kinds, told):
    return dict.fromkeys(kinds, told)


LOCAL = ("directory", "zip", *DATABASES)
FOR_ONE = "is used by one process at a time"
HTTP_READS = "is read only, unless it has WebDAV, which has no conditions"
SAME = "the same code as for buckets"

TABLE = {
    "connection refused": {
        **each(LOCAL, NO_LINE),
        **each(SERVERS, "servers::test_a_server_that_is_not_there"),
        "object": "faults::test_rejected_connections",
        "http": "object::test_errors_contain_no_signed_urls",
        "fsspec": "flight::test_s3_rejected_connections_are_not_missing_values",
    },
    "reset in the middle of a body": {
        **each(LOCAL, NO_LINE),
        **each(SERVERS, "servers::test_an_answer_that_breaks_off_is_asked_for_again"),
        "object": "faults::test_a_failed_read_is_an_error_that_names_store_and_key",
        "http": SAME,
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "the answer to a change is lost": {
        **each(LOCAL, NO_LINE),
        **each(SERVERS, "servers::test_a_change_is_made_once_wherever_the_line_breaks"),
        "object": "updates::test_completed_work_is_not_repeated",
        "http": HTTP_READS,
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "throttling": {
        **each(LOCAL, NO_LINE),
        **each(SERVERS, "none of their protocols has it"),
        "object": "faults::test_reads_are_repeated",
        "http": SAME,
        "fsspec": "the libraries beneath repeat as they are told to",
    },
    "truncated body": {
        "directory": "local_read::test_short_reads_are_continued",
        "zip": "zip::test_every_cut_of_an_archive_is_noticed",
        **each(DATABASES, "the libraries check their files"),
        **each(SERVERS, "servers::test_an_answer_that_breaks_off_is_asked_for_again"),
        "object": "faults::test_half_a_body_is_never_a_value",
        "http": "faults::test_a_failed_read_is_an_error_that_names_store_and_key",
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "wrong content length": {
        "directory": "nothing but the file says how long it is",
        "zip": "zip::test_every_flipped_byte_is_harmless_or_noticed",
        **each(DATABASES, "the libraries check their files"),
        **each(SERVERS, "frames of their protocols, which the libraries check"),
        "object": "faults::test_another_part_than_was_asked_for_is_rejected",
        "http": "faults::test_another_part_than_was_asked_for_is_rejected",
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "permission denied": {
        "directory": "local_read::test_other_failures_are_not_missing_values",
        "zip": "places::test_errors_name_the_archive_and_the_key",
        **each(DATABASES, "databases::test_a_permission_error_is_not_a_missing_database"),
        "redis": "stores::test_a_password",
        "mongodb": "servers::test_secrets_are_hidden",
        "postgresql": "stores::test_missing_privileges_raise",
        "object": "faults::test_permanent_errors_are_not_retried",
        "http": SAME,
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "disk full": {
        "directory": "local::test_a_full_disk_keeps_the_old_value",
        "zip": "zip::test_a_full_disk_keeps_the_old_values",
        **each(DATABASES, "full::test_a_database"),
        **each(("redis", "postgresql"), "full::test_a_database_server"),
        "mongodb": "the server of the tests ends itself; what that is like is tried by killing it",
        "object": "a status like any other: faults::test_a_failed_write_is_an_error",
        "http": SAME,
        "fsspec": "fsspec::test_a_failed_write_leaves_the_old_value_and_nothing_else",
    },
    "a key deleted between list and get": {
        **each(KINDS, "copying::test_a_value_that_vanishes_meanwhile"),
        "object": "faults::test_a_key_that_goes_between_list_and_get",
        "fsspec": "flight::test_s3_faults_are_retried_or_reported",
    },
    "two processes change the same key": {
        "directory": "local_processes::test_processes_and_threads_that_change_one_value_lose_nothing",
        "zip": "zip::test_one_writer_at_a_time",
        **each(("sqlite", "lmdb"), "contract::test_processes_with_threads_lose_nothing"),
        "dbm": "dbm::test_only_one_process_can_write",
        **each(SERVERS, "contract::test_processes_with_threads_lose_nothing"),
        "object": "processes::test_no_cell_is_lost",
        "http": HTTP_READS,
        "fsspec": "synchronizers::test_four_processes_of_four_threads_lose_nothing_in_one_shard",
    },
    "clock skew": {
        **each(LOCAL, "no clock is looked at"),
        **each(("redis", "mongodb", "postgresql"), "no clock is looked at"),
        "object": "faults::test_a_failed_read_is_an_error_that_names_store_and_key",
        "http": "no clock is looked at",
        "fsspec": "as the library beneath says",
    },
    "a place that does not exist": {
        "directory": "missing::test_opening_fails_for_what_cannot_be_read_and_creates_nothing",
        "zip": "zip::test_opening_creates_nothing",
        **each(("sqlite", "lmdb"), "contract::test_reading_creates_nothing"),
        "dbm": "dbm::test_wrong_arguments_and_files",
        **each(("redis", "postgresql"), "servers::test_a_missing_database_raises"),
        "mongodb": "contract::test_reading_creates_nothing",
        "object": "faults::test_missing_bucket",
        "http": "object::test_arrays_are_read_by_http",
        "fsspec": "flight::test_s3_errors_name_the_problem",
    },
    "a writer, or the server, is killed": {
        "directory": "local_processes::test_killed_writers_leave_old_or_new_values",
        "zip": "zip::test_complete_values_of_a_killed_writer_are_recovered",
        **each(("sqlite", "lmdb"), "databases::test_a_killed_writer_loses_no_acknowledged_value"),
        "dbm": "dbm::test_values_survive_a_killed_process",
        **each(SERVERS, "servers::test_acknowledged_values_survive_kills"),
        "object": "processes::test_acknowledged_values_survive_a_killed_server",
        "http": HTTP_READS,
        "fsspec": "as the file system does it",
    },
    "names of others that are no keys": {
        "directory": "local::test_names_of_the_store_itself_are_rejected",
        "zip": "zip::test_entries_outside_the_archive_are_not_keys",
        **each(DATABASES, "foreign::test_foreign_names_in_databases"),
        "redis": "stores::test_foreign_names_are_not_keys",
        "mongodb": "stores::test_foreign_documents_are_not_keys",
        "postgresql": "stores::test_the_table_can_be_used_by_others",
        "object": "foreign::test_foreign_objects",
        "http": "a server of files has none",
        "fsspec": "foreign::test_foreign_objects",
    },
}


@cache
def names_in(file):
    """Return the names of the tests in a file, and those that each of its classes disables."""
    there, left_out = set(), {}
    for node in ast.walk(ast.parse((TESTS / file).read_text())):
        if isinstance(node, ast.FunctionDef):
            there.add(node.name)
        elif isinstance(node, ast.ClassDef):
            disabled = [it for it in node.body if ast.unparse(it).endswith(" = None")]
            left_out[node.name] = {ast.unparse(it).partition(" ")[0] for it in disabled}
    return there, left_out


@pytest.mark.parametrize("fault", TABLE)
def test_every_fault_is_tested_for_every_store(fault):
    row = TABLE[fault]
    assert set(row) == set(KINDS)
    for kind, told in row.items():
        file, separator, test = told.partition("::")
        if not separator or " " in file:
            assert " " in told  # a reason
            continue
        assert test in names_in(FILES[file])[0], f"{kind}: {told}"
        if file in ("contract", "servers"):
            file, name = CLASSES[kind]
            assert test not in names_in(FILES[file])[1][name], f"{kind} leaves out {test}"
