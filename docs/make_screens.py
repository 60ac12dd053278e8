"""Photograph the site and a report into docs/screens/: `make docs && python docs/make_screens.py`.

Needs Chromium, and for pages as printed pdftoppm of poppler.
"""

import io
import shutil
import subprocess
import tempfile
from pathlib import Path

import itoscope as ito
import matplotlib

matplotlib.use("Agg")
from PIL import Image

HERE = Path(__file__).parent
SITE = HERE.parent / "site"
SCREENS = HERE / "screens"
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Width and height of a window, and what the reader's screen prefers.
WINDOWS = {"light": (1100, 1500, 1), "dark": (1100, 1500, 0), "phone": (500, 1500, 1)}
#: Pages of a print, from left to right and down, their resolution, and pixels between them.
PAGES, ACROSS, DPI, GAP = 10, 5, 45, 8
#: Colours of a picture, and how much of its size is kept.
COLOURS, SCALE = 64, 0.6


def chromium() -> str:
    """The browser."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("no Chromium on this machine (apt install chromium)")
    return found


def browse(page: Path, folder: str, *options: str) -> None:
    """The page through the browser."""
    subprocess.run(
        [
            chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
            "--virtual-time-budget=8000", *options, page.resolve().as_uri(),
        ],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip


def photograph(page: Path, window: tuple[int, int, int]) -> Image.Image:
    """The page as a window shows it."""
    width, height, scheme = window
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "screen.png"
        browse(
            page, folder, "--hide-scrollbars", f"--window-size={width},{height}",
            f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={target}",
        )  # fmt: skip
        return Image.open(io.BytesIO(target.read_bytes())).convert("RGB")


def printed(page: Path) -> Image.Image:
    """The pages as printed, beside each other."""
    with tempfile.TemporaryDirectory() as folder:
        browse(page, folder, "--no-pdf-header-footer", f"--print-to-pdf={folder}/page.pdf")
        subprocess.run(
            ["pdftoppm", "-r", str(DPI), "-l", str(PAGES), "-png", f"{folder}/page.pdf", f"{folder}/page"],
            check=True,
        )
        pages = [Image.open(path).convert("RGB") for path in sorted(Path(folder).glob("page-*.png"))]
        width, height = (side + GAP for side in pages[0].size)
        across = min(len(pages), ACROSS)
        sheet = Image.new("RGB", (across * width + GAP, -(-len(pages) // across) * height + GAP), "#999999")
        for k, one in enumerate(pages):
            sheet.paste(one, (GAP + k % across * width, GAP + k // across * height))
        return sheet


def kept(picture: Image.Image, name: str, scale: float = SCALE) -> None:
    """Write a picture small."""
    size = (round(picture.width * scale), round(picture.height * scale))
    small = picture.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS)
    small.save(SCREENS / f"{name}.png", optimize=True)


def main() -> None:
    """All screens."""
    SCREENS.mkdir(exist_ok=True)
    data = ito.problems.duffing_van_der_pol().simulate(duration=1.0, dt=1e-3, n_paths=20, seed=1)
    result = ito.discover(data, ito.Library.polynomials(4), known_drift={"x1": "x2"}, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        pages = {"start": SITE / "index.html"}
        for name, interactive in (("report", False), ("explore", True)):
            pages[name] = Path(folder) / f"{name}.html"
            result.report(pages[name], interactive=interactive)
        for name, page in pages.items():
            for look, window in WINDOWS.items():
                kept(photograph(page, window), f"{name}-{look}")
        for name in ("start", "report", "explore"):
            kept(printed(pages[name]), f"{name}-print", 1.0)


if __name__ == "__main__":
    main()
