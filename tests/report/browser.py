#!/usr/bin/env python3
"""The report in headless Chromium, at the width of a phone and of a desk: no error in the console,
no request but for the file itself, no chart that is empty, nothing wider than the screen, every node
within reach of the keyboard, planted markup that does not run; 5,000 nodes open in 3 seconds. Spoken
to through the debugging pipe. Screenshots go to $KEET_SCREENSHOTS where that is set.
Skipped (77) without Chromium."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import runs


class Browser:
    def __init__(self, program, profile):
        to_read, self.write = os.pipe()
        self.read, from_write = os.pipe()

        def pipes():  # Chromium reads 3 and writes 4
            a, b = os.dup(to_read), os.dup(from_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-background-networking", f"--user-data-dir={profile}"],
            preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.read, 1 << 20)
            if not part:
                sys.exit("browser.py: Chromium ended")
            self.rest += part
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    sys.exit(f"browser.py: {method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.events = []
        began = time.monotonic()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())
        self.value("1")
        return time.monotonic() - began

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit(f"browser.py: {expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def soon(self, expression):
        """Becomes true within five seconds: events of the page come when they come."""
        end = time.monotonic() + 5
        while not self.value(expression):
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, text="\r" if key == "Enter" and
                      kind == "keyDown" else "")

    def complaints(self):
        wrong = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                wrong.append(params["exceptionDetails"].get("text"))
            if method in ("Runtime.consoleAPICalled", "Log.entryAdded"):
                wrong.append(json.dumps(params)[:300])
            if method == "Network.requestWillBeSent" and \
                    not params["request"]["url"].startswith("file:///"):
                wrong.append("a request to " + params["request"]["url"])
        requests = sum(e.get("method") == "Network.requestWillBeSent" for e in self.events)
        if requests > 1:
            wrong.append(f"{requests} requests")
        return wrong

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(30)


def check(true, what):
    if not true:
        sys.exit(f"browser.py: {what}")


def screenshot(browser, name):
    folder = os.environ.get("KEET_SCREENSHOTS")
    if folder:
        data = browser.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(os.path.join(folder, name), "wb") as file:
            file.write(base64.b64decode(data))


def look(browser, url, width, name):
    browser.open(url, width)
    check(browser.value("document.documentElement.dataset.ready") == "yes", "the script did not run")
    check(browser.value("document.documentElement.scrollWidth") <= width,
          f"wider than {width}: {browser.value('document.documentElement.scrollWidth')}")
    for chart in ("speedup", "tree", "roofline", "verdicts"):
        shapes = browser.value(
            f"[...document.querySelectorAll('#chart-{chart} :is(circle, rect)')].filter("
            "s => { const b = s.getBoundingClientRect(); return b.width > 0 && b.height > 0 && "
            "getComputedStyle(s).fill !== 'none'; }).length")
        check(shapes > 0, f"the chart {chart} is empty")
    screenshot(browser, name)
    # Every node takes the focus by Tab, in order, and opens by Enter.
    nodes = browser.value("document.querySelectorAll('details.node').length")
    browser.value("document.querySelector('details.node summary').focus()")
    for node in range(nodes):
        at = browser.value("document.activeElement.parentElement.id")
        check(at == f"n{node}", f"Tab leads to {at}, not to node {node}")
        browser.press("Enter", 13)
        check(browser.soon(f"document.querySelector('#n{node} .inside .diff, #n{node} .inside "
                           "table') !== null"), f"node {node} opens empty")
        browser.press("Enter", 13)
        browser.press("Tab", 9)
    browser.value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    browser.value("1")
    check(browser.value("document.title").endswith("keet-opt"), "planted markup ran")
    check(browser.value("document.images.length") == 0, "planted markup became an image")
    check(not browser.complaints(), browser.complaints()[:5])


def main():
    keet, kernel = sys.argv[1:3]
    program = shutil.which("chromium") or shutil.which("chromium-browser") or \
        shutil.which("google-chrome")
    if not program:
        print("SKIPPED: no Chromium on this machine")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, kernel, folder)
        page = os.path.join(folder, "report.html")
        browser = Browser(program, os.path.join(folder, "profile"))

        def write():
            with open(page, "wb") as file:
                file.write(runs.report(keet, db))

        for name in ("clean", "planted"):
            write()
            for width in (390, 1400):
                look(browser, "file://" + page, width, f"{name}-{width}.png")
            if name == "clean":
                runs.plant(db)
        runs.many(db, 5000)
        write()
        seconds = min(browser.open("file://" + page, 1400) for _ in range(3))
        print(f"5,000 nodes open in {seconds:.2f} s")
        check(seconds < 3, "that is over 3 seconds")
        check(browser.value("document.querySelectorAll('details.node').length") == 5000, "nodes")
        browser.value("document.querySelector('#chart-tree circle[data-n=\"4321\"]')"
                      ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        check(browser.soon("document.querySelector('#n4321[open] .inside .diff') !== null"),
              "a click in the tree does not open its node")
        browser.close()


main()
