"""Texts of many requests, translated together.

Threads ("lanes") take texts from one queue, up to ``Limits.batch`` at a time, and translate them in one call that uses
all cores. There are two lanes, so that no core waits for the longest sentence of a batch. The queue is bounded: a
request that does not fit is refused at once, with the time after which it is worth another try.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hopefear.errors import InputError
from hopefear.serve.settings import Limits, RequestError
from hopefear.translator.translation import Translation
from hopefear.translator.translator import Translator

LANES = 2
CHARACTERS = 8_000  # of a batch of several texts: so that short texts do not wait long behind long ones
Returned = TypeVar("Returned")


@dataclass
class _Text:
    """A text that waits."""

    translator: Translator
    text: str
    n: int
    format: str
    answer: asyncio.Future[Translation] = field(repr=False)

    @property
    def kind(self) -> tuple[int, int, str]:
        """What texts of one call have in common."""
        return id(self.translator), self.n, self.format


@dataclass(frozen=True)
class Plain:
    """A translation of which nothing but the text was asked for."""

    text: str


class Batcher:
    """Start it in a running event loop; ``close`` finishes what has been accepted."""

    def __init__(self, limits: Limits, lanes: int = LANES, told: Callable[[int], object] = lambda texts: None) -> None:
        self.limits, self._told = limits, told
        self._queue: deque[_Text] = deque()
        self._more = asyncio.Event()
        self._closing = False
        self._threads = ThreadPoolExecutor(lanes, thread_name_prefix="translate")
        self._others = ThreadPoolExecutor(max(1, limits.documents), thread_name_prefix="document")
        self._other_count = 0
        self._rate = 50.0  # texts a second, as measured lately
        self._lanes = [asyncio.create_task(self._lane()) for _ in range(lanes)]

    @property
    def waiting(self) -> int:
        """Texts that wait."""
        return len(self._queue)

    async def translations(
        self, translator: Translator, texts: Sequence[str], n: int = 1, format: str = "text"
    ) -> list[Translation]:
        """The translations of these texts, or a RequestError: the queue is full, or it took too long.

        With ``n`` of 0 they have a ``text`` only, and that is quicker.
        """
        self._refuse_if(self._closing or (self._queue and len(self._queue) + len(texts) > self.limits.queue))
        loop = asyncio.get_running_loop()
        waiting = [_Text(translator, text, n, format, loop.create_future()) for text in texts]
        self._queue.extend(waiting)
        self._more.set()
        try:
            async with asyncio.timeout(self.limits.seconds):
                return [await text.answer for text in waiting]
        except TimeoutError:
            raise RequestError(504, f"the translation took more than {self.limits.seconds:g} seconds") from None
        finally:  # nobody waits for the others any more: they are dropped when their turn comes
            for text in waiting:
                text.answer.cancel()

    async def other(self, function: Callable[..., Returned], *arguments: Any, seconds: float | None = None) -> Returned:
        """What a function returns that is slow and is not a translation of texts, in a thread of its own."""
        seconds = self.limits.seconds if seconds is None else seconds
        self._refuse_if(self._closing or self._other_count >= self.limits.documents)
        self._other_count += 1
        try:
            work = asyncio.get_running_loop().run_in_executor(self._others, function, *arguments)
            work.add_done_callback(self._other_done)
        except BaseException:
            self._other_count -= 1
            raise
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(work)
        except InputError as error:
            raise RequestError(400, str(error)) from None
        except TimeoutError:
            raise RequestError(504, f"it took more than {seconds:g} seconds") from None

    def _other_done(self, work: asyncio.Future[Any]) -> None:
        self._other_count -= 1
        if not work.cancelled():
            work.exception()  # it is known, also where nobody waits for it any more

    def _refuse_if(self, full: object) -> None:
        if full:
            wait = min(60, max(1, math.ceil(len(self._queue) / self._rate)))
            raise RequestError(503, "the server is busy; try again later", wait)

    async def close(self) -> None:
        """Translate what is in the queue, then end."""
        self._closing = True
        self._more.set()
        await asyncio.gather(*self._lanes)
        self._threads.shutdown()
        self._others.shutdown()

    async def _lane(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while not self._queue:
                if self._closing:
                    return
                self._more.clear()
                await self._more.wait()
            if len(self._queue) < self.limits.batch and not self._closing:
                await asyncio.sleep(self.limits.pause)
            batch = self._next()
            if not batch:
                continue
            begin = time.monotonic()
            results = await loop.run_in_executor(self._threads, _translate, batch)
            for text, result in zip(batch, results, strict=True):
                if text.answer.done():
                    continue
                if isinstance(result, BaseException):
                    text.answer.set_exception(result)
                else:
                    text.answer.set_result(result)
            seconds = max(time.monotonic() - begin, 1e-4)
            self._rate += 0.1 * (len(self._lanes) * len(batch) / seconds - self._rate)
            self._told(len(batch))

    def _next(self) -> list[_Text]:
        """The next texts that can be translated in one call; those behind them keep their order."""
        batch: list[_Text] = []
        others: list[_Text] = []
        characters = 0
        while self._queue and len(batch) < self.limits.batch:
            text = self._queue.popleft()
            if text.answer.done():
                continue
            if batch and text.kind != batch[0].kind:
                others.append(text)
                if len(others) >= self.limits.batch:
                    break
                continue
            characters += len(text.text)
            if batch and characters > CHARACTERS:
                others.append(text)
                break
            batch.append(text)
        self._queue.extendleft(reversed(others))
        return batch


def _translate(batch: Sequence[_Text]) -> list[Translation | Exception]:
    """In a thread: the translations, or for each text that cannot be translated the error."""
    first = batch[0]
    try:
        texts = [text.text for text in batch]
        results: Sequence[Any]
        if first.n == 0:
            results = [Plain(text) for text in first.translator(texts)]
        else:
            results = first.translator.translations(texts, n=first.n, format=first.format)
        return [result for _, result in zip(batch, results, strict=True)]
    except Exception as error:
        if len(batch) == 1:
            return [_client_error(error)]
        return [result for text in batch for result in _translate([text])]


def _client_error(error: Exception) -> Exception:
    """An error of the input is the client's; others are ours."""
    return RequestError(400, str(error)) if isinstance(error, InputError) else error
