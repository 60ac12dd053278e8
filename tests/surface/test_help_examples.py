"""Every example of every `--help` runs as it stands."""

import shlex

import numpy as np
import pytest
from itoscope.cli import _parser
from results import measured

COMMANDS = _parser()[1]


@pytest.mark.usefixtures("empty_directory")
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_example_of_a_help_runs(name, run, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    measured().save(tmp_path / "found.npz")
    np.savetxt(
        tmp_path / "run.csv",
        measured().data.paths[0],
        header="x1,x2",
        comments="",
        delimiter=",",
        fmt="%.17g",
    )
    said, example = COMMANDS[name].epilog.split("Example: ")
    assert not said
    code, _, err = run(*shlex.split(example)[1:])
    assert code == 0, err


def test_every_command_has_an_example():
    assert all(f"Example: itoscope {name} " in parser.epilog for name, parser in COMMANDS.items())
