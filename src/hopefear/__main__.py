"""``python -m hopefear`` is the command ``hopefear``."""

import sys

from hopefear.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
