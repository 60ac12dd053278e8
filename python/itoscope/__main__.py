"""``python -m itoscope`` is the command ``itoscope``."""

import sys

from itoscope.cli import main

if __name__ == "__main__":
    sys.exit(main())
