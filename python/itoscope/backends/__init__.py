"""The stage functions that both backends provide, and the choice between them.

A backend is a module: `rust` (compiled, the default) or `reference` (NumPy, written to be read). Both have
the same functions with the same signatures, listed in `Backend`; orchestration above them is written once.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from itoscope.common import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from itoscope.backends.protocol import Backend

__all__ = ["BACKENDS", "get_backend", "use_backend", "wrapped"]

BACKENDS = ("rust", "reference")
_current: ContextVar[str] = ContextVar("itoscope_backend", default="rust")
_wrap: ContextVar[Callable[[Backend], Backend] | None] = ContextVar("itoscope_wrap", default=None)


def get_backend(name: str | None = None) -> Backend:
    """Return the backend module called `name`, or the one in use when `name` is None.

    Parameters
    ----------
    name : {"rust", "reference"} or None

    Raises
    ------
    ArgumentError
        For any other name.
    """
    chosen = _current.get() if name is None else checks.choice("backend", name, BACKENDS)
    module, wrap = cast("Backend", importlib.import_module(f"itoscope.backends.{chosen}")), _wrap.get()
    return module if wrap is None else wrap(module)


@contextmanager
def wrapped(wrap: Callable[[Backend], Backend]) -> Iterator[None]:
    """Within, every backend that this thread or task asks for is what `wrap` makes of it."""
    former = _wrap.set(wrap)
    try:
        yield
    finally:
        _wrap.reset(former)


class _Restore:
    """Puts the former backend back when used as a context manager."""

    def __init__(self, former: str) -> None:
        self._former = former

    def __enter__(self) -> None:
        """Nothing to do: the new backend is in use already."""

    def __exit__(self, *_: object) -> None:
        _current.set(self._former)


def use_backend(name: str) -> _Restore:
    """Make `name` the backend of later calls of this thread or task; as a context manager, only inside the block.

    Parameters
    ----------
    name : {"rust", "reference"}

    Raises
    ------
    ArgumentError
        For any other name.

    Examples
    --------
    >>> import itoscope as ito
    >>> with ito.use_backend("reference"):
    ...     names = ito.Library.polynomials(1).names(["x"])
    >>> names
    ['1', 'x']
    """
    former = _current.get()
    _current.set(checks.choice("backend", name, BACKENDS))
    return _Restore(former)
