"""Optional dependencies: imported when they are needed, with an error that says how to install them."""

from __future__ import annotations

import importlib
from typing import Any

from itoscope.errors import MissingExtraError

__all__ = ["require"]


def require(module: str, extra: str, purpose: str) -> Any:
    """Import and return `module`, which belongs to the extra `extra` of this package.

    Parameters
    ----------
    module : str
        Dotted module name, for instance ``"pyarrow.parquet"``.
    extra : str
        Name in the brackets of ``pip install "itoscope[...]"``.
    purpose : str
        What needs it, as the start of a sentence.

    Raises
    ------
    MissingExtraError
        When the module is not installed.

    Examples
    --------
    >>> require("no_such_module", "data", "Reading Parquet")
    Traceback (most recent call last):
    itoscope.errors.MissingExtraError: Reading Parquet needs no_such_module: pip install "itoscope[data]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as problem:
        message = f'{purpose} needs {module}: pip install "itoscope[{extra}]"'
        raise MissingExtraError(message, name=module) from problem
