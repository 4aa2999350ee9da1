"""No command prints control characters of stored text."""

import json
import shutil

import click
import pytest
import zarr_core as zarr
from click.testing import CliRunner
from hostile_text import NAME, SIGNS, create, raw_signs, sabotage
from zarr_cli.command_group import cli
from zarr_cli.path_completion import complete

GROUP, ARRAY = f"h.zarr#{NAME}", f"h.zarr#{NAME}/a{NAME}"
BROKEN = [
    "codec", "ignored_codec", "configuration", "data_type", "fill", "member", "grid", "type",
    "dimension", "struct", "twice", "no_json", "nan",
]  # fmt: skip


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory):
    """Create a folder with hostile hierarchies of versions 3 and 2, and one with damaged nodes."""
    folder = tmp_path_factory.mktemp("hostile")
    with zarr.resolve_store_path(folder / "h.zarr", read_only=False)[0] as store:
        create(store)
    with zarr.resolve_store_path(folder / "h2.zarr", read_only=False)[0] as store:
        create(store, 2)
    with zarr.resolve_store_path(folder / "broken.zarr", read_only=False)[0] as store:
        create(store)
        sabotage(store)
    with zarr.resolve_store_path(folder / "other.zarr", read_only=False)[0] as store:
        zarr.create_group(store, attributes={NAME: 1})
    return folder


@pytest.fixture
def here(example_folder, tmp_path, monkeypatch):
    """Return a writable copy of the folder."""
    shutil.copytree(example_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    done = CliRunner().invoke(cli, [*words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout, done.stderr


QUERIES = [
    ("info", "h.zarr"),
    ("info", GROUP, "--stored"),
    ("info", ARRAY, "--stored"),
    ("info", "h.zarr#text"),
    ("tree", "h.zarr", "--attrs"),
    ("ls", "h.zarr"),
    ("ls", "-lr", "h.zarr"),
    ("ls", "-s", GROUP),
    ("attrs", "get", GROUP),
    ("attrs", "get", GROUP, "nested"),
    ("attrs", "get", GROUP, "missing"),
    ("attrs", "rm", GROUP, "missing"),
    ("meta", GROUP),
    ("meta", ARRAY, "--v3"),
    ("cat", "h.zarr#text"),
    ("cat", "h.zarr#text", "-f", "json"),
    ("cat", ARRAY, f"{NAME}=0"),
    ("cat", ARRAY, f"missing{NAME}=0"),
    ("cat", GROUP),
    ("chunks", ARRAY),
    ("check", "h.zarr"),
    ("check", "h.zarr", "--meta-only"),
    ("diff", "h.zarr", "other.zarr"),
    ("diff", "h.zarr", "h2.zarr"),
    ("diff", "h.zarr", "broken.zarr"),
    ("bench-codec", ARRAY),
    ("consolidate", "h2.zarr"),
    ("convert", "h.zarr", "new.zarr", "--zarr-format", "2", "--dry-run"),
    ("convert", "h2.zarr", "new.zarr", "--zarr-format", "3", "--dry-run"),
    ("copy", "h.zarr", "new.zarr", "--dry-run"),
    ("copy", "h.zarr", f"other.zarr#{NAME}"),
    ("move", "h2.zarr", f"moved{NAME}.zarr", "--dry-run"),
    ("remove", GROUP, "--dry-run"),
    ("rechunk", ARRAY, "new.zarr", "--chunks", "1,1", "--dry-run"),
    ("tree", f"missing{NAME}.zarr"),
    ("info", f"h.zarr#missing{NAME}"),
    (f"no{NAME}command",),
    ("tree", "broken.zarr"),
    ("ls", "-lr", "broken.zarr"),
    ("check", "broken.zarr", "--meta-only"),
    ("check", "broken.zarr"),
    *(("info", f"broken.zarr#{name}{NAME}") for name in BROKEN),
    *(("meta", f"broken.zarr#{name}{NAME}") for name in BROKEN),
    *(("copy", f"broken.zarr#{name}{NAME}", "other.zarr#new") for name in BROKEN),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words", QUERIES, ids=lambda words: ascii(" ".join(words))[:60])
def test_output(here, words):
    printed = run(*words)
    assert any(printed)
    for text in printed:
        assert not raw_signs(text), text


JSON = {"info", "tree", "ls", "chunks", "check", "diff", "convert", "copy", "remove"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "words",
    [words for words in QUERIES if words[0] in JSON],
    ids=lambda words: ascii(" ".join(words))[:60],
)
def test_json(here, words):
    printed, errors = run(*words, "--json")
    assert not raw_signs(printed)
    assert not raw_signs(errors)
    if printed:
        json.loads(printed)


def test_json_has_the_stored_text(here):
    assert json.loads(run("attrs", "get", GROUP)[0])[NAME] == SIGNS
    assert json.loads(run("cat", "h.zarr#text", "-f", "json")[0]) == [SIGNS, NAME]
    assert json.loads(run("tree", "h.zarr", "--json")[0])["members"][0]["path"] == f"/{NAME}"


def test_csv_and_raw_documents_have_the_stored_text(here):
    csv = run("cat", "h.zarr#text", "-f", "csv")[0]  # CliRunner changes line ends
    assert SIGNS.replace("\r\n", "\n") in csv
    raw = run("meta", GROUP, "--raw")[0]
    assert json.loads(raw)["attributes"][NAME] == SIGNS


def test_completion_omits_hostile_names(here):
    names = [item.value for item in complete(None, None, "h.zarr#")]
    assert names == ["h.zarr#text"]


@pytest.mark.parametrize(
    "words",
    [
        ("info", ARRAY), ("tree", "h.zarr", "--attrs"), ("ls", "-l", "h.zarr"), ("meta", GROUP, "--raw"),
        ("cat", "h.zarr#text"), ("cat", "h.zarr#text", "-f", "csv"), ("chunks", ARRAY),
        ("info", f"h.zarr#missing{NAME}"),
    ],
    ids=lambda words: ascii(" ".join(words))[:40],
)  # fmt: skip
def test_a_terminal(here, on_terminal, words):
    shown = click.unstyle(on_terminal(*words))
    assert shown
    assert not raw_signs(shown, keep="\r\n")
