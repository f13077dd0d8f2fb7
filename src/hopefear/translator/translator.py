"""A translator: text in, text out, with what must stay as it is.

    translator = Translator("translator")
    translator("Ein Mann geht über die Straße.")
    translator(["Zwei Hunde.", "Drei Katzen."])
    translator.alternatives("Ein Mann geht.", 5)
    translator.document("page.html", "page.en.html")

On the way, text is split into lines and sentences. Tags, placeholders, addresses, numbers and names come out byte for
byte (:mod:`hopefear.documents.protect`), terms of the glossary as it says, everything else as the model translates it.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, overload

from hopefear.documents.protect import Protector
from hopefear.documents.segment import Keep, Segment, join_strings, whole_words
from hopefear.errors import InputError
from hopefear.learning.corrections import Corrections, Learnt
from hopefear.learning.decoding import Decoders
from hopefear.learning.memory import View
from hopefear.model.directory import Model
from hopefear.translator.drafts import Draft, HtmlDraft, Reader, Slot, TextDraft, rendered
from hopefear.translator.engine import Engine, RankedTranslations
from hopefear.translator.explaining import Explanation, explained
from hopefear.translator.folder import GLOSSARY, corrections_of, describe, open_translator
from hopefear.translator.glossary import FEATURE, WEIGHT, Glossary, Match, Term, read_glossary
from hopefear.translator.recalled import corrected, correction_of, with_memory
from hopefear.translator.sentence import Made, Sentence, sentence_of
from hopefear.translator.tokens import Words, words_of
from hopefear.translator.translation import Alternative, Translation, best_combinations, quality_of
from hopefear.util.files import PathLike
from hopefear.util.values import check_choice

FORMATS = ("text", "html")
_BLOCK = 256  # sentences decoded at a time
_SURROGATES = re.compile("[\ud800-\udfff]")  # which are no characters
_TEXTS = 64  # texts taken from an iterator at a time
#: Signs that mean something and stand alone, such as --> and &.
_SIGNS = r"(?<!\S)(?=[^\w\s]*[<>=~^|\\*#+&@/])[^\w\s]+(?!\S)"


class Translator:
    """A translator in a folder, or in a file made by ``hopefear pack``.

    ``glossary`` is a TSV file or a list of terms, which come before those of the folder's own glossary. ``protect`` are
    regular expressions, ``keep`` words and phrases: what they match stays as it is. ``layer`` names a project or a user
    whose corrections count here only, next to the shared ones. Threads may share a translator.

    >>> translator = hf.Translator("translator", keep=["Ikea"])
    >>> translator("Ein rotes Boot kostet zwei Euro.")
    'A red boat costs two euros.'
    >>> translator(["Das Haus steht hier!", "Das Tor kommt von Ikea."])
    ['The house stands here!', 'The gate comes from Ikea.']
    """

    def __init__(
        self,
        path: PathLike,
        *,
        glossary: PathLike | Iterable[Term] | None = None,
        protect: Sequence[str] = (),
        keep: Sequence[str] = (),
        layer: str | None = None,
        jobs: int = 0,
    ) -> None:
        self._model, self._card = open_translator(path, jobs)
        recipe = self._card["recipe"]
        decoders = Decoders(self._model, recipe, {FEATURE: float(recipe.get("glossary", WEIGHT))})
        self._engine = Engine(decoders, recipe, jobs)
        if glossary is None:
            terms = []
        else:
            terms = read_glossary(glossary) if isinstance(glossary, str | os.PathLike) else list(glossary)
        if (self._model.path / GLOSSARY).is_file():
            terms += read_glossary(self._model.path / GLOSSARY)
        self._glossary = Glossary(terms, self._model.source_text)
        protect = (protect,) if isinstance(protect, str) else tuple(protect)
        keep = (keep,) if isinstance(keep, str) else tuple(keep)
        self._corrections = Corrections(self._model, corrections_of(path), self.source, self.target, layer, decoders)
        self._protector = Protector((*protect, _SIGNS), keep, _Translated(self._model))

    @property
    def name(self) -> str:
        """The name of the translator."""
        return str(self._card["name"])

    @property
    def source(self) -> str:
        """The code of the source language."""
        return str(self._card["source"])

    @property
    def target(self) -> str:
        """The code of the target language."""
        return str(self._card["target"])

    @property
    def card(self) -> dict[str, Any]:
        """The card: what the translator was made from, its scores, licence and recipe."""
        return dict(self._card)

    @property
    def model(self) -> Model:
        """The model of the translator."""
        return self._model

    @property
    def glossary(self) -> Sequence[Term]:
        """The terms of the glossaries in use."""
        return self._glossary.terms

    @property
    def corrections(self) -> Corrections:
        """The corrections learnt so far: an iterable, with ``undo`` and ``undo_since``."""
        return self._corrections

    def learn(self, source: str, correction: str, *, user: str = "", project: str = "") -> Learnt:
        """Learn from the correction of a translation, from the next text on. See docs/corrections.md.

        >>> translator = hf.Translator("translator")
        >>> translator.learn("Das Brot ist wichtig.", "Bread matters.").status
        'learnt'
        >>> translator("Das Brot ist wichtig.")
        'Bread matters.'
        """
        return self._corrections.learn(source, correction, user=user, project=project)

    def undo(self, *ids: str) -> list[str]:
        """Undo corrections; returns the ids of those undone.

        >>> translator = hf.Translator("translator")
        >>> learnt = translator.learn("Das Glas ist wichtig.", "Glass matters.")
        >>> translator.undo(learnt.id) == [learnt.id], translator("Das Glas ist wichtig.")
        (True, 'The glass is important.')
        """
        return self._corrections.undo(*ids)

    def __repr__(self) -> str:
        return f"Translator({describe(self._card)})"

    @overload
    def __call__(self, text: str) -> str: ...
    @overload
    def __call__(self, text: Iterator[str]) -> Iterator[str]: ...
    @overload
    def __call__(self, text: list[str] | tuple[str, ...]) -> list[str]: ...

    def __call__(self, text: str | Iterable[str]) -> str | list[str] | Iterator[str]:
        """Translate a text, a list of texts (returns a list) or an iterator (returns an iterator).

        >>> list(hf.Translator("translator")(line for line in ["Das Haus steht hier.", "Das Boot ist wichtig."]))
        ['The house stands here.', 'The boat is important.']
        """
        if isinstance(text, str):
            return self._texts([text])[0]
        if isinstance(text, Iterator):
            return self._stream(text)
        return self._texts(_texts(text))

    def translations(self, texts: Iterable[str], *, n: int = 1, format: str = "text") -> list[Translation]:
        """Translations with their ``n`` best alternatives, alignment and quality. ``format``: ``text`` or ``html``.

        >>> (translation,) = hf.Translator("translator").translations(["<b>Das Haus</b> steht hier."], format="html")
        >>> translation.text
        '<b>The house</b> stands here.'
        """
        check_choice("format", format, FORMATS)
        if n < 1:
            raise InputError(f"n: {n} is less than 1. Ask for one translation or more")
        texts = _texts([texts] if isinstance(texts, str) else texts)
        view = self._corrections.view()
        drafts = [self._draft(text, format, view) for text in texts]
        judged = [
            with_memory(each, sentence, view, n)
            for block in _blocks([sentence for draft in drafts for sentence in draft.sentences])
            for sentence, each in zip(block, self._engine.judged(block, n, view), strict=True)
        ]
        result, at = [], 0
        for text, draft in zip(texts, drafts, strict=True):
            count = len(draft.sentences)
            result.append(_translation(text, draft, judged[at : at + count], n))
            at += count
        return result

    def alternatives(self, text: str, n: int = 5) -> list[Alternative]:
        """The ``n`` best translations of a text, best first.

        >>> [each.text for each in hf.Translator("translator").alternatives("Das Haus ist wichtig.", 2)]
        ['The house is important.', 'The Haus is important.']
        """
        return list(self.translations([text], n=n)[0].alternatives)

    def explain(self, text: str) -> Explanation:
        """Explain a translation: which rule translates what, and what each adds to the score.

        >>> print(hf.Translator("translator").explain("Das Haus"))
        source       das haus
        translation  the house
        score        -4.388
        ...
        """
        (text,) = _texts([text])
        parts = []
        view = self._corrections.view()
        for sentence in self._draft(text, "text", view).sentences:
            if sentence.recalled is not None:
                parts.append(f"{sentence.recalled.text}\n  corrected: {sentence.recalled.correction}")
                continue
            derivations = self._engine.derivations(sentence, view)
            parts.append(explained(sentence, derivations, self._engine.weights(view)))
        return Explanation(text, self(text), "\n\n".join(parts))

    def segments(self, segments: Sequence[Segment]) -> list[Segment]:
        """Translate segments of a document, see :mod:`hopefear.documents`."""
        view = self._corrections.view()
        reader = self._reader(view)
        rows = [reader.slots(segment) for segment in segments]
        made = iter(self._made([slot.sentence for row in rows for slot in row if slot.sentence is not None], view))
        return [
            rendered(row, list(itertools.islice(made, sum(slot.sentence is not None for slot in row)))) for row in rows
        ]

    def document(
        self, path: PathLike, out: PathLike, *, report: Callable[[str], None] | None = None, **options: Any
    ) -> Path:
        """Translate a file to another file or into a folder; returns the path of the new file.

        ``report`` gets a line for each part that stays untranslated. Other options are those of
        :func:`hopefear.documents.translate.translate_document`.

        >>> size = Path("notes.md").write_text("Das Haus ist **wichtig**.")
        >>> print(hf.Translator("translator").document("notes.md", "notes.en.md").read_text())
        The house is **important**.
        """
        from hopefear.documents.translate import translate_document

        return translate_document(path, out, self.segments, report=report, **options)

    def _texts(self, texts: Sequence[str]) -> list[str]:
        view = self._corrections.view()
        drafts = [self._draft(text, "text", view) for text in texts]
        made = self._made([sentence for draft in drafts for sentence in draft.sentences], view)
        result, at = [], 0
        for draft in drafts:
            count = len(draft.sentences)
            result.append(draft.text(made[at : at + count]))
            at += count
        return result

    def _stream(self, texts: Iterator[str]) -> Iterator[str]:
        while block := list(itertools.islice(texts, _TEXTS)):
            yield from self._texts(block)

    def _made(self, sentences: Sequence[Sentence], view: View) -> list[Made]:
        new = [each for each in sentences if each.recalled is None]
        made = iter([made for block in _blocks(new) for made in self._engine.texts(block, view)])
        return [
            next(made) if each.recalled is None else corrected(each, each.recalled.correction) for each in sentences
        ]

    def _draft(self, text: str, format: str, view: View) -> Draft:
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", text)
        if format == "text" and view and view.exact(text) is not None:  # corrected as a whole
            whole = Segment.of(text)
            if (sentence := self._sentence(view, whole)) is not None and sentence.recalled is not None:
                return TextDraft([[Slot(whole, "", sentence)]], [""])
        kind = HtmlDraft if format == "html" else TextDraft.of
        return kind(text, self._reader(view))

    def _reader(self, view: View) -> Reader:
        return Reader(self.source, self._protector.segment, partial(self._sentence, view))

    def _sentence(self, view: View, segment: Segment) -> Sentence | None:
        """A sentence for the decoder; None if there is nothing to translate."""
        protected = self._loosened(self._protector.segment(whole_words(segment)), view)
        words = words_of(protected, self._model.source_text)
        matches = self._matches(words)
        recalled = correction_of(view, words)
        if not matches and not protected.has_words and recalled is None:
            return None
        sentence = sentence_of(words, matches, self._model, partial(self._corrections.rules, view) if view else None)
        sentence.recalled = recalled
        return sentence

    def _matches(self, words: Words) -> list[Match]:
        return self._glossary.matches(words.forms(), [word.is_soft for word in words.words])

    def _loosened(self, segment: Segment, view: View) -> Segment:
        """Small numbers that the model knows are words: ``2`` may become ``two``. So are names that were corrected."""
        parts = [
            part.text if isinstance(part, Keep) and (self._is_small(part) or self._is_corrected(part, view)) else part
            for part in segment.parts
        ]
        return Segment(tuple(join_strings(parts)))

    def _is_small(self, keep: Keep) -> bool:
        if keep.kind != "number" or len(keep.text) > 1 or not keep.text.isdigit():
            return False
        begin, end = self._model.grammar.find(keep.text)
        return begin < end

    def _is_corrected(self, keep: Keep, view: View) -> bool:
        if keep.kind != "name" or not view:
            return False
        words = self._model.source_text.tokens(keep.text)
        return len(words) == 1 and view.knows(words[0])


class _Translated:
    """The words that a model translates to something else than themselves."""

    def __init__(self, model: Model) -> None:
        self._grammar = model.grammar
        self._known: dict[str, bool] = {}

    def __contains__(self, word: object) -> bool:
        if not isinstance(word, str):
            return False
        known = self._known.get(word)
        if known is None:
            begin, end = self._grammar.find(word)
            known = begin < end and self._grammar.target(begin) != word
            if len(self._known) < 100_000:
                self._known[word] = known
        return known


def _texts(texts: Iterable[str]) -> list[str]:
    """As a list, or an error that says what a translator takes."""
    texts = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, bytes) else [texts]
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a translator takes a str, a list of them or an iterator, not {type(text).__name__}")
    return texts


def _blocks(sentences: Sequence[Sentence]) -> Iterator[Sequence[Sentence]]:
    for begin in range(0, len(sentences), _BLOCK):
        yield sentences[begin : begin + _BLOCK]


def _translation(text: str, draft: Draft, judged: Sequence[RankedTranslations], n: int) -> Translation:
    first = [each.candidates[0].made for each in judged]
    alternatives: dict[str, Alternative] = {}
    tried = best_combinations([[candidate.score for candidate in each.candidates] for each in judged])
    for ranks, score in itertools.islice(tried, 4 * n):
        made = [each.candidates[rank].made for each, rank in zip(judged, ranks, strict=True)]
        other = draft.text(made)
        match = judged[0].candidates[ranks[0]].match if len(judged) == 1 else None
        alternatives.setdefault(other, Alternative(other, score, match))
        if len(alternatives) >= n:
            break
    words = sum(each.words for each in judged)
    weight = sum(max(1, each.words) for each in judged)
    agreement = sum(each.agreement * max(1, each.words) for each in judged) / weight if judged else 1.0
    unknown = sum(each.unknown for each in judged) / words if words else 0.0
    lm_words = sum(each.lm_words for each in judged)
    fluency = sum(each.lm for each in judged) / lm_words if lm_words else 0.0
    quality = quality_of(agreement, unknown, fluency)
    return Translation(text, draft.text(first), tuple(alternatives.values()), tuple(draft.alignment(first)), quality)
