"""The report: one file without network, which a browser shows without a complaint at 400 and at 1400 pixels."""

import json
import re
import shutil
import subprocess
from functools import cache
from html import escape, unescape

import itoscope as ito
import pytest
from itoscope.show.report import page
from markup import Tags
from results import four_states, measured, noisy, one_state

pytest.importorskip("matplotlib").use("Agg")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)

MEASURE = """
<iframe id="page" style="border:0;width:%dpx;height:3000px" srcdoc="%s"></iframe>
<pre id="found"></pre>
<script>
document.getElementById("page").onload = (event) => {
  const inside = event.target.contentDocument, root = inside.documentElement;
  const box = (element) => { const r = element.getBoundingClientRect(); return [r.width, r.height, r.right]; };
  document.getElementById("found").textContent = JSON.stringify({
    overflow: root.scrollWidth - event.target.clientWidth,
    equations: [...inside.querySelectorAll("#equations .equation math")].map(box),
    paragraphs: [...inside.querySelectorAll("#equations .equation")].map(box),
    figures: [...inside.querySelectorAll("figure svg")].map(box),
    font: parseFloat(inside.defaultView.getComputedStyle(inside.querySelector("#equations .equation")).fontSize),
  });
};
</script>
"""


@cache
def page_of(make):
    return page(make())


@pytest.fixture(scope="module")
def text():
    return page_of(measured)


def test_nothing_comes_from_elsewhere(text):
    Tags(re.sub(r"<!DOCTYPE[^>]*>|<(meta|link)[^>]*>|<([a-z]+)([^>]*)/>", "", text))
    assert "<script" not in text
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert not re.search(r"url\((?!#)", text) and "@import" not in text
    identifiers = re.findall(r'\sid="([^"]+)"', text)
    assert len(identifiers) == len(set(identifiers))


def test_everything_is_on_the_page(text):
    result = measured()
    for word in (
        "itoscope " + ito.__version__,
        "NumPy",
        str(result.settings["seed"]),
        "measurement_noise",
        "x1^2 x2",
    ):
        assert word in text
    assert text.count("<figure") >= 8
    for line in result.warnings:
        assert escape(line) in text


def test_the_same_result_gives_the_same_page():
    assert page(one_state()) == page(one_state())


def test_a_saved_result_has_a_report(tmp_path):
    result = one_state()
    result.save(tmp_path / "r.npz")
    ito.Discovery.load(tmp_path / "r.npz").report(tmp_path / "r.html", title="A < B & C")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>A &lt; B &amp; C</h1>" in text and "recording is not stored" in text


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (apt install chromium)")
@pytest.mark.parametrize("make", [measured, four_states, noisy])
@pytest.mark.parametrize("width", [400, 1400])
def test_in_a_browser(tmp_path, width, make):
    (tmp_path / "page.html").write_text(
        MEASURE % (width, escape(page_of(make), quote=True)), encoding="utf-8"
    )
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,1200",
            f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=10000",
            "--dump-dom", (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr, done.stderr
    found = json.loads(unescape(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)[1]))
    assert found["overflow"] <= 0, "the page scrolls sideways"
    assert found["font"] >= 15
    assert len(found["equations"]) >= 4
    assert len(found["figures"]) >= 8
    assert all(w > 5 and h > 10 and right <= width for w, h, right in found["equations"])
    assert all(h > 10 for _, h, _ in found["paragraphs"])
    assert all(w > 150 and h > 60 for w, h, _ in found["figures"])


EXPLORE = """
<pre id="found"></pre>
<script>
const wait = () => new Promise((go) => setTimeout(go, 500));
window.addEventListener("load", () => setTimeout(async () => {
  const models = [...Bokeh.documents[0].all_models];
  const [box] = models.filter((model) => model.type === "CheckboxGroup");
  const [paths] = models.filter((model) => model.type === "Select");
  const { args } = box.js_property_callbacks["change:active"][0];
  const curve = args instanceof Map ? args.get("source") : args.source;
  const before = [...curve.data.y];
  box.active = [];
  await wait();
  const none = [...curve.data.y];
  box.active = [1];
  await wait();
  const lines = () => models.filter((model) => model.type === "GlyphRenderer" && model.glyph.type === "Line")
    .filter((model) => model.visible).length;
  const seen = lines();
  paths.value = "3";
  await wait();
  document.getElementById("found").textContent = JSON.stringify({
    before, none, one: [...curve.data.y], share: [...curve.data.t1], labels: box.labels, moved: lines() - seen,
    figures: models.filter((model) => model.type === "Figure").length,
  });
}, 1500));
</script>
"""


@cache
def to_explore():
    pytest.importorskip("bokeh")
    return page(measured(), interactive=True)


def test_a_page_to_explore_holds_its_script_and_stays_small():
    text = to_explore()
    plain = re.sub(r"(?s)(<script[^>]*>).*?</script>", r"\1", text)
    assert plain.count("<script") > 1 and not re.search(r"(?:src|href)=[\"'](?!#|data:)", plain)
    assert len(text.encode()) < 3e6 and "Explore" in text
    assert "Explore" not in page_of(measured)


def test_a_saved_result_has_terms_to_explore_and_no_recording(tmp_path):
    pytest.importorskip("bokeh")
    one_state().save(tmp_path / "r.npz")
    ito.Discovery.load(tmp_path / "r.npz").report(tmp_path / "r.html", interactive=True)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "probability of each term" in text and "CheckboxGroup" not in text.split("<script")[-1]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine (apt install chromium)")
def test_switches_take_terms_out_of_the_curve_in_a_browser(tmp_path):
    (tmp_path / "page.html").write_text(
        to_explore().removesuffix("</body></html>\n") + EXPLORE, encoding="utf-8"
    )
    done = subprocess.run(
        [
            CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900",
            f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=15000",
            "--dump-dom", (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert "Uncaught" not in done.stderr, done.stderr
    found = json.loads(unescape(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)[1]))
    assert found["labels"] == ["x1", "x2", "x1^3"] and found["figures"] == 7
    assert not any(found["none"]) and found["one"] == found["share"] and found["before"] != found["one"]
    assert found["moved"] == 0  # another path in the place of the first, of both states


@pytest.mark.parametrize(("steps", "paths"), [(60_000, 1), (300, 200)])
def test_a_page_stays_small_whatever_the_recording(steps, paths):
    """3 MB, and no curve of more than 2000 points (two numbers each, there and back for a band)."""
    model = ito.SDE(["v", "-4*x - 0.4*v"], [["0"], ["1"]], ["x", "v"])
    data = model.simulate([0.3, 0.0], dt=0.02, n_steps=steps, n_paths=paths, substeps=2, seed=1)
    short = {"n_samples": 100, "n_burn": 50, "n_chains": 2, "seed": 1}
    text = page(ito.discover(data, ito.Library.polynomials(1), known_drift={"x": "v"}, **short))
    assert len(text.encode()) < 3e6
    assert max(len(re.findall("[ML]", curve)) for curve in re.findall(r' d="([^"]*)"', text)) <= 4001
