"""A headless Chromium, driven over a pipe by the DevTools protocol: nothing to install but the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0


def executable() -> str | None:
    """The browser on this machine, or None."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One browser with a profile of its own, closed at the end of a ``with``."""

    def __init__(self, path: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="trueedge-browser-")
        theirs_in, self.out = _pipe()
        self.inn, theirs_out = _pipe()
        self.buffer, self.number, self.events = b"", 0, list[dict[str, Any]]()
        # The browser reads what it is told from descriptor 3 and answers on 4.
        moved = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        quiet = os.open(os.devnull, os.O_RDWR)
        moved += [(os.POSIX_SPAWN_DUP2, quiet, place) for place in (0, 1, 2)]
        arguments = [path, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.pid = os.posix_spawn(path, arguments, dict(os.environ), file_actions=moved, setpgroup=0)
        for one in (theirs_in, theirs_out, quiet):
            os.close(one)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.inn)
        os.close(self.out)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Tell the browser something and wait for its answer; what happens meanwhile is kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            heard = self._read(PATIENCE)
            if heard is None:
                raise TimeoutError(f"the browser did not answer {method} within {PATIENCE:.0f} s")
            if heard.get("id") == self.number:
                if "error" in heard:
                    raise RuntimeError(f"{method}: {heard['error']['message']}")
                return dict(heard["result"])
            self.events.append(heard)

    def wait_for(self, method: str, session: str, since: int = 0) -> None:
        """Wait until something has happened in a window, after so many events."""
        seen = since
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for event in self.events[seen:]:
                if event.get("method") == method and event.get("sessionId") == session:
                    return
            seen = len(self.events)
            heard = self._read(1.0)
            if heard is not None:
                self.events.append(heard)
        raise TimeoutError(f"{method} did not happen within {PATIENCE:.0f} s")

    def _read(self, patience: float) -> dict[str, Any] | None:
        until = time.monotonic() + patience
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.inn], [], [], left)[0]:
                return None
            part = os.read(self.inn, 1 << 20)
            if not part:
                raise RuntimeError("the browser has closed")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return dict(json.loads(message))

    def open(self, path: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> Window:
        """Open a file in a window of its own."""
        return Window(self, path, width, height, dark)


class Window:
    """A page in the browser.

    Attributes:
        complaints: what was written to the console, and what went wrong.
        requests: the addresses that were asked for.
    """

    def __init__(self, browser: Browser, path: Path, width: int, height: int, dark: bool) -> None:
        self.browser = browser
        # Of its own, so that what one window keeps is not found by another.
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = str(attached["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._load("Page.navigate", url=path.resolve().as_uri())

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Tell the window something."""
        return self.browser.call(method, self.session, **parameters)

    def reload(self) -> None:
        """Load the page anew."""
        self._load("Page.reload")

    def _load(self, method: str, **parameters: Any) -> None:
        before = len(self.browser.events)
        self.call(method, **parameters)
        self.browser.wait_for("Page.loadEventFired", self.session, before)

    def resize(self, width: int, height: int) -> None:
        """Make the window as large as a phone or a desk."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", script))
        return found["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        codes = {"Enter": 13, "Tab": 9, " ": 32}
        code = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": codes[key]}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def click(self, selector: str) -> None:
        """Click in the middle of an element with the mouse."""
        script = f"""(() => {{
            const one = document.querySelector({json.dumps(selector)});
            one.scrollIntoView({{block: "center", inline: "center", behavior: "instant"}});
            const box = one.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        x, y = self.run(script)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path: Path, box: tuple[float, float, float, float] | None = None) -> Path:
        """Write a picture of the window, or of a box (x, y, width, height) of the whole page."""
        clip = {}
        if box is not None:
            size = dict(zip(("x", "y", "width", "height"), box, strict=True))
            clip = {"clip": {**size, "scale": 1}, "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **clip)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    @property
    def complaints(self) -> list[str]:
        """What was written to the console, and what went wrong."""
        self.run("0")
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(one["params"]) for one in self._events() if one["method"] in kinds]

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for."""
        self.run("0")
        sent = (one for one in self._events() if one["method"] == "Network.requestWillBeSent")
        return [str(one["params"]["request"]["url"]) for one in sent]

    def _events(self) -> list[dict[str, Any]]:
        return [one for one in self.browser.events if one.get("sessionId") == self.session]


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are none of the descriptors that the browser's own are moved to."""
    ends = os.pipe()
    kept = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in ends]
    for one in ends:
        os.close(one)
    return kept[0], kept[1]
