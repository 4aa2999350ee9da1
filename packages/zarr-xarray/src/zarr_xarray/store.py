"""The group that xarray writes a dataset to."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Any

from xarray import conventions
from zarr_core.extension import ZarrError, in_flight

from zarr_xarray import _xarray
from zarr_xarray.committing import commit, load_what_is_replaced
from zarr_xarray.dimensions import dimensions_of, shown
from zarr_xarray.documents import StaleError
from zarr_xarray.plans import Plan, Rules, plan
from zarr_xarray.variables import variable_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from xarray import Dataset, Variable
    from zarr_core import Array, Group

    from zarr_xarray.target import Target

    Held = tuple["DatasetStore", Sequence[Plan], Mapping[str, Any], Any]

_ATTEMPTS = 8
_PAUSE = 0.01  # seconds, twice as long each time


def _fill(planned: tuple[Plan, Array]) -> None:
    item, array = planned
    array[item.region or ...] = item.variable.data


def _store(target: Target, plans: Sequence[Plan], arrays: Sequence[Array], writer: Any) -> None:
    """Store elements that are in memory, and hand the others on."""
    at_once = []
    for item, array in zip(plans, arrays, strict=True):
        if item.variable.chunks is None:
            at_once.append((item, array))
        else:
            writer.add(item.variable.data, array, item.region)
    for _ in in_flight(at_once, _fill, target.store.requests):
        pass


class DatasetStore(_xarray.ZarrStore):
    """A group to which variables are written.

    Parameters
    ----------
    target : Target
        The group.
    mode, append_dim, region, safe_chunks, align_chunks
        As for :meth:`xarray.Dataset.to_zarr`.
    held : list, optional
        Takes what is planned, in place of the store, until :meth:`store_held` is called: nodes
        of a tree are stored once all of them are planned.

    Notes
    -----
    How variables are encoded is xarray's; what is stored when, is not.  All is planned before
    anything is stored.  Then come the documents, each once, then the elements.
    """

    __slots__ = ("held", "target")

    def __init__(
        self,
        target: Target,
        mode: str,
        append_dim: Hashable | None = None,
        region: Any = None,
        safe_chunks: bool = True,
        align_chunks: bool = False,
        held: list[Held] | None = None,
    ) -> None:
        self.target = target
        self.held = held
        self._mode = mode
        self._append_dim = append_dim
        self._write_region = region
        self._safe_chunks = safe_chunks
        self._align_chunks = align_chunks

    def get_child_store(self, group: str) -> DatasetStore:
        """A group below, made when it is written to if it is not there."""
        return type(self)(
            self.target.child(group), self._mode, self._append_dim, self._write_region,
            self._safe_chunks, self._align_chunks, self.held,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.target, self._mode, self._append_dim, self._write_region, self._safe_chunks,
            self._align_chunks,
        )  # fmt: skip

    # --- what is there ---

    @property
    def zarr_group(self) -> Group | None:
        """The group, opened for writing; None if nothing was written yet."""
        return self.target.opened()

    def array_keys(self) -> tuple[str, ...]:
        return tuple(self.target.arrays())

    def arrays(self) -> tuple[tuple[str, Any], ...]:
        return tuple(self.target.arrays().items())

    def open_store_variable(self, name: str) -> Variable:
        """The variable that an array is.

        Raises
        ------
        KeyError
            If there is no such array.
        """
        return variable_of(self.target.stored([name])[name])

    def get_variables(self) -> dict[str, Variable]:
        return {name: variable_of(array) for name, array in self.target.arrays().items()}

    def get_attrs(self) -> dict[str, Any]:
        group = self.target.opened()
        return {} if group is None else shown(group.attrs.asdict())

    def get_dimensions(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for array in self.target.arrays().values():
            names = dimensions_of(array, array.attrs.asdict())
            sizes.update(zip(names, array.shape, strict=True))
        return sizes

    def in_region(self, dataset: Dataset) -> Dataset:
        """The part of a dataset that is written, with the region found that it belongs to.

        Raises
        ------
        ValueError
            If a region is not contiguous, or variables have no dimension of it.
        KeyError
            If coordinates are not among those that are stored.
        """
        return self._validate_and_autodetect_region(dataset)

    def check_encoding(self, encoding: Collection[str]) -> None:
        """Refuse encodings of variables that are there."""
        if encoding and self._mode in ("a", "a-", "r+"):
            for name in self.target.stored(map(_xarray.encode_name, encoding)):
                raise ValueError(f"variable {name!r} already exists, but encoding was provided")

    # --- writing ---

    def encode_variable(self, variable: Variable, name: Hashable | None = None) -> Variable:
        encoded: Variable = _xarray.encode_variable(variable, name=name)
        return encoded

    def encode_attribute(self, a: Any) -> Any:
        return _xarray.encode_attribute(a)

    def store(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        check_encoding_set: Collection[Hashable] = frozenset(),
        writer: Any = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Store variables, those of chunked arrays once the writer is told to.

        Parameters
        ----------
        variables : mapping
            Variables by name.
        attributes : mapping
            Attributes of the group.
        check_encoding_set : collection
            Names of those whose encoding the user gave.
        writer : ArrayWriter, optional
            Takes the elements.
        unlimited_dims : optional
            Ignored: all dimensions can grow.
        """
        writer = _xarray.ArrayWriter() if writer is None else writer
        if self.held is not None:
            planned = self._planned(variables, attributes, check_encoding_set, trust=False)
            self.held.append((self, *planned, writer))
            return
        trust = self._append_dim is not None
        for attempt in range(_ATTEMPTS):
            try:
                plans, encoded = self._planned(variables, attributes, check_encoding_set, trust)
                load_what_is_replaced(self.target, plans)
                arrays = commit(self.target, plans, encoded, self._mode)
                break
            except StaleError:
                # Copies that nobody kept in step, or somebody who appends as well.
                sleep(0 if trust else _PAUSE * 2**attempt)
                trust = False
        else:
            raise ZarrError(
                f"{self.target.store} {'/' + self.target.path!r} cannot be appended to along "
                f"{self._append_dim!r}: its arrays differ in length, as after an append that was "
                "interrupted, or others change them all the time; resize() them to one length"
            )
        _store(self.target, plans, arrays, writer)

    def store_held(self) -> None:
        """Store what was held back: the documents of all nodes, then the elements."""
        held = self.held or ()
        load_what_is_replaced(self.target, [item for _, plans, _, _ in held for item in plans])
        stored = [
            (node, plans, commit(node.target, plans, attributes, self._mode), writer)
            for node, plans, attributes, writer in held
        ]
        for node, plans, arrays, writer in stored:
            _store(node.target, plans, arrays, writer)

    def close(self) -> None:
        if self.target.closes:
            self.target.store.close()

    def _planned(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        explicit: Collection[Hashable],
        trust: bool,
    ) -> tuple[list[Plan], dict[str, Any]]:
        """Plans, with the attributes of the group as they are stored."""
        known = self._known(variables, trust)
        if not self._of_one_length(known):
            raise StaleError(self.target.path)
        encoded, encoded_attributes = self._encoded(variables, attributes, known)
        return self._plans(encoded, known, explicit), encoded_attributes

    def _known(self, variables: Mapping[Hashable, Variable], trust: bool) -> dict[str, Array]:
        """The arrays of these variables that are there.

        To arrays that grow, the documents say again whether they are what copies
        of them say; the others would go unnoticed.
        """
        if self._mode == "w" or self.target.group is None:
            return {}
        names = {_xarray.encode_name(name): variable for name, variable in variables.items()}
        growing = [name for name, item in names.items() if self._append_dim in item.dims]
        found = self.target.copied(growing) if trust else {}
        return found | self.target.stored(name for name in names if name not in found)

    def _of_one_length(self, known: Mapping[str, Array]) -> bool:
        """Whether arrays end together along the dimension that grows.

        If not, somebody is about to let them grow, one after the other, or was interrupted.
        """
        lengths: set[int] = set()
        for array in known.values() if self._append_dim is not None else ():
            sizes = zip(dimensions_of(array, array.attrs.asdict()), array.shape, strict=True)
            lengths.update(size for name, size in sizes if name == self._append_dim)
        return len(lengths) <= 1

    def _encoded(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        known: Mapping[str, Array],
    ) -> tuple[dict[Hashable, Variable], dict[str, Any]]:
        """Variables as they are stored: those that are there, as they are stored there."""
        old = {name for name in variables if _xarray.encode_name(name) in known}
        new = {name: item for name, item in variables.items() if name not in old}
        if self._mode == "r+" and new:
            raise ValueError(
                f"dataset contains non-pre-existing variables {list(new)!r}: mode='r+' writes "
                "over those that are there; mode='a' makes new ones, too"
            )
        self._check_append_dim(known)
        untyped: Any = self
        encoded, encoded_attributes = untyped.encode(new, attributes)
        there, _, _ = conventions.decode_cf_variables(
            {name: variable_of(known[_xarray.encode_name(name)]) for name in old}, {}
        )
        alike = {}
        for name in old:
            _xarray.check_append_dtype(name, there[name], variables[name])
            alike[name] = variables[name].copy(deep=False)
            alike[name].encoding = there[name].encoding
        alike, _ = untyped.encode(alike, {})
        for name, variable in alike.items():
            encoded[name] = _xarray.fit_dimensions(
                name, variable, there[name], self._write_region, self._append_dim
            )
        if self._mode == "a-" and self._append_dim is not None:
            encoded = {
                name: item
                for name, item in encoded.items()
                if name not in old or self._append_dim in item.dims
            }
        return encoded, encoded_attributes

    def _check_append_dim(self, known: Mapping[str, Array]) -> None:
        if self._append_dim is None or any(
            self._append_dim in dimensions_of(array, array.attrs.asdict())
            for array in known.values()
        ):
            return
        sizes = self.get_dimensions()
        if self._append_dim not in sizes:
            raise ValueError(
                f"append_dim={self._append_dim!r} does not match any existing dataset dimensions "
                f"{sizes}"
            )

    def _plans(
        self,
        variables: Mapping[Hashable, Variable],
        known: Mapping[str, Array],
        explicit: Collection[Hashable],
    ) -> list[Plan]:
        rules = Rules(
            self.target.format,
            self._mode,
            self._append_dim,
            self._write_region or {},
            self._safe_chunks and not self._align_chunks,
            self._align_chunks,
            self.target.keep_empty,
        )
        return [
            plan(
                name, variable, known.get(_xarray.encode_name(name)), rules,
                explicit=name in explicit,
            )
            for name, variable in variables.items()
        ]  # fmt: skip
