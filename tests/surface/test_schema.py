"""What `discover --json` prints is what its published schema says, of measured and of noisy recordings."""

import copy
import json
from pathlib import Path

import itoscope as ito
import numpy as np
import pytest
from itoscope.cli.discover import as_json

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "static" / "discover.schema.json").read_text())
SHORT = {"seed": 1, "n_chains": 2, "n_samples": 100, "n_burn": 50}


@pytest.fixture(scope="module")
def printed():
    sde = ito.SDE(["x2", "-40*x1 - x2"], [["0"], ["2"]], ["x1", "x2"])
    data = sde.simulate([0.0, 0.0], dt=0.01, n_steps=1500, n_paths=3, substeps=2, seed=1)
    line = ito.Library.polynomials(1)
    kicked = ito.SDE(["-x"], [["0.5"]], ["x"]).simulate([0.0], dt=0.05, n_steps=600, seed=1).paths[0].copy()
    kicked[300:] += 2.0 * np.exp(-0.05 * np.arange(301))[:, None]
    results = [
        ito.discover(data, line, known_drift={"x1": "x2"}, **SHORT),
        ito.discover(data.positions(noise=0.05, seed=2), line, order=2, **SHORT),
        ito.discover(data, known_drift={"x1": "x2", "x2": "-k*x1 + ..."}, parameters={"k": (10.0, 30.0, 80.0)},
                     library=ito.Library.expressions("x2"), **SHORT),
        ito.discover(ito.Trajectories(kicked, dt=0.05, names=["x"]), line, diffusion_law="student", **SHORT),
    ]  # fmt: skip
    return [json.loads(json.dumps(as_json(result), allow_nan=False)) for result in results]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_results_are_what_it_says(printed):
    for found in printed:
        jsonschema.validate(found, SCHEMA)
    assert printed[1]["noise_levels"] and printed[2]["parameters"]
    assert printed[3]["diffusion_law"]["x"]["law"] == "student" and printed[3]["jumps"][0]["sample"] == 300


@pytest.mark.parametrize("wrong", ["version", "term", "check", "more"])
def test_it_sees_what_is_wrong(printed, wrong):
    found = copy.deepcopy(printed[0])
    if wrong == "version":
        del found["version"]
    elif wrong == "term":
        found["drift"]["x2"][0]["pip"] = 1.5
    elif wrong == "check":
        found["checks"][0]["fired"] = "no"
    else:
        found["something"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, SCHEMA)
