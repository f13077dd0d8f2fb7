"""The queue: what is translated together, what is refused, and that nothing is lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hopefear.serve.batching import Batcher
from hopefear.serve.settings import Limits, RequestError
from tests.serve.fake import Fake


def run(work: Callable[[Callable[..., Batcher]], Awaitable[Any]]) -> Any:
    async def whole() -> Any:
        made: list[Batcher] = []

        def make(**options: Any) -> Batcher:
            lanes = options.pop("lanes", 2)
            made.append(Batcher(Limits(**options), lanes))
            return made[-1]

        try:
            return await work(make)
        finally:
            for batcher in made:
                await batcher.close()

    return asyncio.run(whole())


class Gate(Fake):
    """Waits in each call until it is opened; ``entered`` is set when a call has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.opened, self.entered = threading.Event(), threading.Event()

    def translations(self, *arguments: Any, **options: Any) -> Any:
        self.entered.set()
        assert self.opened.wait(20)
        return super().translations(*arguments, **options)


async def until(event: threading.Event) -> None:
    while not event.is_set():
        await asyncio.sleep(0.001)


def test_texts_of_many_requests_go_together_and_come_back_in_order() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, batcher = Gate(), make(lanes=1, batch=16)
        first = asyncio.create_task(batcher.translations(gate, ["haus"]))
        await until(gate.entered)
        others = [asyncio.create_task(batcher.translations(gate, [f"haus {k}", f"hund {k}"])) for k in range(20)]
        await asyncio.sleep(0.01)
        assert batcher.waiting == 40
        gate.opened.set()
        answers = await asyncio.gather(first, *others)
        assert [[each.text for each in answer] for answer in answers[1:]] == [
            [f"house {k}", f"dog {k}"] for k in range(20)
        ]
        assert gate.calls == [1, 16, 16, 8]

    run(work)


def test_what_differs_is_not_mixed() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, other, batcher = Gate(), Fake(words={"haus": "Casa"}), make(lanes=1)
        first = asyncio.create_task(batcher.translations(gate, ["haus"]))
        await until(gate.entered)
        rest = [
            asyncio.create_task(batcher.translations(*arguments))
            for arguments in ((gate, ["haus"], 3), (other, ["haus"]), (gate, ["mann"]), (gate, ["hund"], 3))
        ]
        await asyncio.sleep(0.01)
        gate.opened.set()
        await first
        answers = [(await each)[0] for each in rest]
        assert [answer.text for answer in answers] == ["house", "Casa", "man", "dog"]
        assert [len(answer.alternatives) for answer in answers] == [3, 1, 1, 3]
        assert gate.calls == [1, 2, 1] and other.calls == [1]

    run(work)


def test_long_texts_do_not_hold_up_short_ones() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, batcher = Gate(), make(lanes=1)
        first = asyncio.create_task(batcher.translations(gate, ["haus"]))
        await until(gate.entered)
        rest = [asyncio.create_task(batcher.translations(gate, ["haus " * 1500])) for _ in range(3)]
        await asyncio.sleep(0.01)
        gate.opened.set()
        await asyncio.gather(first, *rest)
        assert gate.calls == [1, 1, 1, 1]

    run(work)


def test_a_full_queue_refuses_at_once() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, batcher = Gate(), make(lanes=1, queue=3)
        first = asyncio.create_task(batcher.translations(gate, ["haus"]))
        await until(gate.entered)
        waiting = asyncio.create_task(batcher.translations(gate, ["haus", "hund"]))
        await asyncio.sleep(0)
        with pytest.raises(RequestError) as refused:
            await batcher.translations(gate, ["mann", "mann"])
        assert refused.value.status == 503 and 1 <= (refused.value.wait or 0) <= 60
        third = asyncio.create_task(batcher.translations(gate, ["mann"]))
        await asyncio.sleep(0)
        gate.opened.set()
        assert [len(answer) for answer in await asyncio.gather(first, waiting, third)] == [1, 2, 1]

    run(work)


def test_one_bad_text_spoils_no_other() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        batcher, fake = make(lanes=1, pause=0.02), Fake()
        texts = ["haus", "verboten", "hund", "kaputt"]
        results = await asyncio.gather(*(batcher.translations(fake, [text]) for text in texts), return_exceptions=True)
        assert [result[0].text for result in (results[0], results[2])] == ["house", "dog"]
        assert isinstance(results[1], RequestError) and results[1].status == 400
        assert isinstance(results[3], ValueError)

    run(work)


def test_a_request_that_takes_too_long_is_dropped() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, batcher = Gate(), make(lanes=1, seconds=0.05)
        answers = await asyncio.gather(
            *(batcher.translations(gate, ["haus"]) for _ in range(3)), return_exceptions=True
        )
        assert [answer.status for answer in answers if isinstance(answer, RequestError)] == [504] * 3
        gate.opened.set()
        assert (await batcher.translations(gate, ["hund"]))[0].text == "dog"
        assert sum(gate.calls) <= 4  # those that had waited in vain are not translated

    run(work)


def test_closing_finishes_what_was_accepted() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        gate, batcher = Gate(), make(lanes=2, batch=2)
        accepted = [asyncio.create_task(batcher.translations(gate, ["haus"])) for _ in range(10)]
        await until(gate.entered)
        closing = asyncio.create_task(batcher.close())
        await asyncio.sleep(0.01)
        with pytest.raises(RequestError):
            await batcher.translations(gate, ["hund"])
        gate.opened.set()
        assert [(await each)[0].text for each in accepted] == ["house"] * 10
        await closing

    run(work)


def test_slow_work_is_bounded() -> None:
    async def work(make: Callable[..., Batcher]) -> None:
        batcher, event = make(documents=2, seconds=0.05), threading.Event()
        waiting = [asyncio.create_task(batcher.other(event.wait, 20)) for _ in range(2)]
        await asyncio.sleep(0.01)
        with pytest.raises(RequestError) as refused:
            await batcher.other(event.wait, 20)
        assert refused.value.status == 503
        late = await asyncio.gather(*waiting, return_exceptions=True)
        assert [each.status for each in late if isinstance(each, RequestError)] == [504, 504]
        with pytest.raises(RequestError):  # they still run
            await batcher.other(event.wait, 20)
        event.set()
        await asyncio.sleep(0.05)
        assert await batcher.other(lambda: 3) == 3

    run(work)
