"""Data in, translator out: the stages from a corpus to one folder that translates."""

from hopefear.create.making import Created, create
from hopefear.create.options import CreateOptions

__all__ = ["CreateOptions", "Created", "create"]
