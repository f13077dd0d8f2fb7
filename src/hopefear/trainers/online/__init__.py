"""Online trainers: hope and fear while a decoder translates (Chiang 2012)."""
