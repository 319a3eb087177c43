#!/usr/bin/env python3
"""`keet-opt watch --web` in headless Chromium: nodes arrive within two seconds, in the list and in the tree; what is
open stays open; a new node opens; the end is told; a page of 5,000 nodes stays fluid while nodes arrive; a campaign's
page. And without a browser: only this machine's own address with its word is answered. Skipped (77) without Chromium.

usage: live.py KEET_OPT KERNEL.cu small|large"""
import http.client
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import runs
from browser import Browser, check


class Watch:
    def __init__(self, keet, path, *words):
        self.process = subprocess.Popen([keet, "watch", path, "--web", *words], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.at = urllib.parse.urlparse(self.url)
        check(self.at.hostname == "127.0.0.1" and len(self.at.path) == 34, self.url)

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.at.port, timeout=60)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(60) == 0, "watch --web does not end with status 0")


def doors(watch):
    """What is answered, and what is not."""
    check(watch.ask(watch.at.path)[0] == 200, "the page")
    check(b"connect-src 'self'" in watch.ask(watch.at.path)[1], "its policy")
    for path, method, headers, status in [
            ("/", "GET", {}, 404), ("/0123456789abcdef0123456789abcdef/", "GET", {}, 404),
            (watch.at.path[:-1], "GET", {}, 404), (watch.at.path + "none", "GET", {}, 404),
            (watch.at.path + "../../etc/passwd", "GET", {}, 404), (watch.at.path, "GET", {"Host": "evil.com"}, 404),
            (watch.at.path, "POST", {}, 405), (watch.at.path, "DELETE", {}, 405)]:
        check(watch.ask(path, method, **headers)[0] == status, f"{method} {path} {headers}")
    with open("/proc/net/tcp", encoding="ascii") as file:
        ours = [line.split()[1] for line in file if line.split()[1].endswith(f":{watch.at.port:04X}")]
    check(ours and all(one.startswith("0100007F:") for one in ours), f"it listens elsewhere: {ours}")


def add(db, nr):
    """One more node, with all that belongs to it."""
    runs.many(db, nr + 1)


def sometime(browser, fact, limit_s=60):
    """Becomes true, however busy the machine is."""
    end = time.monotonic() + limit_s
    while not browser.value(fact):
        if time.monotonic() > end:
            return False
        time.sleep(0.02 if limit_s < 100 else 0.5)
    return True


def quickly(browser, what, fact, cause):
    """On a machine that is busy, one of six is quick."""
    for attempt in range(6):
        cause(attempt)
        began = time.monotonic()
        while not browser.value(fact(attempt)):
            check(time.monotonic() - began < 60, f"never: {what}")
            time.sleep(0.01)
        took = time.monotonic() - began
        print(f"{what} after {took:.2f} s")
        if took < 2:
            return
    check(False, f"{what}: over two seconds, six times of six")


def small(browser, keet, db):
    watch = Watch(keet, db)
    doors(watch)
    browser.open(watch.url, 1400)
    check(browser.value("document.documentElement.dataset.ready") == "yes", "the script did not run")
    check(sometime(browser, "document.getElementById('live').textContent === 'It has ended.'"), "the end of the run is not told")
    browser.value("document.querySelector('#n1').open = true; 1")
    check(sometime(browser, "document.querySelector('#n1 .inside') !== null"), "node 1 opens empty")
    nr = browser.value("document.querySelectorAll('details.node').length")
    quickly(browser, "a node is in the list", lambda i: f"document.querySelector('#n{nr + i}') !== null",
            lambda i: add(db, nr + i))
    newest = browser.value("document.querySelectorAll('details.node').length") - 1
    check(sometime(browser, f"document.querySelectorAll('#chart-tree circle').length === {newest + 1}"),
          "the newest node is not in the tree")
    check(browser.value("document.querySelector('#n1').open && document.querySelector('#n1 .inside') !== null"),
          "node 1 was closed")
    browser.value(f"document.querySelector('#n{newest}').open = true; 1")
    check(sometime(browser, f"document.querySelector('#n{newest} .inside .diff') !== null"), "a new node opens empty")
    ids = browser.value("[...document.querySelectorAll('details.node')].map(d => +d.id.slice(1)).join()")
    check(ids == ",".join(str(n) for n in range(newest + 1)), f"nodes are out of order: {ids}")
    browser.events = [e for e in browser.events if e.get("method") != "Network.requestWillBeSent"]
    check(not browser.complaints(), browser.complaints()[:5])
    watch.close()
    check(sometime(browser, "document.getElementById('live').textContent.startsWith('keet-opt watch has ended')"),
          "the end of the server is not told")


def trying(browser, keet, kernel, folder):
    """What is under way while a run is at work, in the page, in `watch` and in `status`; and no more when the run is killed."""
    db, watch = os.path.join(folder, "trying.keet.db"), None
    matmul = os.path.join(os.path.dirname(kernel), "matmul.cu")     # a saxpy has soon nothing left to try
    run = subprocess.Popen([keet, matmul, "--budget", "1000", "--no-memory", "--device", "emu", "--db", db, "-o", os.path.join(folder, "t.cu"),
                            "-q"], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        said = ""
        while "trying: node " not in said:
            check(time.monotonic() < end and run.poll() is None, f"watch does not say what is tried: {said}")
            said = subprocess.run([keet, "watch", db, "--once"], capture_output=True, text=True).stdout
        watch = Watch(keet, db)
        browser.open(watch.url, 1400)
        check(sometime(browser, "document.querySelectorAll('#trying li').length === 1"), "nothing is being tried")
        seen = browser.value("document.querySelector('#trying').textContent")
        check(seen.startswith("node ") and " from " in seen and " being tried for " in seen, seen)
        check(sometime(browser, "document.querySelector('#chart-tree circle.trying') !== null", 300), "the tree does not show where")
        check(sometime(browser, f"document.querySelector('#trying').textContent.split(' from ')[0] !== {seen.split(' from ')[0]!r}", 300),
              "the next node is not being tried")
        run.kill()
        run.wait()
        check(sometime(browser, "document.querySelectorAll('#trying li').length === 0"), "a killed run still tries something")
        left = subprocess.run([keet, "status", db, "--json"], capture_output=True, text=True).stdout
        check('"trying": []' in left, left)
    finally:
        run.kill()
        run.wait()
        if watch:
            watch.close()


def busy_s(browser):
    """What the page's main thread has worked up to now (scripts, styles, layout, drawing), in seconds of its processor time."""
    return {metric["name"]: metric["value"] for metric in browser.call("Performance.getMetrics")["metrics"]}["TaskDuration"]


def large(browser, keet, db):
    """With 5,000 nodes the page goes on drawing while nodes arrive: what stands between two frames is what the main thread works."""
    runs.many(db, 5000)
    watch = Watch(keet, db)
    browser.call("Performance.enable", timeDomain="threadTicks")
    browser.open(watch.url, 1400)
    check(browser.value("document.querySelectorAll('details.node').length") == 5000, "nodes")
    at_most = 0
    for nr in range(5000, 5005):
        began, before = time.monotonic(), busy_s(browser)
        add(db, nr)
        check(sometime(browser, f"document.querySelector('#n{nr}') !== null", 300), f"node {nr} does not come")
        arrived, came_s = busy_s(browser), time.monotonic() - began
        at_most = max(at_most, arrived - before)
        print(f"5,000 nodes: one more after {came_s:.2f} s, of which the page worked {1000 * (arrived - before):.0f} ms")
    browser.value("window.parts = 0; new MutationObserver(() => window.parts++).observe(document.getElementById('above'), { childList: true }); 1")
    before = busy_s(browser)
    check(sometime(browser, f"document.querySelector('#chart-tree circle[data-n=\"{nr}\"]') !== null", 300), "the tree is not drawn anew")
    parts = browser.value("window.parts")
    drawn = (busy_s(browser) - before) / max(parts, 1)
    print(f"5,000 nodes: charts and tables anew, {parts} parts, one after the other, {1000 * drawn:.0f} ms of the page's processor time each")
    check(at_most < 0.5 and drawn < 0.5, "the page stands still for half a second")
    watch.close()


def campaign(browser, keet, db, folder):
    tasks, out = os.path.join(folder, "tasks"), os.path.join(folder, "one.campaign")
    os.mkdir(tasks)
    with open(os.path.join(tasks, "one.cu"), "w", encoding="utf-8") as file:
        file.write(runs.original(db))
    words = [keet, "campaign", tasks, "--device", "emu", "--out", out, "-q"]
    subprocess.run([*words, "--budget", "1"], check=True, stdout=subprocess.DEVNULL)
    watch = Watch(keet, out)
    browser.open(watch.url, 1400)
    before = browser.value("document.querySelectorAll('details.node').length")
    check(before >= 2, f"{before} nodes of a task")
    add(os.path.join(out, "one.keet.db"), before)
    check(sometime(browser, f"document.querySelectorAll('details.node').length === {before + 1}"), "a task's node does not come")
    watch.close()


def main():
    keet, kernel, part = sys.argv[1:4]
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder:
        db = runs.run(keet, kernel, folder)
        if not program:
            watch = Watch(keet, db)
            doors(watch)
            watch.close()
            print("SKIPPED: no Chromium on this machine")
            sys.exit(77)
        browser = Browser(program, os.path.join(folder, "profile"))
        try:
            if part == "large":
                large(browser, keet, db)
            else:
                small(browser, keet, db)
                trying(browser, keet, kernel, folder)
                campaign(browser, keet, db, folder)
        finally:
            browser.close()


main()
