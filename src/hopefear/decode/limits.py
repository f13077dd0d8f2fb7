"""Default search limits of decoders by kind of model, which the help of commands shows as well."""

from __future__ import annotations

POP_LIMIT = {"hiero": 200, "blocks": 40}
MAX_OPTIONS = {"hiero": 20, "blocks": 10}
RESCORED = 100  #: edges kept of a node when features are added to forests
LIST_SIZE = 100  #: candidates of a sentence in a list that is written
