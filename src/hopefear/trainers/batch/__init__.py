"""Trainers that learn from candidate lists, lattices and forests."""
