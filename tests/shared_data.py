"""Where the shared data sets are, if they are here at all."""

import os
from pathlib import Path

_beside = Path(__file__).resolve().parents[2] / "shared"
_named = Path(os.environ.get("HOPEFEAR_SHARED", _beside))
SHARED: Path | None = _named if (_named / "data").is_dir() else None
