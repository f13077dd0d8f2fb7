"""A headless Chromium for tests, spoken to over a pipe: no package is needed, only the browser.

``CHROMIUM`` names the program, or is None where there is none. It is looked for in the PATH, in the environment
variable ``HOPEFEAR_CHROMIUM``, and where playwright keeps its browsers.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

__all__ = ["CHROMIUM", "Browser"]


def _found() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
    paths = [os.environ.get("HOPEFEAR_CHROMIUM", ""), *(shutil.which(name) or "" for name in names)]
    kept = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
    if kept.is_dir():
        paths += [str(path) for path in sorted(kept.glob("chromium*/*/*")) if path.name in ("chrome", "headless_shell")]
    return next((path for path in paths if path and os.access(path, os.X_OK)), None)


CHROMIUM = _found()


class Browser:
    """One page in one browser. ``problems`` collects errors on the console, ``requests`` what it asked the network."""

    def __init__(self, profile: Path, width: int = 1100, height: int = 900) -> None:
        assert CHROMIUM is not None
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()

        def fds() -> None:  # Chromium reads from 3 and writes to 4
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
        options += ["--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [CHROMIUM, *options], preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = ours_out, ours_in
        self._buffer = b""
        self._number = 0
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.resize(width, height)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer.get("result", {}))
            self._hear(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            block = os.read(self._in, 1 << 20)
            assert block, "the browser went away"
            self._buffer += block
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _hear(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.problems.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.problems.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.problems.append(f"dialog: {params['message']}")
                self._number += 1
                close = {"id": self._number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                os.write(self._out, json.dumps({**close, "sessionId": self._session}).encode() + b"\0")

    def resize(self, width: int, height: int, phone: bool = False) -> None:
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def dark(self, on: bool = True) -> None:
        feature = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def print(self, on: bool = True) -> None:
        """As it would be printed."""
        self._call("Emulation.setEmulatedMedia", media="print" if on else "")

    def open(self, path: Path, fragment: str = "") -> None:
        self.visit(path.resolve().as_uri() + (f"#{fragment}" if fragment else ""))

    def visit(self, url: str) -> None:
        self._call("Page.navigate", url=url)
        for _ in range(600):
            if self.run("document.readyState") == "complete":
                return
            time.sleep(0.05)
        raise AssertionError("the page did not load")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        code = {"Tab": 9, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, " ": 32, "Escape": 27}
        number = code[key] if key in code else ord(key.upper())
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=number, **more)

    def click(self, selector: str) -> None:
        box = self.run(
            f"(()=>{{const e=document.querySelector({json.dumps(selector)});e.scrollIntoView({{block:'center',"
            "behavior:'instant'});const r=e.getBoundingClientRect();return [r.x+r.width/2,r.y+r.height/2]})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def point(self, selector: str) -> None:
        """Move the mouse over the middle of an element."""
        x, y = self.run(
            f"(()=>{{const r=document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return [r.x+r.width/2,r.y+r.height/2]})()"
        )
        self.move(x, y)

    def move(self, x: float, y: float) -> None:
        """Move the mouse."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self._call("Input.insertText", text=text)

    def wait(self, condition: str, seconds: float = 20.0) -> None:
        """Until an expression in the page is true."""
        end = time.monotonic() + seconds
        while not self.run(f"!!({condition})"):
            assert time.monotonic() < end, f"still not so: {condition}"
            time.sleep(0.02)

    def choose_file(self, selector: str, path: Path) -> None:
        """As if the user had chosen it in the dialog of a file field."""
        root = self._call("DOM.getDocument")["root"]["nodeId"]
        node = self._call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self._call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def picture(self, path: Path, selector: str | None = None) -> None:
        clip = {}
        if selector:
            x, y, width, height = self.run(
                f"(()=>{{const r=document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                "return [r.x+scrollX,r.y+scrollY,r.width,r.height]})()"
            )
            clip = {"clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}}
        data = self._call("Page.captureScreenshot", captureBeyondViewport=True, **clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self._session = None
        with contextlib.suppress(AssertionError, OSError):
            self._call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
