"""Property tests draw the same examples every time."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "hopefear",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("hopefear")
