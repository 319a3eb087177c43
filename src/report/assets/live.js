// Of a page that `keet-opt watch --web` serves: keeps the page up to date. New nodes come at once, as events; what is
// drawn anew as a whole (charts, tables, the best kernel) comes no more often than the page can draw it.
"use strict";
(function () {
  let trying = [], told = 0; // what is under way, and when that was told
  let shown = []; // the parts above the nodes as they were drawn last
  let said = "", due = 0, waiting = false, again = false, stale = false;

  function say(text) {
    said = text;
    document.getElementById("live").textContent = text;
  }

  function add(parent, tag, kind, text) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text !== undefined && text !== null) element.textContent = text;
    parent.append(element);
    return element;
  }

  function numberOf(details) { return Number(details.id.slice(1)); }

  function since(ms) {
    const s = Math.floor((ms + performance.now() - told) / 1000);
    return s < 60 ? s + " s" : Math.floor(s / 60) + " min " + s % 60 + " s";
  }

  // What is under way, in the list below the title and, by its parent, in the tree.
  function showTrying() {
    const list = document.getElementById("trying");
    if (!list) return;
    list.replaceChildren();
    for (const one of trying) {
      const item = add(list, "li", "");
      item.append("node " + one.n + " from ");
      add(item, "a", "", String(one.parent)).href = "#n" + one.parent;
      item.append(": ");
      add(item, "code", "", one.a);
      item.append((one.what ? " " + one.what : "") + (one.stage === "written" ? ", being written" : ", being tried"));
      add(item, "span", "since", " for " + since(one.ms)).dataset.ms = one.ms;
    }
    document.querySelectorAll("#chart-tree .trying").forEach((dot) => dot.classList.remove("trying"));
    for (const one of trying)
      document.querySelectorAll('#chart-tree circle[data-n="' + one.parent + '"], #chart-tree a[href="#n' + one.parent + '"] circle').forEach((dot) => dot.classList.add("trying"));
  }

  function tick() {
    document.querySelectorAll("#trying .since").forEach((span) => { span.textContent = " for " + since(Number(span.dataset.ms)); });
  }

  // In the order of the numbers: a node that took longer may come after a later one.
  function place(details) {
    const all = document.querySelector("main");
    let before = all.lastElementChild;
    while (before && before.matches("details.node") && numberOf(before) > numberOf(details))
      before = before.previousElementSibling;
    before.after(details);
  }

  function addNode(node) {
    if (document.getElementById("n" + node.n)) return;
    const right = node.v === "ok", details = document.createElement("details");
    details.className = "node " + (right ? "right" : "wrong");
    details.id = "n" + node.n;
    const summary = add(details, "summary");
    add(summary, "span", "no", String(node.n));
    summary.append(" ");
    add(summary, "b", "", node.x > 0 ? node.x.toFixed(2) + "x" : node.v);
    summary.append(" ");
    add(summary, "code", "", node.a);
    summary.append(" " + (node.what || ""));
    if (node.why) add(details, "p", "vt", node.why);
    place(details);
    stale = true;
  }

  // Open and closed, as it was, by id.
  function replace(fresh, old) {
    const open = new Set([...old.querySelectorAll("details[id][open]")].map((one) => one.id));
    fresh.querySelectorAll("details[id]").forEach((one) => { one.open = one.open || open.has(one.id); });
    old.replaceWith(fresh);
  }

  // Only what has changed: most of a long page stays as it is drawn. One part at a time, so that none lets the page stand still for long.
  async function update(now, old) {
    const from = [...now.children], to = [...old.children];
    if (from.length !== to.length || from.length === 0 || old.id !== "above") {
      if (now.outerHTML !== old.outerHTML) replace(now, old);
      if (old.id === "above") shown = [];
      return;
    }
    for (let at = 0; at < from.length; at++) {
      const text = from[at].outerHTML;
      if (text === (shown[at] || to[at].outerHTML)) continue;
      replace(from[at], to[at]);
      shown[at] = text;
      await new Promise((done) => setTimeout(done, 0));
    }
  }

  async function refresh() {
    if (waiting) { again = true; return; }
    waiting = true;
    again = false;
    await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
    const began = performance.now();
    try {
      const answer = await fetch("above");
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const drawn = performance.now();
      fresh.getElementById("live").textContent = said;
      for (const part of ["header", document.getElementById("above") ? "#above" : "main"]) {
        const now = fresh.querySelector(part), old = document.querySelector(part);
        if (now && old) await update(now, old);
      }
      showTrying();
      due = performance.now() + Math.max(1000, 5 * (drawn - began), 10 * (performance.now() - drawn));
    } catch (error) {
      due = performance.now() + 2000;
    }
    waiting = false;
    if (again) refresh();
  }

  // What a node holds comes when a node is opened that the page does not know yet.
  async function getData() {
    if (!stale || !document.getElementById("data")) return;
    stale = false;
    try {
      document.getElementById("data").textContent = await (await fetch("data")).text();
      document.dispatchEvent(new Event("freshdata"));
    } catch (error) {
      stale = true;
    }
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches("details.node") && !event.target.querySelector(".inside")) getData();
  }, true);

  const last = document.querySelector("main > details.node:last-of-type");
  const events = new EventSource("events?from=" + (last ? numberOf(last) : -1));
  events.addEventListener("nodes", (event) => {
    JSON.parse(event.data).forEach(addNode);
    refresh();
  });
  events.addEventListener("trying", (event) => {
    trying = JSON.parse(event.data);
    told = performance.now();
    showTrying();
  });
  setInterval(tick, 1000);
  events.addEventListener("changed", refresh);
  events.addEventListener("another", () => location.reload());
  events.addEventListener("running", () => say("Live."));
  events.addEventListener("ended", () => { say("It has ended."); refresh(); });
  events.onerror = () => say("keet-opt watch has ended, or cannot be reached.");
})();
