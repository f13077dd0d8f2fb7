"""Trainers of the block-sequence model."""
