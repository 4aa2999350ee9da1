"""The methods of the base class of stores."""

import pytest
from zarr_core.errors import StoreReadOnlyError
from zarr_core.interfaces.store import Store, StoreTraits


class Named(Store):
    """A store at the location of its URL."""

    def __init__(self, place="", read_only=False, endpoint=None):
        self.place, self.read_only, self.traits = place, read_only, StoreTraits(endpoint=endpoint)

    @property
    def url(self):
        return f"named://{self.place}"

    def get(self, key):
        return None

    def set(self, key, value):
        self._require_writable(key)

    def erase(self, key):
        self._require_writable(key)

    def list_prefix(self, prefix):
        return iter(())


class Nameless(Named):
    url = Store.url


def test_stores_of_one_class_and_place_are_equal():
    store = Named("a")
    assert store == Named("a", read_only=True)
    assert hash(store) == hash(Named("a", read_only=True))
    assert store != Named("b")
    assert store != Named("a", endpoint="elsewhere")
    assert store != type("Other", (Named,), {})("a")
    assert store != "named://a"


def test_a_store_without_a_url_equals_itself_only():
    store = Nameless()
    assert store == store
    assert store != Nameless()


def test_repr():
    assert repr(Named("a")) == "Named('named://a')"
    assert repr(Named("a", read_only=True)) == "Named('named://a', read_only=True)"


@pytest.mark.parametrize("prefix", ["", "nothing/"])
def test_erase_prefix_of_a_read_only_store_is_rejected(prefix):
    Named().erase_prefix(prefix)
    with pytest.raises(StoreReadOnlyError):
        Named(read_only=True).erase_prefix(prefix)
