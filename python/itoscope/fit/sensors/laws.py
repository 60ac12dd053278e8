"""Which law the noise of each column has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from itoscope.errors import argument_error
from itoscope.fit.sensors.columns import check_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from itoscope.common.types import Level, NoiseLaw

__all__ = ["heavy_columns", "laws_of"]


def laws_of(names: Sequence[str], asked: NoiseLaw | Mapping[str, NoiseLaw]) -> dict[str, NoiseLaw]:
    """The columns whose law is not normal.

    Raises
    ------
    ArgumentError
        For a name that no column has.
    """
    told = asked if isinstance(asked, Mapping) else dict.fromkeys(names, asked)
    check_columns("noise_law", told, names)
    return {name: law for name, law in told.items() if law != "normal"}


def heavy_columns(
    names: Sequence[str], laws: Mapping[str, NoiseLaw], noise: Sequence[Level]
) -> dict[int, NoiseLaw]:
    """The laws that are not normal, by the numbers of their columns.

    Raises
    ------
    ArgumentError
        For one without noise.
    """
    for name, level in zip(names, noise):
        if name in laws and level == 0.0:
            raise argument_error(
                f"noise_law[{name!r}]", laws[name], "'normal' for a column of measurement_noise=0"
            )
    return {c: laws[name] for c, name in enumerate(names) if name in laws}
