"""The oldest Rust that Cargo.toml promises: checked by that toolchain if it is installed, else by what the crates ask.

Clippy's `incompatible_msrv`, which `make lint` runs on any toolchain, holds our own code to the promise; here every
dependency's `rust-version` is compared with it.

    python tools/msrv.py
"""

from __future__ import annotations

import json
import subprocess
import sys

METADATA = ["cargo", "metadata", "--format-version", "1", "--locked"]


def version(text: str) -> tuple[int, ...]:
    """`1.89` or `1.89.0` as numbers to compare."""
    return tuple(int(part) for part in f"{text}.0".split(".")[:3])


def main() -> int:
    packages = json.loads(subprocess.run(METADATA, capture_output=True, check=True).stdout)["packages"]
    promised = next(package["rust_version"] for package in packages if package["name"] == "itoscope-core")
    toolchain = f"+{promised}"
    if subprocess.run(["cargo", toolchain, "--version"], capture_output=True).returncode == 0:
        command = [
            "cargo",
            toolchain,
            "check",
            "--workspace",
            "--locked",
            "--quiet",
            "--target-dir",
            "target/msrv",
        ]
        return subprocess.run(command).returncode
    print(f"Rust {promised} is not installed: what the dependencies ask is compared with it")
    newer = [
        f"{package['name']} {package['version']} asks for Rust {package['rust_version']}"
        for package in packages
        if package["rust_version"] and version(package["rust_version"]) > version(promised)
    ]
    print(*newer, sep="\n", end="\n" if newer else "")
    return 1 if newer else 0


if __name__ == "__main__":
    sys.exit(main())
