"""Data in, translator out: the stages from a corpus to one folder that translates."""

from hopefear.creation.options import CreateOptions
from hopefear.creation.pipeline import Created, create

__all__ = ["CreateOptions", "Created", "create"]
