"""The stores accept the URLs of servers in the documentation."""

import re
from importlib import import_module
from urllib.parse import urlsplit

import pytest
from markdown_pages import DOCUMENTS

STORES = {
    "redis": ("zarr_stores.databases.redis", "RedisStore"),
    "mongodb": ("zarr_stores.databases.mongodb", "MongoDBStore"),
    "postgresql": ("zarr_stores.databases.postgresql", "PostgreSQLStore"),
}
URL = re.compile(rf"[\"']((?:{'|'.join(STORES)})://[^\"'\s]+)[\"']")
URLS = sorted({url for file in DOCUMENTS for url in URL.findall(file.read_text())})


def problem(url):
    """The problem of a URL of a database server; empty if it is valid."""
    from zarr_core.errors import StoreError

    if "/" in urlsplit(url).path.strip("/"):
        return "the path is the name of a database; what is in it is named in the query"
    module, name = STORES[url.partition(":")[0]]
    try:
        getattr(import_module(module), name).from_url(url)
    except StoreError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("url", URLS)
def test_a_url_in_the_documents_is_accepted(url):
    pytest.importorskip(
        {"mongodb": "pymongo", "postgresql": "psycopg"}.get(url.partition(":")[0], "redis")
    )
    assert problem(url) == ""


def test_invalid_urls_are_found():
    assert {url.partition(":")[0] for url in URLS} == {*STORES}
    assert problem("redis://localhost:6379/0/prefix")
    assert problem("postgresql://localhost/database/table")
