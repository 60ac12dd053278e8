"""Does an installed itoscope work with NumPy alone? Run outside the source tree with the interpreter to be tested.

python tools/smoke.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import itoscope as ito


def main() -> None:
    package = Path(ito.__file__).parent
    assert "site-packages" in package.parts, f"{package} is not an installed package"
    for file in ("py.typed", "_core.pyi"):
        assert (package / file).exists(), f"{file} is not in the wheel"
    truth = ito.SDE(["x1 - x1^3"], [["0.5"]], ["x1"])
    data = truth.simulate([0.5], dt=0.02, n_steps=1000, n_paths=10, seed=1)
    library = ito.Library.polynomials(3)
    answers = [ito.discover(data, library, seed=1, backend=name) for name in ("rust", "reference")]
    for answer in answers:
        assert answer.drift["x1"].selected.tolist() == [False, True, False, True], answer
    with tempfile.TemporaryDirectory() as folder:
        data.to_csv(f"{folder}/run.csv")
        command = [
            sys.executable,
            "-m",
            "itoscope",
            "discover",
            "run.csv",
            "--library",
            "poly:3",
            "--seed",
            "1",
        ]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "dx1 = " in out, out
    print(f"itoscope {ito.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
