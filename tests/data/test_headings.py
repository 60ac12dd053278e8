"""Twenty headings of times and twenty of recordings, in the ways and languages in which people write them."""

import numpy as np
import pytest
from itoscope import Trajectories, errors
from itoscope.data.headings import clean_names, heading

N = 40
RNG = np.random.default_rng(3)
X, V = RNG.standard_normal((2, N))
STEP = 0.25

TIMES = {
    "t": "", "time": "", "TIME (s)": "s", "Time [ms]": "ms", "time_s": "s", "t_ms": "ms", "timestamp": "",
    "Timestamp [s]": "s", "elapsed_s": "s", "Elapsed Time (min)": "min", "Zeit": "", "Zeit in s": "s",
    "Temps (s)": "s", "tiempo": "", "Tempo [s]": "s", "время (с)": "s", "时间 (s)": "s", "seconds": "s",
    "POSITION_T": "", "RelativeTime": "",
    "year": "y", "Days": "d", "X_Value": "", "Time since start / h": "h",
}  # fmt: skip
COUNTS = ["frame", "Frame #", "FRAME", "Bild", "sample", "step", "image_number", "index", "帧"]
IDS = [
    "path", "trajectory", "particle", "Particle_ID", "TRACK_ID", "trackId", "track", "run", "Run #", "run_no", "trial",
    "id", "ID", "subject", "Subject ID", "animal", "fish", "cell", "cell_id", "replicate", "member", "Versuch",
    "Teilchen", "essai", "partícula", "粒子", "symbol", "station",
]  # fmt: skip


def csv(folder, titles, *columns):
    file = folder / "run.csv"
    rows = "\n".join(",".join(map(str, row)) for row in zip(*columns))
    file.write_text(",".join(titles) + "\n" + rows + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("title", TIMES)
def test_time_headings(tmp_path, title):
    t = STEP * np.arange(N)
    file = csv(tmp_path, [title, "x", "v"], t, X, V)
    data = Trajectories.from_file(file)
    assert (data.names, data.dt, data.time_unit) == (("x", "v"), STEP, TIMES[title])
    assert Trajectories.from_file(file, dt=STEP).names == ("x", "v")
    with pytest.raises(errors.ArgumentError, match=r"dt = 0\.1.*step 0\.25"):
        Trajectories.from_file(file, dt=0.1)


@pytest.mark.parametrize("title", COUNTS)
def test_counts_of_samples(tmp_path, title):
    file = csv(tmp_path, [title, "x", "v"], np.arange(N) + 3, X, V)
    film = Trajectories.from_file(file, fps=25)
    assert (film.names, film.dt, film.time_unit) == (("x", "v"), 0.04, "s")
    assert Trajectories.from_file(file, dt=0.5).dt == 0.5
    alone = Trajectories.from_file(file)
    assert alone.dt == 1 and alone.time_unit


@pytest.mark.parametrize("title", IDS)
@pytest.mark.parametrize("timed", [True, False])
def test_id_headings(tmp_path, title, timed):
    which = np.repeat([7, 3], N // 2)
    t = np.tile(STEP * np.arange(N // 2), 2)
    titles, columns = [title, "x"], [which, X]
    if timed:
        titles, columns = ["t", *titles], [t, *columns]
    data = Trajectories.from_file(csv(tmp_path, titles, *columns), **({} if timed else {"dt": STEP}))
    assert (data.names, data.n_paths, data.dt, data.ids) == (("x",), 2, STEP, (7, 3))


@pytest.mark.parametrize(
    ("title", "values"),
    [
        ("T", 20 + X),
        ("T [K]", 290 + X),
        ("Temperature", X),
        ("reaction time", X),
        ("cell", X),
        ("cell [V]", np.round(X)),
        ("data", X),
        ("position", X),
        ("tension", X),
        ("id_current", X),
        ("step response", X),
    ],
)
def test_quantities_stay_states(tmp_path, title, values):
    data = Trajectories.from_file(csv(tmp_path, ["x", title], X, values), dt=1)
    assert data.n_states == 2 and data.dt == 1


@pytest.mark.parametrize(
    ("titles", "columns", "argument"),
    [
        (["clk", "x", "v"], [STEP * np.arange(N), X, V], "time='clk'"),
        (["x", "nn", "v"], [X, np.arange(N), V], "time='nn'"),
        (["t", "x", "again"], [STEP * np.arange(N), X, 1000 * STEP * np.arange(N)], "time='again'"),
        (["bead", "x", "v"], [np.repeat([1, 2], N // 2), X, V], "id='bead'"),
        (["t", "bead", "x"], [np.tile(np.arange(N // 2), 2), np.repeat([1, 2], N // 2), X], "id='bead'"),
        (
            ["t", "bead", "x"],
            [np.repeat(np.arange(N // 4), 4), np.tile(list("abcd"), N // 4), X],
            "id='bead'",
        ),
    ],
)
def test_what_nobody_named_is_asked(tmp_path, titles, columns, argument):
    file = csv(tmp_path, titles, *columns)
    timed = "t" in titles
    with pytest.raises(errors.DataError) as caught:
        Trajectories.from_file(file, **({} if timed else {"dt": STEP}))
    assert argument in str(caught.value) and "columns=[" in str(caught.value)
    # Both remedies are calls that work.
    name, value = argument.split("=")
    said = {name: value.strip("'")}
    if name == "id" and not timed:
        said["dt"] = STEP
    other = Trajectories.from_file(file, **said)
    assert value.strip("'") not in other.names
    states = [title for title in titles if title in ("x", "v")]
    if name == "time" or not timed:
        assert Trajectories.from_file(file, columns=states, **({} if timed else {"dt": STEP})).n_paths == 1


def test_an_age_runs_against_time_or_with_it(tmp_path):
    file = csv(tmp_path, ["Age [ka BP]", "d18O"], 5 + 0.5 * np.arange(N), X)
    data = Trajectories.from_file(file)
    assert data.time_unit == "ka"
    np.testing.assert_array_equal(data.paths[0][:, 0], X[::-1])
    assert data.times[0][-1] == -5
    assert Trajectories.from_file(file, time_unit="y").dt == 500
    file = csv(tmp_path, ["age", "x"], np.arange(N), X)
    with pytest.raises(errors.DataError, match=r"time='age' if it grows with time, time='-age'"):
        Trajectories.from_file(file)
    np.testing.assert_array_equal(Trajectories.from_file(file, time="age").paths[0][:, 0], X)
    np.testing.assert_array_equal(Trajectories.from_file(file, time="-age").paths[0][:, 0], X[::-1])


@pytest.mark.parametrize(
    ("text", "label", "unit"),
    [
        ("disp [mm]", "disp", "mm"),
        ("disp (µm)", "disp", "µm"),
        ("Kraft in N", "Kraft", "N"),
        ("v / (m/s)", "v", "m/s"),
        ("v (m s^-1)", "v", "m s^-1"),
        ("x (filtered)", "x (filtered)", ""),
        ("U, mV", "U", "mV"),
        ("d18O (permil)", "d18O", "permil"),
        ("d18O (‰ VPDB)", "d18O", "‰ VPDB"),
        ("count [a.u.]", "count", "a.u."),
        ("θ [rad]", "θ", "rad"),
    ],
)
def test_units_of_headings(text, label, unit):
    found = heading(text)
    assert (found.label, found.unit) == (label, unit)


def test_names_keep_letters_of_every_alphabet():
    assert clean_names(["θ", "Δx (mm)", "位移", "Größe", "x₁", "2nd", "a-b", "***"]) == [
        "θ", "Δx_mm", "位移", "Größe", "x1", "x2nd", "a_b", "x",
    ]  # fmt: skip


@pytest.mark.parametrize("title", ["N", "n", "number"])
def test_the_size_of_a_population_is_no_count_of_samples(tmp_path, title):
    size = np.cumsum(RNG.integers(1, 9, N))
    data = Trajectories.from_file(csv(tmp_path, [title, "x"], size, X), dt=1)
    assert data.names == (title, "x") and data.paths[0][-1, 0] == size[-1]
