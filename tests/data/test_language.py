"""The small synchronous language."""

from hopefear.data.language import SyntheticParallel


def test_the_same_seed_gives_the_same_language() -> None:
    one, two = SyntheticParallel(seed=3).pairs(50), SyntheticParallel(seed=3).pairs(60)
    assert one == two[:50]
    assert one != SyntheticParallel(seed=4).pairs(50)
    assert one != SyntheticParallel(seed=3).pairs(50, stream=1)


def test_links_are_inside_and_cross() -> None:
    crossing = 0
    for pair in SyntheticParallel().pairs(200, noise=0):
        n, m = len(pair.source.split()), len(pair.target.split())
        assert pair.links
        assert all(0 <= s < n and 0 <= t < m for s, t in pair.links)
        assert len(set(pair.links)) == len(pair.links)
        crossing += any(a < c and b > d for a, b in pair.links for c, d in pair.links)
    assert crossing > 150


def test_there_is_ambiguity_noise_and_several_references() -> None:
    data = SyntheticParallel()
    pairs = data.pairs(300)
    meanings: dict[str, set[str]] = {}
    for pair in data.pairs(300, noise=0):
        source, target = pair.source.split(), pair.target.split()
        for s, t in pair.links:
            meanings.setdefault(source[s], set()).add(target[t])
    assert sum(len(words) > 1 for words in meanings.values()) > 20
    assert sum(pair.target not in data.references(pair, 8) for pair in pairs) > 50
    assert all(pair.target in data.references(pair, 200) for pair in data.pairs(20, stream=2, noise=0))
