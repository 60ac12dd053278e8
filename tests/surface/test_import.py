"""Importing itoscope needs NumPy alone and loads few modules (a count, so that no clock decides)."""

import subprocess
import sys
from pathlib import Path

import itoscope
import pytest

COUNT = """
import sys, numpy
before = set(sys.modules)
import itoscope
print(*sorted(name for name in set(sys.modules) - before if sys.modules[name].__spec__))
"""

# Modules that the import may add to those of NumPy. One takes 1 to 2 ms, so that 90 of them stay below 0.2 s.
MOST = 100

#: They put `.ito` on the classes of another package, whose user imports them for that.
REGISTER = ("itoscope.pandas", "itoscope.polars", "itoscope.xarray")

ALONE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in allowed:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
allowed = {"numpy", "itoscope", *sys.stdlib_module_names}
sys.meta_path.insert(0, Refuse())
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_light():
    added = run(COUNT).split()
    foreign = {name.split(".")[0] for name in added} - {"itoscope", "numpy", *sys.stdlib_module_names}
    assert not foreign
    assert len(added) <= MOST, f"{len(added)} modules: {added}"


def test_import_with_nothing_but_numpy_installed():
    assert run(ALONE + "import itoscope; print(itoscope.__version__)").strip() == itoscope.__version__


def test_every_module_imports_with_nothing_but_numpy_installed():
    """Optional packages are imported inside the functions that need them."""
    root = Path(itoscope.__file__).parent
    names = [
        ".".join(("itoscope", *file.relative_to(root).with_suffix("").parts)) for file in root.rglob("*.py")
    ]
    names = [name.removesuffix(".__init__") for name in names if name not in ("itoscope.__main__", *REGISTER)]
    assert (
        run(ALONE + f"import importlib\nfor name in {names!r}: importlib.import_module(name)\nprint('ok')")
        == "ok\n"
    )


@pytest.mark.parametrize("name", REGISTER)
def test_what_registers_on_another_package_says_how_to_install_it(name):
    code = f"try: import {name}\nexcept ImportError as problem: print(problem)"
    assert 'pip install "itoscope[' in run(ALONE + code)


def test_public_names_exist():
    for name in itoscope.__all__:
        assert getattr(itoscope, name) is not None
    assert "numpy" not in dir(itoscope)


@pytest.mark.parametrize("name", ["errors", "use_backend", "Trajectories", "Library"])
def test_contract_names(name):
    assert name in itoscope.__all__
