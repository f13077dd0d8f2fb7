"""Tags placed in a translation by its word alignment.

The tags of a sentence are a tree: pairs with what they enclose, and tags that stand alone. Each pair is laid around the
words that are aligned with its content, inside the place of its parent and clear of its siblings. So the result is well
formed whatever the alignment is, and each tag is there exactly once.

Positions are those of gaps: 0 is before the first word, the number of words is behind the last. A closing tag without
its opening one (it stands in an earlier sentence) closes what starts before the sentence, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hopefear.documents.segment import Tag

_FOREIGN, _FREE = -1, -2  # words of the target that belong to no child, and those without a link


@dataclass(slots=True, eq=False)
class _Node:
    """Tags with their place in the source (``start`` to ``stop``) and in the target (``left`` to ``right``).

    A pair has both tags, a part of a pair that reaches beyond the sentence has one, a tag alone is a ``point``.
    """

    opening: Tag | None
    start: int
    stop: int
    order: int
    closing: Tag | None = None
    point: bool = False
    left: int = 0
    right: int = 0
    children: list[_Node] = field(default_factory=list)

    def place(self) -> tuple[int, int, int]:
        """What decides its order among siblings."""
        return self.left, self.right, self.order


def place_tags(
    tags: Sequence[tuple[int, Tag]], links: Iterable[tuple[int, int]], source_length: int, target_length: int
) -> list[tuple[int, Tag]]:
    """Where the tags of a sentence stand in its translation, in their order there.

    ``tags`` are (position in the source, tag) in their order; ``links`` are aligned words (source, target), counted
    from 0. A pair surrounds the words that are aligned with its content; if too many others lie between them, the best
    contiguous part. A tag alone stays before the translation of the word that it stood before.
    """
    aligned: list[list[int]] = [[] for _ in range(source_length)]
    for s, t in links:
        if 0 <= s < source_length and 0 <= t < target_length:
            aligned[s].append(t)
    root = _Node(None, 0, source_length, 0, right=target_length, children=_tree(tags, source_length))
    open_nodes = [root]
    while open_nodes:
        node = open_nodes.pop()
        _Layout(node, aligned).lay()
        open_nodes += node.children
    return _in_order(root)


def _roles(tags: Sequence[tuple[int, Tag]]) -> list[str]:
    """Each tag is an ``open`` or ``close`` of a tree, closes what starts ``before`` the sentence, or is a ``point``."""
    roles = ["point"] * len(tags)
    stack: list[int] = []
    for i, (_, tag) in enumerate(tags):
        if tag.kind == "open":
            roles[i] = "open"
            stack.append(i)
        elif tag.kind == "close":
            partner = next((k for k in reversed(stack) if tags[k][1].id == tag.id), None)
            if partner is None:
                roles[i] = "point" if stack else "before"
                continue
            if partner == stack[-1]:
                roles[i] = "close"
            else:  # it crosses another pair
                roles[partner] = "point"
            stack.remove(partner)
    return roles


def _tree(tags: Sequence[tuple[int, Tag]], length: int) -> list[_Node]:
    stack = [_Node(None, 0, length, 0)]
    last = 0
    for order, ((position, tag), role) in enumerate(zip(tags, _roles(tags), strict=True)):
        last = position = min(max(position, last), length)
        if role == "open":
            node = _Node(tag, position, length, order)
            stack[-1].children.append(node)
            stack.append(node)
        elif role == "close":
            stack[-1].closing, stack[-1].stop = tag, position
            stack.pop()
        elif role == "before":
            stack[0].children = [_Node(None, 0, position, -1, closing=tag, children=stack[0].children)]
        else:
            stack[-1].children.append(_Node(tag, position, position, order, point=True))
    return stack[0].children


class _Layout:
    """Lays the children of a node in its place in the target."""

    def __init__(self, node: _Node, aligned: list[list[int]]) -> None:
        self._node, self._aligned = node, aligned
        self._low, self._high = node.left, node.right
        self._pairs = [child for child in node.children if not child.point]
        self._laid: list[_Node] = []
        self._owner = self._owners()

    def lay(self) -> None:
        """Parts of pairs that reach beyond the sentence first, then pairs, then what has no words of its own."""
        if not self._node.children:
            return
        inner = [(k, child) for k, child in enumerate(self._pairs) if not self._lay_bound(k, child)]
        left_over = [child for k, child in inner if not self._lay_pair(k, child)]
        for child in left_over:
            if child.stop > child.start:
                self._lay_by_share(child)
        for child in self._node.children:
            if child.stop == child.start and child not in self._laid:
                child.left = child.right = self._gap(child)

    def _owners(self) -> list[int]:
        """For each word of the target in this place, the child with most links to it."""
        node = self._node
        votes: list[dict[int, int]] = [{} for _ in range(node.right - node.left)]
        k = 0
        for s in range(node.start, node.stop) if self._pairs else ():
            while k < len(self._pairs) and self._pairs[k].stop <= s:
                k += 1
            inside = k < len(self._pairs) and self._pairs[k].start <= s
            for t in self._aligned[s]:
                if node.left <= t < node.right:
                    owner = k if inside else _FOREIGN
                    votes[t - node.left][owner] = votes[t - node.left].get(owner, 0) + 1
        return [max(each, key=lambda k: (each[k], k >= 0, -k)) if each else _FREE for each in votes]

    def _owned(self, t: int) -> int:
        return self._owner[t - self._node.left]

    def _is_whole(self, child: _Node) -> bool:
        rest = [pair for pair in self._pairs if pair is not child and pair.stop > pair.start]
        return (
            (child.start, child.stop) == (self._node.start, self._node.stop) and not rest and child.stop > child.start
        )

    def _lay_bound(self, k: int, child: _Node) -> bool:
        """A child that reaches from the start of the sentence, or to its end."""
        to_start, to_end = child.opening is None, child.closing is None
        if not (to_start or to_end):
            return False
        scores, score = [0], 0
        words = range(self._low, self._high) if to_start else range(self._high - 1, self._low - 1, -1)
        for t in words:
            owner = self._owned(t)
            score += 1 if owner == k else 0 if owner == _FREE else -1
            scores.append(score)
        if self._is_whole(child):
            length = len(words)
        elif k in self._owner:
            length = scores.index(max(scores))
        else:
            length = round(len(words) * (child.stop - child.start) / max(1, self._node.stop - self._node.start))
        if to_start:
            child.left, child.right = self._low, self._low + length
            self._low = child.right
        else:
            child.left, child.right = self._high - length, self._high
            self._high = child.left
        self._laid.append(child)
        return True

    def _lay_pair(self, k: int, child: _Node) -> bool:
        """A pair around its own words: all of them, unless more others lie between, or a sibling's."""
        if self._is_whole(child):
            child.left, child.right = self._low, self._high
        else:
            own = [t for t in range(self._low, self._high) if self._owned(t) == k]
            if not own:
                return False
            between = [self._owned(t) for t in range(own[0], own[-1] + 1)]
            if len(between) <= 2 * len(own) and not any(owner >= 0 and owner != k for owner in between):
                child.left, child.right = own[0], own[-1] + 1
            else:
                child.left, child.right = self._best_run(k, own)
        self._laid.append(child)
        return True

    def _best_run(self, k: int, own: list[int]) -> tuple[int, int]:
        """The part from one own word to another with the most own words over others, without a sibling's."""
        best, best_run = 0.0, (own[0], own[0] + 1)
        score, start = 0.0, own[0]
        for t in range(own[0], own[-1] + 1):
            owner = self._owned(t)
            if owner == k:
                if score <= 0:
                    score, start = 0.0, t
                score += 1
                if score > best:
                    best, best_run = score, (start, t + 1)
            else:
                score = 0.0 if owner >= 0 else score - (0.5 if owner == _FREE else 1)
        return best_run

    def _lay_by_share(self, child: _Node) -> None:
        """A pair whose words have no links: the same share of the place, as far as siblings leave it."""
        node = self._node
        scale = (node.right - node.left) / max(1, node.stop - node.start)
        left = min(max(self._low, node.left + round((child.start - node.start) * scale)), self._high)
        right = min(max(left + 1, node.left + round((child.stop - node.start) * scale)), self._high)
        runs, start = [], left
        for other in sorted((n for n in self._laid if n.right > n.left), key=lambda n: n.left):
            if other.right > left and other.left < right:
                runs.append((start, max(start, other.left)))
                start = max(start, other.right)
        runs.append((min(start, right), right) if start < right else (start, start))
        longest = max(runs, key=lambda run: run[1] - run[0])
        child.left, child.right = longest if longest[1] > longest[0] else runs[-1]
        self._laid.append(child)

    def _gap(self, child: _Node) -> int:
        """The place of what encloses no word: before the translation of the word that it stood before."""
        gap = min(max(self._low, self._near(child.start)), self._high)
        for other in self._laid:
            after = other.order < child.order
            if other.left < gap < other.right or (after and other.left <= gap < other.right):
                return other.right if after else other.left
        return gap

    def _near(self, s: int) -> int:
        node = self._node
        if s >= node.stop:
            return self._high
        for distance in range(node.stop - node.start + 1):
            for word, behind in ((s + distance, False), (s - 1 - distance, True)):
                if node.start <= word < node.stop:
                    there = [t for t in self._aligned[word] if self._low <= t < self._high]
                    if there:
                        return max(there) + 1 if behind else min(there)
        return node.left + round((s - node.start) * (node.right - node.left) / max(1, node.stop - node.start))


def _in_order(root: _Node) -> list[tuple[int, Tag]]:
    """The tags of a tree that has been laid out."""
    placed: list[tuple[int, Tag]] = []
    ends: list[_Node] = []  # what is open, and then comes up again to be closed
    todo = [root]
    while todo:
        node = todo.pop()
        if ends and ends[-1] is node:
            if node.closing is not None:
                placed.append((node.right, node.closing))
            ends.pop()
            continue
        if node.opening is not None:
            placed.append((node.left, node.opening))
        ends.append(node)
        todo.append(node)
        todo += sorted(node.children, key=_Node.place, reverse=True)
    return placed
