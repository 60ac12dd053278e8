"""Types of the compiled module."""

from typing import final

from itoscope.backends.protocol import Array

__version__: str
__all__ = ["Program", "__version__", "set_threads"]

def set_threads(n_threads: int) -> None: ...

@final
class Program:
    def __new__(cls, expressions: list[str], inputs: list[str]) -> Program: ...
    @property
    def expressions(self) -> list[str]: ...
    @property
    def inputs(self) -> list[str]: ...
    def evaluate(self, x: Array) -> Array: ...
    def gradient(self, x: Array) -> Array: ...
