"""The group that xarray writes a dataset to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarray import conventions
from zarr_core.extension import ZarrError
from zarr_core.hierarchy.create_node import permit_nodes
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.threads import concurrent_map

from zarr_xarray import _xarray
from zarr_xarray.commit import commit, load_overwritten
from zarr_xarray.dimensions import sizes_of, user_attributes
from zarr_xarray.encoded_elements import StoredForm, check_new, encode_existing
from zarr_xarray.encodings import without_native_fill_value
from zarr_xarray.plans import Plan, Rules, plan
from zarr_xarray.variables import variable_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from xarray import Dataset, Variable
    from zarr_core import Array, Group

    from zarr_xarray.target import Target

    DeferredWrite = tuple[
        "DatasetStore", Mapping[Hashable, Variable], Mapping[str, Any], Collection[Hashable], Any
    ]


def _fill(planned: tuple[Plan, Array]) -> None:
    item, array = planned
    array[item.region or ...] = item.variable.data


def _store(target: Target, plans: Sequence[Plan], arrays: Sequence[Array], writer: Any) -> None:
    """Write elements that are in memory; pass chunked arrays to the writer."""
    at_once = []
    for item, array in zip(plans, arrays, strict=True):
        if item.variable.chunks is None:
            at_once.append((item, array))
        else:
            writer.add(item.variable.data, array, item.region)
    for _ in concurrent_map(at_once, _fill, target.store.max_concurrency):
        pass


class DatasetStore(_xarray.ZarrStore):
    """A group to which variables are written.

    xarray encodes the variables.  Everything is planned before anything is stored.  The metadata
    documents are written first, each once, then the elements.  ``deferred`` has the variables of
    all nodes of a tree until :meth:`write` is called; ``rollback`` records every node that is
    created.
    """

    __slots__ = ("deferred", "rollback", "rules", "target")

    def __init__(
        self,
        target: Target,
        rules: Rules,
        region: Any = None,
        deferred: list[DeferredWrite] | None = None,
        rollback: Rollback | None = None,
    ) -> None:
        self.target = target
        self.deferred: list[DeferredWrite] = [] if deferred is None else deferred
        self.rollback = Rollback() if rollback is None else rollback
        self.rules = rules
        # Of the base class, which finds the part to write for region="auto".
        self._mode, self._append_dim = rules.mode, rules.append_dim
        self._write_region = region

    def get_child_store(self, group: str) -> DatasetStore:
        """Return the store of a subgroup, which is created when it is written to."""
        return type(self)(
            self.target.child(group), self.rules, self._write_region, self.deferred, self.rollback
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.target, self.rules, self._write_region)

    @property
    def zarr_group(self) -> Group | None:
        """The group, opened for writing; None if it does not exist yet."""
        return self.target.existing_group()

    def open_store_variable(self, name: str) -> Variable:
        """Return the variable of an array; raise KeyError if it does not exist."""
        return variable_of(self.target.stored_arrays([name])[name])

    def get_variables(self) -> dict[str, Variable]:
        return {name: variable_of(array) for name, array in self.target.arrays().items()}

    def get_attrs(self) -> dict[str, Any]:
        group = self.target.existing_group()
        return {} if group is None else user_attributes(group.attrs.asdict())

    def get_dimensions(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for array in self.target.arrays().values():
            sizes.update(sizes_of(array))
        return sizes

    def in_region(self, dataset: Dataset) -> Dataset:
        """Return the part of a dataset to write, and find ``region="auto"``.

        Raises ValueError if a region is not contiguous, or a variable has none of its dimensions,
        and KeyError if coordinates are not among the stored ones.
        """
        return self._validate_and_autodetect_region(dataset)

    def check_encoding(self, encoding: Collection[str], variables: Mapping[Any, Any]) -> None:
        """Raise ValueError if the user passed an encoding for no variable or an existing one."""
        if unknown := [name for name in encoding if name not in variables]:
            raise ValueError(
                f"encoding for {', '.join(map(repr, unknown))}, which is not a variable of "
                f"{self.target.store} {'/' + self.target.path!r}; variables: "
                f"{', '.join(map(str, variables))}"
            )
        if encoding and self.rules.mode in ("a", "a-", "r+"):
            for name in self.target.stored_arrays(map(_xarray.encode_name, encoding)):
                raise ValueError(f"variable {name!r} already exists, but encoding was provided")

    def encode_variable(self, variable: Variable, name: Hashable | None = None) -> Variable:
        variable = without_native_fill_value(variable)
        encoded: Variable = _xarray.encode_variable(variable, name=name)
        path = self.target.path_of(_xarray.encode_name(name))
        return check_new(variable, encoded, name, f"{self.target.store} {'/' + path!r}")

    def encode(
        self, variables: Mapping[Hashable, Variable], attributes: Mapping[str, Any]
    ) -> tuple[dict[Hashable, Variable], dict[str, Any]]:
        """Encode variables and the attributes of the group."""
        return (
            {name: self.encode_variable(item, name) for name, item in variables.items()},
            {key: _xarray.encode_attribute(value) for key, value in attributes.items()},
        )

    def store(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        check_encoding_set: Collection[Hashable] = frozenset(),
        writer: Any = None,
        unlimited_dims: Any = None,
    ) -> None:
        """Receive variables to write; the writer stores the elements of chunked arrays.

        ``check_encoding_set`` are the names of variables whose encoding the user passed.
        ``unlimited_dims`` is ignored, since all dimensions can be resized.
        """
        writer = _xarray.ArrayWriter() if writer is None else writer
        self.deferred.append((self, variables, attributes, check_encoding_set, writer))

    def write(self) -> None:
        """Write the variables that this store and those of its subgroups have received."""
        with permit_nodes(reserved_names=True):  # xarray uses them for unnamed data
            for target, plans, arrays, writer in self._commit():
                _store(target, plans, arrays, writer)
        self.deferred.clear()

    def _commit(self) -> list[tuple[Target, Sequence[Plan], Sequence[Array], Any]]:
        """Store the metadata documents of all nodes."""
        planned = [
            (node.target, *node.make_plans(variables, attributes, explicit), writer)
            for node, variables, attributes, explicit, writer in self.deferred
        ]
        load_overwritten(self.target, [item for _, plans, _, _ in planned for item in plans])
        with self.rollback.nested():
            return [
                (target, plans, commit(target, plans, encoded, self.rules.mode), writer)
                for target, plans, encoded, writer in planned
            ]

    def close(self) -> None:
        if self.target.closes:
            self.target.store.close()

    def make_plans(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        explicit: Collection[Hashable],
    ) -> tuple[list[Plan], dict[str, Any]]:
        """Return the plans and the encoded attributes of the group."""
        names = map(_xarray.encode_name, variables)
        existing = {} if self.rules.mode == "w" else self.target.stored_arrays(names)
        lengths = self._lengths(existing)
        if len(set(lengths.values())) > 1:
            listing = ", ".join(f"{name!r}: {length}" for name, length in sorted(lengths.items()))
            raise ZarrError(
                f"cannot append to {self.target.store} {'/' + self.target.path!r} along "
                f"{self.rules.append_dim!r}: its arrays differ in length ({listing}), because another "
                "process appends now, or an append was interrupted; try again, or use Appender. If "
                "no other process appends, resize() them to one length"
            )
        encoded, encoded_attributes = self._encode(variables, attributes, existing)
        return self._plans(encoded, existing, explicit), encoded_attributes

    def _lengths(self, existing: Mapping[str, Array]) -> dict[str, int]:
        """Return the lengths of the arrays along the dimension to append to."""
        lengths: dict[str, int] = {}
        for name, array in existing.items() if self.rules.append_dim is not None else ():
            lengths.update(
                (name, n) for dim, n in sizes_of(array).items() if dim == self.rules.append_dim
            )
        return lengths

    def _encode(
        self,
        variables: Mapping[Hashable, Variable],
        attributes: Mapping[str, Any],
        existing: Mapping[str, Array],
    ) -> tuple[dict[Hashable, Variable], dict[str, Any]]:
        """Encode new variables by their own encoding, others by that of the stored arrays."""
        old = {name for name in variables if _xarray.encode_name(name) in existing}
        new = {name: item for name, item in variables.items() if name not in old}
        if self.rules.mode == "r+" and new:
            raise ValueError(
                f"dataset contains non-pre-existing variables {list(new)!r}: mode='r+' only "
                "overwrites existing variables; use mode='a' to create new ones"
            )
        self._check_append_dim(existing)
        self._check_appended(variables, existing)
        encoded, encoded_attributes = self.encode(new, attributes)
        raw = {name: variable_of(existing[_xarray.encode_name(name)]) for name in old}
        timedeltas = {str(name): True for name in old if variables[name].dtype.kind == "m"}
        there, _, _ = conventions.decode_cf_variables(raw, {}, decode_timedelta=timedeltas)
        for name in old:
            fitted = _xarray.fit_dimensions(
                name, variables[name], there[name], self._write_region, self.rules.append_dim
            )
            form = StoredForm.of(existing[_xarray.encode_name(name)], raw[name], there[name])
            encoded[name] = encode_existing(fitted, form)
            encoded[name].encoding = raw[name].encoding
        if self.rules.mode == "a-" and self.rules.append_dim is not None:
            encoded = {
                name: item
                for name, item in encoded.items()
                if name not in old or self.rules.append_dim in item.dims
            }
        return encoded, encoded_attributes

    def _check_append_dim(self, existing: Mapping[str, Array]) -> None:
        if self.rules.append_dim is None or any(
            self.rules.append_dim in sizes_of(array) for array in existing.values()
        ):
            return
        sizes = self.get_dimensions()
        if self.rules.append_dim not in sizes:
            raise ValueError(
                f"append_dim={self.rules.append_dim!r} does not match any existing dataset dimensions "
                f"{sizes}"
            )

    def _check_appended(
        self, variables: Mapping[Hashable, Variable], existing: Mapping[str, Array]
    ) -> None:
        """Raise a ValueError if arrays would differ in length: xarray could not open them."""
        dim = self.rules.append_dim
        sizes = {
            _xarray.encode_name(name): item.sizes[dim]
            for name, item in variables.items()
            if dim is not None and dim in item.dims
        }
        if not any(sizes.values()):
            return
        names = {_xarray.encode_name(name) for name in variables}
        others = self._lengths(self.target.other_arrays(names))
        if others:  # the consolidated metadata may be out of date
            others = self._lengths(self.target.stored_arrays(others))
        new = sorted(sizes.keys() - existing.keys())
        if not any(self._lengths(existing).values()) and not any(others.values()):
            new = []  # the stored arrays are empty
        reasons = [
            f"{where} does not contain {', '.join(map(repr, missing))}"
            for where, missing in (("the dataset", sorted(others)), ("the store", new))
            if missing
        ]
        if reasons:
            raise ValueError(
                f"cannot append to {self.target.store} {'/' + self.target.path!r} along {dim!r}: "
                f"variables would differ in length, as {' and '.join(reasons)}; append to all "
                "variables with this dimension at once"
            )

    def _plans(
        self,
        variables: Mapping[Hashable, Variable],
        existing: Mapping[str, Array],
        explicit: Collection[Hashable],
    ) -> list[Plan]:
        return [
            plan(
                name, variable, existing.get(_xarray.encode_name(name)), self.rules, self.target,
                self._write_region or {}, explicit=name in explicit,
            )
            for name, variable in variables.items()
        ]  # fmt: skip
