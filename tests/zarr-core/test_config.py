"""Settings of the process."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from zarr_core.config import _EXTENSION_POINTS, Config, Settings
from zarr_core.registry.extension_points import EXTENSION_POINTS

config_module = sys.modules[Config.__module__]


@pytest.fixture
def config(monkeypatch):
    for name in ("THREADS", "PROVIDERS", "DISABLE_PLUGINS"):
        monkeypatch.delenv(f"ZARR_CORE_{name}", raising=False)
    return Config()


def test_defaults_need_no_thought(config):
    assert config.settings == Settings()
    assert "threads=None" in repr(config)


def test_a_change_lasts_until_the_end_of_its_block(config):
    with config.set({"threads": 3}, write_empty_chunks=True):
        assert config.settings.threads == 3
        with config.set(threads=0):
            assert config.settings.threads == 0
            assert config.settings.write_empty_chunks
        assert config.settings.threads == 3
    assert config.settings == Settings()


def test_a_change_without_a_block_stays(config):
    config.set(missing_chunks="error")
    assert config.settings.missing_chunks == "error"


@pytest.mark.parametrize(
    "changes",
    [
        {"disabled_plugins": {"acme"}},
        {"providers": {"codec.gzip": "acme"}},
        {"fallback": "use"},
        {"encoded_slack_nbytes": 1},
    ],
)
def test_a_change_that_affects_extensions_is_a_new_version(config, changes):
    before = config.version
    with config.set(**changes):
        within = config.version
        assert within != before
    assert config.version == before  # what was cached is valid again
    with config.set(**changes):
        assert config.version == within
        config.invalidate_caches()
        assert config.version not in (before, within)
    assert config.version not in (before, within)


@pytest.mark.parametrize("changes", [{"threads": 1}, {"missing_chunks": "error"}, {}])
def test_other_changes_keep_what_is_cached(config, changes):
    before = config.version
    with config.set(**changes):
        assert config.version == before
    assert config.version == before


AT_LEAST_1 = "must be None or an integer of at least 1"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *[("threads", value, "must be None or an integer of at least 0") for value in (-1, True, 2.0)],
        *[("max_metadata_nbytes", value, AT_LEAST_1) for value in (0, -1, 1.5, True, "1")],
        *[
            ("remote_memory_nbytes", value, "must be an integer of at least 1")
            for value in (0, -1, True, 1.5, "1", None)
        ],
        ("fallback", "perhaps", 'must be "error", "warn" or "use", not \'perhaps\''),
        ("missing_chunks", "ignore", 'must be "fill" or "error"'),
        ("disabled_plugins", "zarr-codecs", r"must be .*such as \{'zarr-codecs'\}, not 'zarr-codecs'"),
        ("disabled_plugins", 5, "must be a collection"),
        *[
            ("providers", value, "must be a mapping of extension points and names")
            for value in (
                {"gzip": "zarr-codecs"}, {"codecs.gzip": "zarr-codecs"}, {"codec.": "zarr-codecs"},
                {"codec.gzip": ""}, {"codec.gzip": ["zarr-codecs"]}, ["codec.gzip"],
            )
        ],
        ("chunk_cache", 2**30, "must be a zarr_stores.cache.lru_cache.CachePool"),
    ],
)  # fmt: skip
def test_values_that_mean_nothing_are_rejected_and_change_nothing(config, name, value, message):
    with pytest.raises(ValueError, match=f"{name} {message}"):
        config.set(**{name: value})
    assert config.settings == Settings()


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("THREADS", "5", 5),
        ("MAX_METADATA_NBYTES", "1000", 1000),
        ("REMOTE_MEMORY_NBYTES", "1000", 1000),
        ("MISSING_CHUNKS", "error", "error"),
        ("PROVIDERS", "codec.gzip = a, store.s3=b", {"codec.gzip": "a", "store.s3": "b"}),
        ("DISABLE_PLUGINS", "x, y", {"x", "y"}),
    ],
)
def test_the_environment_is_read_at_first_use(config, monkeypatch, variable, text, value):
    monkeypatch.setenv(f"ZARR_CORE_{variable}", text)
    name = variable.lower().replace("disable_", "disabled_")
    assert getattr(config.settings, name) == value


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("THREADS", "many"),
        ("NATIVE", "0"),
        ("PROVIDERS", "codec.gzip"),
        ("RESERVED_NAMES", "ignore"),
        ("MAX_METADATA_NBYTES", "1 GiB"),
        ("REMOTE_MEMORY_NBYTES", "-1"),
        ("REMOTE_MEMORY_NBYTES", "1G"),
    ],
)
def test_invalid_value_in_the_environment_names_its_variable(config, monkeypatch, variable, value):
    monkeypatch.setenv(f"ZARR_CORE_{variable}", value)
    expected = f"environment variable ZARR_CORE_{variable}: {variable.lower()} must .*{value!r}"
    with pytest.raises(ValueError, match=expected) as caught:
        config.settings  # noqa: B018 - a property that reads the environment
    assert variable != "PROVIDERS" or "in the environment, ZARR_CORE_PROVIDERS=" in str(
        caught.value
    )


def test_extension_points_match_the_registry():
    everyone_is_asked = {"hooks"}
    assert set(_EXTENSION_POINTS) == set(EXTENSION_POINTS) - everyone_is_asked


def test_the_memory_for_remote_chunks_is_the_limit_of_their_reads():
    from zarr_core import config
    from zarr_core.engine.scratch import remote_memory

    with config.set(remote_memory_nbytes=1234):
        assert remote_memory.limit == 1234
    assert remote_memory.limit == 3 << 23


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_a_block_restores_only_what_it_changed(config):
    with config.set(fallback="use"):
        in_thread(lambda: config.set(missing_chunks="error"))
        config.set(threads=2)
    assert config.settings == Settings(missing_chunks="error", threads=2)


@pytest.mark.parametrize("run", [in_thread, lambda function: function()])
def test_a_block_keeps_what_was_set_since(config, run):
    with config.set(native="off", fallback="use"):
        run(lambda: config.set(native="require"))
    assert config.settings == Settings(native="require")


@pytest.mark.parametrize("first", [0, 1])
def test_blocks_of_two_threads_that_overlap_restore_what_was_before_both(config, first):
    config.set(remote_memory_nbytes=10)
    blocks = [config.set(remote_memory_nbytes=20), None]
    blocks[0].__enter__()

    def enter_second():
        blocks[1] = config.set(remote_memory_nbytes=30)
        blocks[1].__enter__()

    in_thread(enter_second)
    blocks.pop(first).__exit__(None, None, None)
    assert config.settings.remote_memory_nbytes == (20 if first else 30)
    blocks.pop().__exit__(None, None, None)
    assert config.settings.remote_memory_nbytes == 10


def test_changes_of_several_threads_are_all_kept(config, monkeypatch):
    changes = [
        {"threads": 1}, {"fallback": "use"}, {"write_empty_chunks": True}, {"native": "off"},
        {"missing_chunks": "error"}, {"reserved_names": "warn"}, {"max_metadata_nbytes": 9},
    ]  # fmt: skip
    checked, barrier = config_module._checked, threading.Barrier(len(changes))

    def slow(settings):  # other threads run before the change is applied
        time.sleep(0.01)
        return checked(settings)

    def change(values):
        barrier.wait()
        config.set(**values)

    monkeypatch.setattr(config_module, "_checked", slow)
    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(change, changes))
    assert config.settings == Settings(**{name: it[name] for it in changes for name in it})
