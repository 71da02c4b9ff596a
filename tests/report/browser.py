"""A real browser for tests: Chromium without a window, spoken to through two pipes in its own protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


class Browser:
    """One page of a headless Chromium, and everything that it complained about."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self.folder = tempfile.TemporaryDirectory(prefix="abnet-chromium-", ignore_cleanup_errors=True)
        (reads, self._out), (self._in, writes) = os.pipe(), os.pipe()
        reads_at = _above(reads)
        writes_at = _above(writes)

        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-extensions",
            "--disable-background-networking", "--no-first-run", "--disable-dev-shm-usage",
            f"--user-data-dir={self.folder.name}", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            # Its pipes are 3 and 4; a shell puts them there, since Python's own way would fork beside JAX's threads.
            ["bash", "-c", f'exec "$0" "$@" 3<&{reads_at} 4>&{writes_at}', CHROMIUM, *options],
            pass_fds=(reads_at, writes_at), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (reads_at, writes_at):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._session = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        deadline = time.monotonic() + 60
        pages = list[str]()
        while not pages:  # on a busy machine the first page takes its time
            assert time.monotonic() < deadline, "Chromium opens no page"
            time.sleep(0.02)
            targets = self.ask("Target.getTargets")["targetInfos"]
            pages = [one["targetId"] for one in targets if one["type"] == "page"]
        target = pages[0]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        os.close(self._out)  # Chromium ends when nobody speaks to it any more
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        self.folder.cleanup()

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to one message; events on the way are noted."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            event = self._next()
            if event.get("id") == self._number:
                assert "error" not in event, event["error"]
                return event["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._in, 1 << 16)
            assert part, "Chromium has gone"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        event: dict[str, Any] = json.loads(text)
        self._note(event)
        return event

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        method = event.get("method")
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(json.dumps(params["args"])[:500])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"][:500])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def show(
        self, path: Path, *, width: int = 1200, height: int = 900, scheme: str = "light", script: bool = True
    ) -> None:
        """Load a page in a window of that size."""
        self.complaints.clear()
        self.requests.clear()
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.ask("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.ask("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + 30
        while self.value("document.readyState") != "complete" or not self.value("location.href").startswith("file:"):
            assert time.monotonic() < deadline, "the page does not load"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What a piece of JavaScript evaluates to in the page."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, expression: str, seconds: float = 60.0) -> None:
        """Wait for something to be true."""
        deadline = time.monotonic() + seconds
        while not self.value(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.05)

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        found = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def print(self, path: Path) -> None:
        """The page as a PDF, on the paper that it asks for."""
        made = self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(made["data"]))


def _above(descriptor: int) -> int:
    """A copy of a descriptor that is in nobody's way at 3 or 4."""
    if descriptor > 4:
        return descriptor
    import fcntl

    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 5)
    os.close(descriptor)
    return copy
