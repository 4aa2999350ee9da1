"""Append steps to all variables of a group atomically."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import DataArray, Dataset
from zarr_core import create_group, open_group
from zarr_core.extension import NodeNotFoundError, ZarrError
from zarr_core.threads import parallel_for

from zarr_xarray.append.buffer import StepBuffer
from zarr_xarray.append.committed_lengths import LengthsChangedError, read_committed
from zarr_xarray.append.labels import (
    as_labels,
    concatenate,
    greatest,
    is_increasing,
    new_steps,
)
from zarr_xarray.append.lock import AppendLock, LockedStore, LockLostError
from zarr_xarray.append.series import check_storable, create_series
from zarr_xarray.append.steps import (
    are_equal,
    dataset_of,
    decoded_values,
    in_stored_order,
    to_array,
    with_dimension,
)
from zarr_xarray.encoded_elements import decode, encode
from zarr_xarray.group_store import resolve_group

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from zarr_core import Array

    from zarr_xarray.append.committed_lengths import Committed, Growing
    from zarr_xarray.append.labels import OnDuplicate, OnUnordered
    from zarr_xarray.append.lock import Previous

    NDArray = np.ndarray[Any, Any]
    Steps = dict[str, NDArray]  # elements by variable, the steps along the first axis

_ATTEMPTS = 100
_MAX_BUFFERED = 10_000  # steps
_MAX_BUFFER_BYTES = 1 << 26
_MIN_PARALLEL_BYTES = 1 << 16  # of one variable, for which threads are faster


class Appender:
    """Appends steps along one dimension to all variables of a group, atomically.

    Parameters
    ----------
    store : store-like
        Path, URL or store, as for :func:`zarr_core.open`.
    dim : str
        The dimension that grows.
    group : str, optional
        Path of the group below the store.
    flush_every : int, optional
        Number of steps that are kept in memory until they are stored together; by default 10,000,
        or fewer if they have more than 64 MiB.
    flush_seconds : float
        Time in seconds after the last flush, from which :meth:`append` stores all steps in memory.
        So steps that come more rarely are stored at once.  Only calls of :meth:`append` check it.
    on_duplicate : {"raise", "skip"}
        What happens to steps whose label already exists.
    on_unordered : {"raise", "append"}
        What happens to steps whose label is not greater than the one before.
    encoding : mapping, optional
        Encodings of new variables, as for :func:`zarr_xarray.to_zarr`.
    chunk : int
        Steps in each chunk of new variables; fewer if they have more than 16 MiB.
    coordinate_chunk : int
        Steps in each chunk of new coordinates that have only this dimension.
    storage_options : mapping, optional
        Options for the store if it is a URL.
    zarr_format : {2, 3}, optional
        The format of a new group; by default that of the hierarchy, or 3.
    lock_seconds : float
        Time in seconds after which the lock of another appender is taken over, if that appender
        does not renew it.

    Raises
    ------
    ValueError
        If a number is not positive, or a policy is unknown.

    Notes
    -----
    A step is acknowledged when :meth:`flush` has returned, which :meth:`append` calls after
    every ``flush_every`` steps or ``flush_seconds``, and :meth:`close` at the end.  If the process
    is killed, steps that are not acknowledged are lost, and acknowledged steps are not.  With
    ``LocalStore(path, fsync=True)``, acknowledged steps also survive a power failure.

    The elements are stored first.  Then one write of the consolidated metadata of the group
    gives all variables their new length.  If the process is killed, all variables have the old or
    the new length, and the next appender overwrites what was not committed.  Several appenders
    take turns, through a lock in the store.  Other programs must not write to the group at the
    same time.

    An appender must not be used by several threads; each thread can have its own.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray as xr
    >>> from zarr_xarray import Appender
    >>> with Appender("log.zarr", "t") as log:
    ...     for second in range(5):
    ...         log.append(xr.Dataset({"a": ("t", [1.5])}, coords={"t": [second]}))
    >>> xr.open_dataset("log.zarr", engine="zarr_core").sizes["t"]
    5
    """

    def __init__(
        self,
        store: Any,
        dim: str,
        *,
        group: str | None = None,
        flush_every: int | None = None,
        flush_seconds: float = 5.0,
        on_duplicate: OnDuplicate = "raise",
        on_unordered: OnUnordered = "raise",
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        chunk: int = 1000,
        coordinate_chunk: int = 100_000,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
        lock_seconds: float = 30.0,
    ) -> None:
        for name, number in (
            ("flush_every", 1 if flush_every is None else flush_every),
            ("flush_seconds", flush_seconds),
            ("chunk", chunk),
            ("coordinate_chunk", coordinate_chunk),
            ("lock_seconds", lock_seconds),
        ):
            if not number > 0:
                raise ValueError(f"{name} must be positive, not {number!r}")
        for name, policy, allowed in (
            ("on_duplicate", on_duplicate, ("raise", "skip")),
            ("on_unordered", on_unordered, ("raise", "append")),
        ):
            if policy not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {policy!r}")
        self.dim = dim
        self._flush_every = flush_every
        self._flush_seconds = flush_seconds
        self._flushed = time.monotonic()
        self._on_duplicate: OnDuplicate = on_duplicate
        self._on_unordered: OnUnordered = on_unordered
        self._encoding = dict(encoding or {})
        self._chunk, self._coordinate_chunk = chunk, coordinate_chunk
        self._zarr_format = zarr_format
        store, self._root, self._path, self._closes = resolve_group(
            store, group, storage_options=storage_options
        )
        self._lock = AppendLock(store, self._path, lock_seconds)
        self._store = LockedStore(store, self._lock)
        self._committed: Committed | None = None
        self._length = 0
        self._labelled: str | None = None  # the variable with the labels of the steps
        self._fixed: dict[str, NDArray] = {}
        self._buffer = StepBuffer()
        self._last_stored: Any = None
        self._last: Any = None  # of all labels, with those in the buffer
        self._unconfirmed: tuple[int, int] | None = None  # position and number of steps
        self._confirmed = 0  # the first steps of the buffer that are stored already
        self._closed = False

    @property
    def length(self) -> int:
        """Number of acknowledged steps of the group, when this appender last accessed it."""
        return self._length

    @property
    def buffered(self) -> int:
        """Number of steps that are not stored yet."""
        return self._buffer.count

    def append(self, data: Dataset | DataArray | Mapping[str, Any]) -> None:
        """Append one or more steps; they are acknowledged by the next :meth:`flush`.

        Parameters
        ----------
        data : Dataset, DataArray or mapping
            All variables that have the dimension.  A variable without it is one step.  The
            values of a mapping are arrays in the order of the stored dimensions; this is faster,
            and requires a group that exists.  Elements are copied.

        Raises
        ------
        ValueError
            If a variable is missing, unknown, or has another shape; if variables without the
            dimension differ from the stored ones; or if a label is refused.  Nothing of ``data``
            is stored then.  Also if the appender is closed.
        TypeError
            If ``data`` is of another class.
        ZarrError
            If the arrays of the group have different lengths, or the store fails.  If
            :attr:`buffered` has increased, the steps are in the buffer: call :meth:`flush` to
            try again, and do not append them twice.
        """
        if self._closed:
            raise self._error("the Appender is closed; create a new one")
        if type(data) is dict and self._append_fast(data):
            return
        if self._committed is None:
            self._open(data)
        steps, count = self._parse(data)
        if not count:
            return
        last = self._check_labels(steps)
        capacity = self._flush_every or 1
        if not self._buffer.add(steps, count, capacity):
            self.flush()
            self._buffer.add(steps, count, max(count, capacity))
        if self._last is None or (last is not None and last > self._last):
            self._last = last
        self._flush_if_due(capacity)

    def _append_fast(self, data: dict[str, Any]) -> bool:
        """Append one step as arrays; return False if the data types differ from the last steps."""
        if not self._buffer.add_one(data):
            return False
        if self._labelled is not None:
            label = data[self._labelled]
            if self._last is None or not label > self._last:
                return False  # what was copied is not counted yet
            self._last = label[()]  # not an array that the caller may change
        self._buffer.count += 1
        self._flush_if_due(self._flush_every or 1)
        return True

    def _flush_if_due(self, capacity: int) -> None:
        late = time.monotonic() - self._flushed >= self._flush_seconds
        if late or self._buffer.count >= capacity:
            self.flush()

    def flush(self) -> int:
        """Store all buffered steps, and return the resulting number of steps of the group.

        Raises
        ------
        ValueError
            If a label is refused because of steps that another appender has stored, or elements
            cannot be stored without a change.  The steps stay in the buffer; see
            :meth:`discard`.
        ZarrError
            If the store fails; whether the steps were stored is determined by the next call.
        """
        if self._buffer.count:
            self._locked(self._write)
            self._unconfirmed, self._confirmed = None, 0
            self._buffer.clear()
            self._last = self._last_stored
        self._flushed = time.monotonic()
        return self.length

    def discard(self) -> int:
        """Discard the buffered steps, and return their number."""
        count = self._buffer.count
        self._buffer = StepBuffer()
        self._unconfirmed, self._confirmed = None, 0
        self._last = self._last_stored
        return count

    def close(self) -> None:
        """Store all buffered steps, and release the lock and the store.

        Raises
        ------
        ValueError, ZarrError
            As :meth:`flush`.  The appender is closed nevertheless.
        """
        if self._closed:
            return
        try:
            self.flush()
        finally:
            self._closed = True
            try:
                self._lock.remove()
            finally:
                if self._closes:
                    self._lock.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- the committed state ---

    def _open(self, data: Any) -> None:
        """Read the committed state; create variables that are missing."""
        if not isinstance(data, Mapping):
            data = dataset_of(data)
        if not isinstance(data, Dataset):
            try:
                open_group(self._store, "r", path=self._path)
            except NodeNotFoundError as error:
                raise self._error(
                    "it does not exist; first append a Dataset, which describes the variables"
                ) from error
        else:
            try:
                check_storable(data)
            except ValueError as error:
                raise self._error(str(error)) from None

        def work(interrupted: bool) -> None:
            self._read(interrupted, data)

        self._locked(work)

    def _locked(self, work: Callable[[bool], None]) -> None:
        """Call ``work(interrupted)`` while the lock is held; again if the lock is lost."""

        def attempt(previous: Previous) -> None:
            if previous != "own":
                self._committed = None
            work(previous == "interrupted")

        for _ in range(_ATTEMPTS):
            try:
                self._lock.hold(attempt)
            except (LockLostError, LengthsChangedError):
                self._committed = None
                continue
            except BaseException:
                if self._lock.writing:
                    self._committed = None
                raise
            return
        raise ZarrError(
            f"cannot append to {self._where}: other appenders took over the lock during each of "
            f"{_ATTEMPTS} attempts; increase lock_seconds"
        )

    def _read(self, interrupted: bool, data: Any = None) -> Committed:
        """Read the committed state, and create the variables of ``data`` that are missing."""
        store, path = self._store, self._path
        try:
            group = open_group(store, "r+", path=path, use_consolidated=False)
        except NodeNotFoundError:
            if not isinstance(data, Dataset):
                raise
            if unknown := self._encoding.keys() - data.variables.keys():
                names = ", ".join(sorted(map(repr, unknown)))
                raise self._error(
                    f"the encoding names {names}, which the data does not contain; pass only "
                    "names of its variables"
                ) from None
            self._lock.writing = True
            group = create_group(store, path=path, zarr_format=self._zarr_format)
        format_ = group.stored.format
        if format_.name not in ("v2", "v3"):
            raise self._error(
                f"appending requires version 2 or 3 of Zarr, not {format_.name}; convert it"
            )
        dim, root = self.dim, self._root
        committed = read_committed(store, path, root, format_, dim, interrupted)
        incomplete = interrupted and not committed.length
        if incomplete and data is not None and not isinstance(data, Dataset):
            raise self._error(
                "an appender was interrupted before it stored the first steps, and some variables "
                "may be missing; first append a Dataset, which describes them"
            )
        if isinstance(data, Dataset) and not committed.length:
            # Elements of variables without the dimension may be missing.
            there = {*committed.growing, *(() if incomplete else committed.fixed)}
            missing = with_dimension(data, dim).drop_vars(there, errors="ignore")
            if missing.variables:
                self._lock.writing = True
                create_series(
                    store, group, format_, missing, dim, self._encoding, self._chunk,
                    self._coordinate_chunk,
                )  # fmt: skip
                committed = read_committed(store, path, root, format_, dim, False)
        if not committed.growing:
            raise self._error(
                f"none of its variables has the dimension {dim!r}; pass one of their dimensions"
            )
        self._committed, self._length = committed, committed.length
        if self._flush_every is None:
            step = sum(
                item.array.dtype.itemsize * int(np.prod(item.step_shape, dtype=np.int64))
                for item in committed.growing.values()
            )
            count = max(1, min(_MAX_BUFFERED, _MAX_BUFFER_BYTES // max(1, step)))
            unit = min(item.unit for item in committed.growing.values())
            self._flush_every = count - count % unit if count > unit else count
        self._fixed = {}
        self._labelled = None if self._index() is None else self.dim
        self._last_stored = greatest(self._stored_labels())
        if not self._buffer.count:
            self._last = self._last_stored
        return committed

    def _index(self) -> Growing | None:
        """The coordinate with the labels of the steps, if there is one."""
        item = None if self._committed is None else self._committed.growing.get(self.dim)
        return item if item is not None and item.raw.ndim == 1 else None

    def _stored_labels(self) -> NDArray:
        """Read the labels of all committed steps."""
        index = self._index()
        if index is None:
            return np.empty(0)
        return as_labels(decode(np.asarray(index.array[...]), index.form))

    def _error(self, reason: str) -> ValueError:
        return ValueError(f"cannot append to {self._where}: {reason}")

    @property
    def _where(self) -> str:
        return f"{self._lock.store} {'/' + self._path!r}"

    def _require(self) -> Committed:
        assert self._committed is not None, "the state was read"
        return self._committed

    # --- given data ---

    def _parse(self, data: Any) -> tuple[Steps, int]:
        """Return the elements by variable with the steps first, and the number of steps."""
        committed = self._require()
        if not isinstance(data, Mapping):
            data = dataset_of(data)
        is_dataset = isinstance(data, Dataset)
        variables = data.variables if is_dataset else data
        growing = committed.growing
        steps: Steps = {}
        count = -1
        for name, item in growing.items():
            try:
                value = variables[name]
            except KeyError:
                raise self._error(
                    f"{name!r} is missing; pass all variables with the dimension {self.dim!r} "
                    f"({', '.join(growing)})"
                ) from None
            if is_dataset:
                value = in_stored_order(name, value, item, self.dim)
            elif type(value) is not np.ndarray:
                try:
                    value = to_array(value)
                except ValueError as error:  # such as lists of different lengths
                    raise self._error(f"{name!r} is not an array ({error})") from error
            step_shape = item.step_shape
            if value.shape == step_shape:
                number = 1
                value = value[np.newaxis]
            else:
                if item.axis and value.ndim == len(step_shape) + 1:
                    value = np.moveaxis(value, item.axis, 0)
                if value.ndim != len(step_shape) + 1 or value.shape[1:] != step_shape:
                    raise self._error(
                        f"{name!r} has the shape {value.shape}; pass {step_shape} for one step, or "
                        f"this shape with another axis for {self.dim!r} at position {item.axis}"
                    )
                number = value.shape[0]
            if count not in (-1, number):
                raise self._error(
                    f"{name!r} has {number} steps, but the variables before it have {count}; pass "
                    "the same number for all"
                )
            count = number
            steps[name] = value
        if len(variables) != len(growing):
            self._check_others(variables, is_dataset)
        return steps, count

    def _check_others(self, variables: Mapping[Any, Any], is_dataset: bool) -> None:
        """Compare variables without the dimension with the stored ones."""
        committed = self._require()
        for name in variables:
            if name in committed.growing:
                continue
            if name not in committed.fixed:
                raise self._error(
                    f"the variable {name!r} is new, and the group has {committed.length} steps "
                    "without it; create it in the group, or omit it"
                )
            if name not in self._fixed:
                self._fixed[name] = decoded_values(committed.fixed[name])
            value = variables[name]
            value = value.values if is_dataset else to_array(value)
            if not are_equal(value, self._fixed[name]):
                raise self._error(
                    f"{name!r} differs from the stored variable; it does not have the dimension "
                    f"{self.dim!r}, so it cannot change; omit it to keep the stored one"
                )

    def _check_labels(self, steps: Steps) -> Any:
        """Refuse labels early, before they are in the buffer; return the greatest."""
        if self._index() is None:
            return None
        labels = as_labels(steps[self.dim])
        try:
            increasing = is_increasing(labels, self._last)
        except TypeError as error:
            raise self._error(
                f"the labels of {self.dim!r} cannot be compared with the stored ones ({error}); "
                "convert them to the stored data type"
            ) from error
        if not increasing:
            known = self._stored_labels()
            if self._buffer.count:
                known = concatenate(known, as_labels(self._buffer.steps()[self.dim]))
            self._compare_labels(labels, known)
        return labels[-1] if increasing else greatest(labels)

    # --- writing ---

    def _write(self, interrupted: bool) -> None:
        """Store the buffered steps, while the lock is held."""
        committed = self._committed or self._read(interrupted)
        buffered = self._buffer.steps()
        self._check_same(buffered, committed)
        self._confirm(buffered, committed)
        steps = {name: values[self._confirmed :] for name, values in buffered.items()}
        count = self._buffer.count - self._confirmed
        new = self._new_steps(steps, count)
        if len(new):
            encoded = _encoded(steps, new, committed)
            self._lock.writing = True
            # If only some are new, the next attempt recognizes them by their labels.
            self._unconfirmed = (committed.length, count) if len(new) == count else None
            self._grow(encoded, len(new), committed)
            if self._index() is not None:
                last = greatest(as_labels(steps[self.dim])[new])
                if self._last_stored is None or last > self._last_stored:
                    self._last_stored = last

    def _check_same(self, steps: Steps, committed: Committed) -> None:
        """Check that the variables are still those that the steps were checked with."""
        for name, item in committed.growing.items():
            if name not in steps or steps[name].shape[1:] != item.step_shape:
                raise self._error(
                    f"{name!r} was changed by another program while steps were buffered; "
                    "discard() them"
                )
        if missing := steps.keys() - committed.growing.keys():
            raise self._error(
                f"{', '.join(map(repr, sorted(missing)))} was removed by another program while "
                "steps were buffered; discard() them"
            )

    def _confirm(self, buffered: Steps, committed: Committed) -> None:
        """Find out whether the last attempt, whose result is unknown, stored its steps."""
        if self._unconfirmed is None:
            return
        start, count = self._unconfirmed
        self._unconfirmed = None
        if committed.length < start + count:
            return
        steps = {name: values[self._confirmed :][:count] for name, values in buffered.items()}
        for name, encoded in _encoded(steps, np.arange(count), committed).items():
            item = committed.growing[name]
            if not are_equal(item.array[item.region(start, start + count)], encoded):
                return
        self._confirmed += count

    def _new_steps(self, steps: Steps, count: int) -> NDArray:
        """Return the indices of the steps that are not stored."""
        if self._index() is not None:
            labels = as_labels(steps[self.dim])
            if not is_increasing(labels, self._last_stored):
                return self._compare_labels(labels, self._stored_labels())
        return np.arange(count)

    def _compare_labels(self, labels: NDArray, known: NDArray) -> NDArray:
        return new_steps(
            labels, known, self.dim, self._where, self._on_duplicate, self._on_unordered
        )

    def _grow(self, encoded: Steps, count: int, committed: Committed) -> None:
        """Store the elements of new steps, then commit the new length."""
        start, stop = committed.length, committed.length + count
        tails: dict[str, NDArray] = {}

        def write(name: str) -> None:
            item = committed.growing[name]
            first = start - start % item.unit
            tail = item.tail
            if tail is None:
                tail = np.asarray(item.array[item.region(first, start)])
            # Whole chunks are written, so that nothing of an interrupted append remains in them.
            whole = (
                np.concatenate([tail, encoded[name]], item.axis) if first < start else encoded[name]
            )
            array: Array = item.resized(self._store, committed.format, stop)
            array[item.region(first, stop)] = whole
            kept = stop - stop % item.unit
            tails[name] = whole[item.region(max(kept - first, 0), stop - first)].copy()

        self._for_each(encoded, write)
        committed.commit(stop)
        self._length = stop
        for name, tail in tails.items():
            committed.growing[name].tail = tail

    def _for_each(self, steps: Steps, work: Callable[[str], None]) -> None:
        """Call a function for each variable, in threads if that is faster."""
        limit = self._store.max_concurrency
        large = any(values.nbytes >= _MIN_PARALLEL_BYTES for values in steps.values())
        parallel_for([*steps], work, limit is not None or large, limit)


def _encoded(steps: Steps, which: NDArray, committed: Committed) -> Steps:
    """Encode some of the steps, in the order of the stored dimensions."""
    encoded: Steps = {}
    for name, item in committed.growing.items() if len(which) else ():
        values = steps[name] if len(which) == len(steps[name]) else steps[name][which]
        encoded[name] = encode(np.moveaxis(values, 0, item.axis), item.form)
    return encoded


def append(
    data: Dataset | DataArray, store: Any, dim: str, *, group: str | None = None, **options: Any
) -> int:
    """Append to all variables of a group along one dimension, atomically.

    Parameters
    ----------
    data : Dataset or DataArray
        All variables that have the dimension; without it, they are one step.
    store, dim, group, **options
        As for :class:`Appender`, which is faster for many steps.

    Returns
    -------
    int
        The resulting number of steps of the group.

    Raises
    ------
    ValueError
        If ``data`` does not fit the stored variables, a label is refused, or elements cannot be
        stored without a change.
    ZarrError
        If the arrays of the group have different lengths.

    Notes
    -----
    When the function returns, the steps are stored; :class:`Appender` describes what happens if
    the process is killed.  Unlike :func:`to_zarr` with ``append_dim``, it creates the group if it
    is missing.

    Examples
    --------
    >>> import xarray as xr
    >>> from zarr_xarray import append
    >>> day = xr.Dataset({"a": ("t", [0.5, 1.5])}, coords={"t": [1, 2]})
    >>> append(day, "days.zarr", "t"), append(day.assign_coords(t=[3, 4]), "days.zarr", "t")
    (2, 4)
    """
    with Appender(store, dim, group=group, **options) as appender:
        try:
            appender.append(data)
            return appender.flush()
        except BaseException:
            appender.discard()
            raise
