"""Progress: counts for a callable, a bar on a terminal, silence elsewhere; Ctrl-C gives control back."""

import io
import os
import pty
import select
import signal
import subprocess
import sys
import time

import itoscope as ito
import pytest
from itoscope.common.progress import Reporter

SHORT = {"n_chains": 2, "n_samples": 150, "n_burn": 50, "seed": 1}


def data():
    return ito.problems.ornstein_uhlenbeck().simulate(duration=20.0, dt=0.01, n_paths=4, seed=1)


def test_a_callable_receives_one_growing_count(backend):
    seen = []
    recording = data() if backend == "rust" else data()[:1]
    result = ito.discover(
        recording, ito.Library.polynomials(2), backend=backend, progress=seen.append, **SHORT
    )
    assert seen == sorted(seen) and all(isinstance(count, int) for count in seen)
    assert seen[-1] > 2 * 2 * 200  # two equations of two chains each, and the sums before
    silent = ito.discover(recording, ito.Library.polynomials(2), backend=backend, **SHORT)
    assert str(silent) == str(result)


def test_an_exception_in_it_ends_the_call():
    def stop(count):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ito.discover(data(), ito.Library.polynomials(2), progress=stop, **SHORT)


def test_silence_where_there_is_no_terminal(capsys):
    ito.discover(data(), ito.Library.polynomials(2), progress=True, **SHORT)
    ito.problems.ornstein_uhlenbeck().simulate(duration=1.0, dt=0.01, progress=True, seed=1)
    found = capsys.readouterr()
    assert found.out == found.err == ""


def test_what_else_is_given_is_refused():
    for value in (3, "yes"):
        with pytest.raises(ito.errors.ArgumentError, match=f"progress = {value!r}"):
            ito.discover(data(), ito.Library.polynomials(2), progress=value)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_plain_line_and_that_it_is_wiped(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Reporter(True).stage("sampling", 200, "sweeps") as count:
        count(50)
    text = screen.getvalue()
    assert "sampling:  25 %" in text and "sweeps/s" in text and "s left" in text
    assert text.endswith("\r\033[K")


def test_the_bar_of_rich():
    pytest.importorskip("rich")
    code = (
        "import time\nfrom itoscope.common.progress import Reporter\n"
        "with Reporter(True).stage('sampling', 200, 'sweeps') as count:\n"
        "    count(50); time.sleep(0.3)\n"
    )
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", code], stderr=slave, env={**os.environ, "COLUMNS": "100"}, check=True
    )
    os.close(slave)
    text = os.read(master, 100_000).decode()
    os.close(master)
    assert done.returncode == 0 and "sampling" in text and "25%" in text and "sweeps/s" in text


LONG = """
import sys, time, itoscope as ito, numpy as np
data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, seed=1)
moments = ito.moments(data, ito.Library.paper(6), row="x2")
calls = {
    "discover": lambda: ito.discover(data, known_drift={"x1": "x2"}, n_samples=1_000_000, n_chains=2, seed=1),
    "sample": lambda: moments.sample(n_samples=50_000_000, max_memory=1e6, seed=1),
    "simulate": lambda: ito.problems.duffing_van_der_pol().simulate(
        duration=1000.0, dt=1e-3, n_paths=2000, substeps=1000, keep_every=1000, seed=1),
    "noisy": lambda: ito.discover(
        ito.Trajectories(np.tile(data.positions(noise=0.05, seed=2).paths[0], (2000, 1, 1)), dt=1e-3, names=["x1"]),
        order=2, measurement_noise="estimate", seed=1),
}
print("ready", flush=True)
start = time.monotonic()
try:
    calls[sys.argv[1]]()
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
print(ito.discover(data[:2], ito.Library.polynomials(1), n_samples=50, n_burn=10, seed=1).states, flush=True)
"""


@pytest.mark.parametrize("call", ["discover", "sample", "simulate", "noisy"])
def test_ctrl_c_gives_control_back_and_leaves_the_interpreter_usable(call):
    """Each call would take minutes; that it returns at all within the timeout is what is tested."""
    run = subprocess.Popen([sys.executable, "-c", LONG, call], stdout=subprocess.PIPE, text=True)
    try:
        assert run.stdout.readline() == "ready\n"
        time.sleep(1.0)
        # Python itself loses an interrupt that lands in a destructor or a weak reference's callback: press again.
        for _ in range(3):
            sent = time.time()
            run.send_signal(signal.SIGINT)
            if select.select([run.stdout], [], [], 5.0)[0]:
                break
        word, at = run.stdout.readline().split()
        assert word == "stopped"
        print(f"{call}: control back after {float(at) - sent:.3f} s")
        assert "x1" in run.communicate(timeout=60)[0]
        assert run.returncode == 0
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def test_progress_of_what_a_result_does():
    from results import one_state

    result = one_state()
    for call in (
        lambda progress: result.simulate([1.0], n_steps=50, n_paths=5, seed=1, progress=progress),
        lambda progress: result.forecast([1.0], n_steps=50, n_paths=5, seed=1, progress=progress),
        lambda progress: result.self_check(seed=1, progress=progress),
    ):
        seen = []
        call(seen.append)
        assert seen and seen == sorted(seen) and all(isinstance(count, int) for count in seen)
