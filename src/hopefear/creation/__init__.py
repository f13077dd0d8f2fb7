"""Data in, translator out: the stages from a corpus to one folder that translates."""

from hopefear.creation.making import Created, create
from hopefear.creation.options import CreateOptions

__all__ = ["CreateOptions", "Created", "create"]
