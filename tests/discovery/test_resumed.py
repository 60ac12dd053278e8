"""Streams that go on where a call was interrupted, with the bits of one that was not."""

import itoscope as ito
import numpy as np
import pytest
from itoscope.data import resumed
from itoscope.data.resumed import Kept, fingerprint
from itoscope.errors import ArgumentError
from itoscope.posterior.streamed import BlockSums
from itoscope.stats.exact import Exact

WELL = ito.SDE(["-x + 2 y - x^3", "-2 x - y"], [["0.8", "0"], ["0.3", "0.6"]], ["x", "y"])
X = WELL.simulate([0.5, 0.0], dt=0.01, n_steps=8000, seed=3).paths[0]
SHORT = {"n_chains": 2, "n_samples": 200, "n_burn": 100, "seed": 1}
LIBRARY = ito.Library.polynomials(3)


def source(folder, x=X):
    return ito.stream(
        lambda: iter(np.array_split(x, 9)), dt=0.01, names=["x", "y"], block=1000, resume=folder
    )


@pytest.fixture
def blocks(monkeypatch):
    """Blocks that were summed, after so many of which a call is interrupted."""
    state = {"done": 0, "most": None}
    inner = BlockSums.__call__

    def counted(self, block):
        if state["done"] == state["most"]:
            raise KeyboardInterrupt
        state["done"] += 1
        return inner(self, block)

    monkeypatch.setattr(BlockSums, "__call__", counted)
    monkeypatch.setattr(resumed, "PAUSE", 0.0)
    return state


def means(found):
    return [found.drift[row].mean.tolist() for row in "xy"], found.diffusion["x", "y"].mean.tolist()


def test_an_interrupted_call_goes_on_with_the_same_bits(blocks, tmp_path):
    folder = tmp_path / "sums"
    whole = ito.discover(source(None), LIBRARY, **SHORT)
    needed, blocks["done"] = blocks["done"], 0
    blocks["most"] = needed // 2 + 3  # in the middle of a sum
    with pytest.raises(KeyboardInterrupt):
        ito.discover(source(folder), LIBRARY, **SHORT)
    blocks["most"] = None
    found = ito.discover(source(folder), LIBRARY, **SHORT)
    assert blocks["done"] == needed
    assert means(found) == means(whole)
    ito.discover(source(folder), LIBRARY, **SHORT)
    assert blocks["done"] == needed


@pytest.mark.parametrize("change", ["sample", "terms", "scheme"])
def test_what_another_question_kept_is_not_taken(blocks, tmp_path, change):
    ito.moments(source(tmp_path), LIBRARY, row="x")
    needed = blocks["done"]
    x = X.copy()
    x[17, 0] += 1e-9 * (change == "sample")
    library = ito.Library.polynomials(2) if change == "terms" else LIBRARY
    scheme = "euler" if change == "scheme" else "trapezoid"
    other = ito.moments(source(tmp_path, x), library, row="x", scheme=scheme)
    assert blocks["done"] == 2 * needed
    assert np.array_equal(other.gram, ito.moments(source(None, x), library, row="x", scheme=scheme).gram)


def test_a_damaged_note_is_none(tmp_path):
    kept = Kept(str(tmp_path), fingerprint("a"))
    kept.note(3, Exact.of(np.array([0.1, -1e300])), whole=True)
    blocks, whole, found = kept.read()
    assert (blocks, whole, found.rounded().tolist()) == (3, True, [0.1, -1e300])
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:-30])
    assert kept.read() == (0, False, None)


def test_a_folder_has_a_name():
    with pytest.raises(ArgumentError, match="resume = 3"):
        source(3)
