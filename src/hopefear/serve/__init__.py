"""A server for translators: LibreTranslate's API, an API of our own, and a page (``hopefear serve``).

from hopefear.serve import Settings, serve

serve(lambda: [hf.Translator("translator")], Settings(port=5000))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.util import lazy

_PUBLIC = {
    "Keys": "hopefear.serve.settings",
    "Limits": "hopefear.serve.settings",
    "Settings": "hopefear.serve.settings",
    "make_app": "hopefear.serve.app",
    "serve": "hopefear.serve.server",
}

if TYPE_CHECKING:
    from hopefear.serve.app import make_app as make_app
    from hopefear.serve.server import serve as serve
    from hopefear.serve.settings import Keys as Keys, Limits as Limits, Settings as Settings

__getattr__ = lazy.attributes(__name__, _PUBLIC)
