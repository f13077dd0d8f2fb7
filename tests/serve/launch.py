"""A server of its own process on a free port, with the small translators: ``python -m tests.serve.launch``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from hopefear.errors import InputError
from hopefear.serve import Keys, Limits, Settings, serve
from tests.serve.fake import Fake, Taught, english, german


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--idle", type=float, default=30.0)
    parser.add_argument("--api-keys")
    options = parser.parse_args()

    def opener() -> list[Fake]:
        return [replace(each, seconds=options.seconds, corrections=Taught()) for each in (german(), english())]

    keys = Keys.read(options.api_keys) if options.api_keys else Keys()
    try:
        serve(
            opener,
            Settings(port=options.port, workers=options.workers, keys=keys, limits=Limits(idle_seconds=options.idle)),
        )
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
