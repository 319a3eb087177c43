// Fills a node when it is opened. Everything that others wrote is set as text, never as markup.
"use strict";
(function () {
  let data = null, byNumber = null; // read when the first node is opened
  const origins = { "-": "", m: "measured", c: "counted", s: "sampled",
    e: "counted on the emulator", E: "sampled on the emulator", M: "modelled" };

  function add(parent, tag, kind, text) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    if (text !== undefined && text !== null) element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  // [first, number, ...] into lines; null: left out to keep the page small.
  function lines(pairs) {
    if (!pairs) return null;
    const all = [];
    for (let i = 0; i < pairs.length; i += 2)
      for (let k = 0; k < pairs[i + 1]; k++) all.push(data.lines[pairs[i] + k]);
    return all;
  }

  // The longest common subsequence of what is left between equal beginnings and ends.
  function difference(a, b) {
    let start = 0, end = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    while (end < a.length - start && end < b.length - start &&
           a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
    const x = a.slice(start, a.length - end), y = b.slice(start, b.length - end);
    const out = a.slice(0, start).map((text) => [" ", text]);
    if (x.length * y.length > 4e6) {
      x.forEach((text) => out.push(["-", text]));
      y.forEach((text) => out.push(["+", text]));
    } else {
      const wide = y.length + 1, best = new Uint16Array((x.length + 1) * wide);
      for (let i = x.length - 1; i >= 0; i--)
        for (let j = y.length - 1; j >= 0; j--)
          best[i * wide + j] = x[i] === y[j] ? best[(i + 1) * wide + j + 1] + 1
            : Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1]);
      let i = 0, j = 0;
      while (i < x.length || j < y.length) {
        if (i < x.length && j < y.length && x[i] === y[j]) { out.push([" ", x[i++]]); j++; }
        else if (i < x.length && (j === y.length ||
                 best[(i + 1) * wide + j] >= best[i * wide + j + 1])) out.push(["-", x[i++]]);
        else out.push(["+", y[j++]]);
      }
    }
    return out.concat(a.slice(a.length - end).map((text) => [" ", text]));
  }

  // Changed lines with three lines of context.
  function showDifference(parent, rows) {
    const pre = add(parent, "pre", "diff");
    const near = new Uint8Array(rows.length);
    rows.forEach((row, at) => {
      if (row[0] !== " ")
        near.fill(1, Math.max(0, at - 3), Math.min(rows.length, at + 4));
    });
    let skipped = false, any = false;
    rows.forEach((row, at) => {
      if (!near[at]) { skipped = true; return; }
      if (skipped) add(pre, "span", "hunk", "...\n");
      skipped = false;
      any = true;
      add(pre, "span", row[0] === "+" ? "add" : row[0] === "-" ? "del" : "", row[0] + row[1] + "\n");
    });
    if (!any) pre.textContent = "The text is the parent's.";
  }

  function showText(parent, title, pairs) {
    const box = add(parent, "details");
    const text = lines(pairs);
    add(box, "summary", "", title);
    add(box, "pre", "text", text ? text.join("\n")
      : "Left out, to keep this page small. keet-opt report --as json has it.");
  }

  function number(value) {
    if (value === null || value === undefined) return "-";
    const size = Math.abs(value);
    if (size >= 1e9) return (value / 1e9).toPrecision(4) + " G";
    if (size >= 1e6) return (value / 1e6).toPrecision(4) + " M";
    return String(Math.round(value * 1e4) / 1e4);
  }

  function time(ns) {
    if (ns === null || ns === undefined) return "-";
    const unit = ns < 1e3 ? 0 : ns < 1e6 ? 1 : 2;
    return Number((ns / 1e3 ** unit).toPrecision(4)) + [" ns", " us", " ms"][unit];
  }

  function showMetrics(parent, node, before) {
    const table = add(add(parent, "div", "wide"), "table");
    const head = add(table, "tr");
    ["metric", "parent", "here", "is"].forEach((text) => add(head, "th", "", text));
    node.m.forEach((value, at) => {
      if (value === null) return;
      const row = add(table, "tr");
      const name = add(add(row, "td"), "code");
      data.metrics[at].split(/(?<=[_.])(?=[^_])/).forEach((part) => { // may break there
        name.append(part);
        add(name, "wbr");
      });
      const text = data.metrics[at].startsWith("gpu__time") ? time : number;
      add(row, "td", "n", text(before && before.m ? before.m[at] : null));
      add(row, "td", "n", text(value));
      add(row, "td", "", origins[node.f[at]]);
    });
  }

  // A prompt's turns, by the lines [system], [user], [assistant], [tool] before them; a prompt
  // without such lines is one turn.
  function turns(text) {
    const all = [];
    text.forEach((line) => {
      const head = /^\[(system|user|assistant|tool)\]$/.exec(line);
      if (head || all.length === 0) all.push({ role: head ? head[1] : "user", lines: [] });
      if (!head) all[all.length - 1].lines.push(line);
    });
    return all;
  }

  function trimmed(all) {
    let start = 0, end = all.length;
    while (start < end && !all[start].trim()) start++;
    while (end > start && !all[end - 1].trim()) end--;
    return all.slice(start, end);
  }

  // What the prompt says behind the reply to the prompt before, in turns; null: it does not hold that
  // reply. What stands there is ours, whatever heads the reply itself may hold.
  function turnsAfter(prompt, reply) {
    const part = trimmed(reply || []);
    for (let at = prompt.length - part.length; part.length && at > 0; at--) {
      let k = 0;
      while (k < part.length && prompt[at + k] === part[k]) k++;
      if (k === part.length)
        return turns(trimmed(prompt.slice(at + k))).map((turn) => ({
          role: turn.role === "tool" ? "tool" : "user", lines: trimmed(turn.lines) }));
    }
    return null;
  }

  const speakers = { system: "keet-opt, to every question", user: "keet-opt", tool: "keet-opt, a tool's answer",
    assistant: "The model, before" };

  // A turn; what is long stays closed, under its first words.
  function showTurn(parent, kind, who, text, open) {
    const box = add(parent, "div", "turn " + kind);
    add(box, "p", "who", who);
    const first = text.find((line) => line.trim()) || "(nothing)";
    if (text.length <= 12 || open) {
      add(box, "pre", "text", text.join("\n"));
      return;
    }
    const details = add(box, "details");
    add(details, "summary", "", first.slice(0, 100) + " ... (" + text.length + " lines)");
    add(details, "pre", "text", text.join("\n"));
  }

  // A reply in parts: words open, code closed.
  function showReply(parent, who, text) {
    const box = add(parent, "div", "turn model");
    add(box, "p", "who", who);
    let part = [], code = false;
    const end = () => {
      if (code) {
        const details = add(box, "details");
        add(details, "summary", "", "Code, " + part.length + (part.length === 1 ? " line" : " lines"));
        add(details, "pre", "text", part.join("\n"));
      } else if (part.some((line) => line.trim())) {
        add(box, "pre", "text", part.join("\n").trim());
      }
      part = [];
    };
    text.forEach((line) => {
      if (/^(```|~~~)/.test(line)) { end(); code = !code; } else part.push(line);
    });
    end();
  }

  // The calls of a node as a conversation: of each prompt what the prompt before did not say.
  function showConversation(parent, calls) {
    let shown = [], said = null;
    add(parent, "h3", "", "The conversation with the model");
    calls.forEach((call) => {
      const prompt = lines(call.prompt), reply = lines(call.reply);
      const cost = call.cost === null ? "cost unknown" : call.cost.toFixed(4) + " dollars";
      const fresh = prompt && said ? turnsAfter(prompt, said) : null;
      const asked = fresh || (prompt ? turns(prompt) : []);
      let same = 0;
      while (!fresh && same < asked.length && same < shown.length &&
             asked[same].lines.join("\n").trim() === shown[same].lines.join("\n").trim()) same++;
      if (!prompt)
        add(parent, "p", "", "A prompt is left out, to keep this page small. keet-opt report --as json has it.");
      asked.slice(same).forEach((turn) => showTurn(parent, turn.role === "assistant" ? "model" : "us",
        speakers[turn.role], turn.lines, false));
      if (asked.length && !fresh) shown = asked;
      said = reply;
      const who = "The model (" + call.model + "), " + call.purpose + ": " + call.in + " tokens in, " + call.out +
        " out, " + cost;
      if (reply && reply.length) showReply(parent, who, reply);
      else showTurn(parent, "model", who, [reply ? call.outcome : "(left out, to keep this page small)"], true);
      if (call.outcome !== "look_up")
        showTurn(parent, "us", "What came of it", [(call.outcome === "ok" || call.outcome === call.verdict
          ? call.verdict : call.outcome + ", " + call.verdict) + (call.vt ? ": " + call.vt : "")], true);
    });
  }

  function show(details) {
    if (!data) {
      data = JSON.parse(document.getElementById("data").textContent);
      byNumber = new Map(data.nodes.map((node) => [node.n, node]));
    }
    const node = byNumber.get(Number(details.id.slice(1)));
    if (!node || details.querySelector(".inside")) return;
    const parent = byNumber.get(node.p);
    const box = add(details, "div", "inside");
    const from = add(box, "p", "", "Verdict " + node.v + ", proposed by " + node.by);
    if (parent) {
      from.append(", from ");
      add(from, "a", "", "node " + node.p).href = "#n" + node.p;
    }
    if (node.same !== undefined) {
      from.append(", compiles to the same as ");
      add(from, "a", "", "node " + node.same).href = "#n" + node.same;
    }
    if (node.note) add(box, "p", "", node.note);
    if (node.said) add(box, "p", "", "The model " + node.said);
    if (node.check) add(box, "p", "", node.check);
    if (node.why) add(box, "p", "", node.why);
    if (node.a) {
      const list = add(box, "ul");
      node.a.forEach((text) => add(list, "li", "", text));
    }
    const after = lines(node.s), before = parent ? lines(parent.s) : null;
    if (after && before) showDifference(box, difference(before, after));
    showText(box, "Source", node.s);
    if (data.calls[node.n]) showConversation(box, data.calls[node.n]);
    if (node.m) showMetrics(box, node, parent);
  }

  function openTarget() {
    const details = /^#n\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (!details) return;
    details.open = true;
    show(details);
    details.querySelector("summary").focus();
    details.scrollIntoView();
  }

  document.addEventListener("freshdata", () => { // live.js brought more
    data = null;
    document.querySelectorAll("details.node[open]").forEach(show);
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.matches("details.node")) show(event.target);
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.dataset.n) location.hash = "n" + event.target.dataset.n;
  });
  addEventListener("hashchange", openTarget);
  openTarget();
  document.documentElement.dataset.ready = "yes";
})();
