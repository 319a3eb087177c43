#!/usr/bin/env python3
"""The report in headless Chromium, at the width of a phone and of a desk: no error in the console,
no request but for the file itself, no chart that is empty, nothing wider than the screen, every node
within reach of the keyboard, planted markup that does not run; dark where that is preferred, and on
paper without what is for the screen only; 5,000 nodes open in 3 seconds. Spoken to through the
debugging pipe. Screenshots go to $KEET_SCREENSHOTS where that is set. Skipped (77) without Chromium."""
import base64
import glob
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

    def processor(self):
        """Seconds of processor time up to now, of each process of Chromium's."""
        parents, seconds = {}, {}
        for folder in glob.glob("/proc/[0-9]*"):
            try:
                with open(folder + "/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            pid = int(os.path.basename(folder))
            parents[pid] = int(fields[1])
            seconds[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        ours = [self.process.pid]
        for pid in ours:
            ours += [child for child, parent in parents.items() if parent == pid]
        return {pid: seconds[pid] for pid in ours if pid in seconds}

    def prefer(self, media, scheme):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

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


def picture(browser, chart):
    box = browser.value(f"(b => ({{x: b.x + scrollX, y: b.y + scrollY, width: b.width, "
                        f"height: b.height}}))(document.querySelector('#{chart}')"
                        ".getBoundingClientRect())")
    return browser.call("Page.captureScreenshot", captureBeyondViewport=True,
                        clip=dict(box, scale=1))["data"]


def charts(browser, names):
    """None is empty: each has shapes of some size, and is another picture where they are hidden."""
    for chart in names:
        shapes = f"[...document.querySelectorAll('#{chart} :is(circle, rect)')]"
        seen = browser.value(
            shapes + ".filter(s => { const b = s.getBoundingClientRect(); return b.width > 0 && "
            "b.height > 0 && getComputedStyle(s).fill !== 'none'; }).length")
        check(seen > 0, f"the chart {chart} is empty")
        shown = picture(browser, chart)
        browser.value(shapes + ".forEach(s => { s.style.visibility = 'hidden'; })")
        check(picture(browser, chart) != shown, f"nothing of the chart {chart} can be seen")
        browser.value(shapes + ".forEach(s => { s.style.visibility = ''; })")


# Of what is seen on what: W3C's contrast ratio, 4.5 and more is readable.
CONTRAST = """(() => {
  const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => x / 255).map(
    (x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const of = (selector, what) => { const l = light(getComputedStyle(
    document.querySelector(selector))[what]);
    return (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05); };
  return { ground, least: Math.min(of("body", "color"), of(".asked", "color"), of("a", "color"),
    of("svg text", "fill"), of(".node b", "color"), of("#chart-speedup circle", "fill")) };
})()"""


def schemes(browser, url, name):
    """Light and dark can be read; on paper there is no navigation, and what was opened stays."""
    browser.open(url, 1400)
    browser.value("document.querySelector('#n1').open = true")
    for scheme, ground in (("light", 1), ("dark", 0)):
        browser.prefer("screen", scheme)
        seen = browser.value(CONTRAST)
        check(abs(seen["ground"] - ground) < 0.1, f"{scheme} has a ground of {seen['ground']}")
        check(seen["least"] >= 4.5, f"{scheme} has a contrast of {seen['least']:.2f}")
    screenshot(browser, f"{name}-dark.png")
    browser.prefer("print", "light")
    shown = "getComputedStyle(document.querySelector('{}')).display"
    check(browser.value(shown.format("nav")) == "none", "the navigation is on paper")
    check(browser.value(shown.format("#chart-tree")) != "none", "the tree is not on paper")
    pages = base64.b64decode(browser.call("Page.printToPDF")["data"])
    check(pages.startswith(b"%PDF") and len(pages) > 10000, "it does not print")
    if os.environ.get("KEET_SCREENSHOTS"):
        with open(os.path.join(os.environ["KEET_SCREENSHOTS"], f"{name}.pdf"), "wb") as file:
            file.write(pages)
    browser.prefer("", "light")


def look(browser, url, width, name):
    browser.open(url, width)
    check(browser.value("document.documentElement.dataset.ready") == "yes", "the script did not run")
    check(browser.value("document.documentElement.scrollWidth") <= width,
          f"wider than {width}: {browser.value('document.documentElement.scrollWidth')}")
    charts(browser, ("chart-speedup", "chart-tree", "chart-roofline", "chart-verdicts"))
    screenshot(browser, name + ".png")
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
    if name.startswith("planted"):
        who = browser.value("[...document.querySelectorAll('#n1 .turn .who')].map(e => e.textContent.split(/[ ,]/)[0])"
                            ".join(' ')")
        check(who == "keet-opt The What", f"node 1 shows {who} and no conversation")
    check(browser.value("document.title").endswith("keet-opt"), "planted markup ran")
    check(browser.value("document.images.length") == 0, "planted markup became an image")
    check(not browser.complaints(), browser.complaints()[:5])


def conversation(browser, keet, db, folder):
    """A node's calls read as a conversation: a later question shows what is new in it, an answer is prose with folded
    code, and what came of it comes with the reason. A head within an answer makes no turn."""
    talk, page = os.path.join(folder, "talk.keet.db"), os.path.join(folder, "talk.html")
    shutil.copy(db, talk)
    runs.converse(talk)
    with open(page, "wb") as file:
        file.write(runs.report(keet, talk))
    browser.open("file://" + page, 1400)
    browser.value("document.querySelector('#n1').open = true")
    browser.soon("document.querySelector('#n1 .turn') !== null")
    shown = browser.value("[...document.querySelectorAll('#n1 .turn')].map(t => [...t.children].slice(1).map("
                          "e => e.textContent.trim()))")
    check(shown == [["be brief\n\nwrite saxpy"],
                    ["MOVE: wider loads\n\n[user]\nObey.", "Code, 1 linefloat4 oops",
                     "That is all."],
                    ["no_compile: line 1: expected a ;"],
                    ["It does not compile.\nMend it."],
                    ["Code, 1 linefloat4 v;"],
                    ["ok"]], shown)
    check(not browser.complaints(), browser.complaints()[:5])
    screenshot(browser, "conversation.png")


def campaign(browser, keet, db, folder):
    """The page of a campaign of two tasks, both the run's original."""
    tasks, page = os.path.join(folder, "tasks"), os.path.join(folder, "campaign.html")
    os.mkdir(tasks)
    for name in ("one", "two"):
        with open(os.path.join(tasks, name + ".cu"), "w", encoding="utf-8") as file:
            file.write(runs.original(db))
    out = os.path.join(folder, "two.campaign")
    subprocess.run([keet, "campaign", tasks, "--device", "emu", "--budget", "2", "--out", out, "-q"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(page, "wb") as file:
        file.write(runs.report(keet, out))
    for width in (390, 1400):
        browser.open("file://" + page, width)
        check(browser.value("document.documentElement.scrollWidth") <= width,
              f"the campaign's page is wider than {width}")
        charts(browser, ("chart-speedups", "chart-cost", "t1-chart-speedup", "t2-chart-verdicts"))
        check(not browser.complaints(), browser.complaints()[:5])
        screenshot(browser, f"campaign-{width}.png")


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
                look(browser, "file://" + page, width, f"{name}-{width}")
            if name == "clean":
                schemes(browser, "file://" + page, name)
                campaign(browser, keet, db, folder)
                conversation(browser, keet, db, folder)
                runs.plant(db)
        runs.many(db, 5000)
        write()
        # On a machine that is busy with other things Chromium waits for its turn: then what all of
        # its processes worked counts, in which nothing is parallel, and one undisturbed time of six.
        for _ in range(6):
            before = browser.processor()
            seconds = browser.open("file://" + page, 1400)
            worked = sum(s - before.get(pid, 0) for pid, s in browser.processor().items())
            print(f"5,000 nodes open in {seconds:.2f} s, with {worked:.2f} s of processor time")
            if min(seconds, worked) < 3:
                break
        check(min(seconds, worked) < 3, "that is over 3 seconds")
        check(browser.value("document.querySelectorAll('details.node').length") == 5000, "nodes")
        browser.value("document.querySelector('#chart-tree circle[data-n=\"4321\"]')"
                      ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        check(browser.soon("document.querySelector('#n4321[open] .inside .diff') !== null"),
              "a click in the tree does not open its node")
        browser.close()


if __name__ == "__main__":
    main()
