"""Types of the compiled module."""

__version__: str
__all__: list[str]

def set_threads(n_threads: int) -> None: ...
