"use strict";
// The page is a state (kernel, pass, step, tab) and what is drawn of it. Texts reach the page as text nodes only.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id), words = data.words, NS = "http://www.w3.org/2000/svg";
  const signs = ["", "+", "\u2212", "~"];
  let scope, pass, step = 0, tab = "Step", boxes = new Set(), edges = new Set(), drawn = -1, timer = 0;
  let view = {x: 0, y: 0, w: 100, h: 100}, autoView = true;

  function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) k === "onclick" ? e.onclick = v : e.setAttribute(k, v);
    e.append(...children.filter(c => c !== null && c !== undefined));
    return e;
  }
  function svg(tag, attributes, text) {
    const e = document.createElementNS(NS, tag);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    if (text !== undefined) e.textContent = text;
    return e;
  }
  const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
  const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

  // --- where one is ---
  function passesOf(s) { return s.passes; }
  function chooseScope(s, wantedPass, wantedStep) {
    scope = s;
    $("kernel").value = String(data.scopes.indexOf(s));
    const list = passesOf(s);
    choosePass(wantedPass || list.find(p => p.rows && p.rows.length) || list[0], wantedStep);
    showPasses();
  }
  function choosePass(p, wantedStep) {
    if (p !== pass) {
      pass = p; drawn = -1; boxes = new Set(); edges = new Set(); autoView = true;
      $("canvas").replaceChildren();
      fit();
    }
    go(wantedStep === undefined ? Math.min(1, last()) : wantedStep);
    showPasses();
  }
  const last = () => pass.rows ? pass.rows.length : 0;
  function go(to) {
    step = clamp(to, 0, last());
    draw(); showBar(); showPane();
    history.replaceState(null, "", "#kernel=" + scope.id + "&pass=" + pass.no + "&step=" + step);
  }
  function neighbour(d) {
    const list = passesOf(scope), at = list.indexOf(pass);
    for (let i = at + d; i >= 0 && i < list.length; i += d) if (list[i].rows && list[i].rows.length) return list[i];
    return null;
  }
  function forward(d) { // a step, on into the next pass
    if (step + d >= 0 && step + d <= last()) return go(step + d);
    const p = neighbour(d);
    if (p) choosePass(p, d > 0 ? 0 : p.rows.length);
    else stop();
  }
  function movePass(d) {
    const list = passesOf(scope), p = list[list.indexOf(pass) + d];
    if (p) choosePass(p);
  }
  function moveKernel(d) {
    const s = data.scopes[data.scopes.indexOf(scope) + d];
    if (s) chooseScope(s);
  }
  function follow(link) { // kernel=3&pass=devectorize&step=12, as everywhere in uopscope
    const parts = new URLSearchParams(link.replace(/\+/g, "%2B")), k = parts.get("kernel"), p = parts.get("pass"), n = parts.get("step");
    const s = k === null ? scope || data.scopes[0] : data.scopes.find(s => String(s.id) === k) || data.scopes.find(s => s.name === k);
    if (!s) return false;
    const [name, nth] = (p || "").split("#");
    const found = p === null ? undefined : s.passes.find(x => String(x.no) === p) || s.passes.filter(x => x.name === name)[(nth || 1) - 1];
    chooseScope(s, found, n === null ? undefined : Number(n));
    return true;
  }
  function play() {
    if (timer) return stop();
    timer = setInterval(() => forward(1), 900);
    $("play").textContent = "Stop";
  }
  function stop() { clearInterval(timer); timer = 0; $("play").textContent = "Play"; }

  // --- the graph ---
  const none = [[], [], [], [], [], [], []];
  const stateAt = k => pass.pictures ? pass.pictures.states[k] || none : none;
  function walk(k) { // boxes and edges of the picture after k steps
    while (drawn < k) {
      const s = stateAt(++drawn);
      s[1].forEach(b => boxes.delete(b)); s[0].forEach(b => boxes.add(b));
      s[3].forEach(e => edges.delete(e)); s[2].forEach(e => edges.add(e));
    }
    while (drawn > k) {
      const s = stateAt(drawn--);
      s[0].forEach(b => boxes.delete(b)); s[1].forEach(b => boxes.add(b));
      s[2].forEach(e => edges.delete(e)); s[3].forEach(e => edges.add(e));
    }
  }
  function drawBox(b, mark, was) {
    const [x, y, w, h, family, op, detail, dtype, folded] = pass.pictures.boxes[b], left = x - w / 2, top = y - h / 2;
    const g = svg("g", {class: "box m" + mark});
    g.append(svg("rect", {x: left, y: top, width: w, height: h, rx: 6, stroke: `var(--f${family})`}),
             svg("rect", {x: left + 4, y: top + 6, width: 3, height: Math.max(h - 12, 1), fill: `var(--f${family})`}));
    let line = top + 20;
    const room = Math.floor((w - 20) / 6.6), cut = t => t.length > room ? t.slice(0, room - 1) + "\u2026" : t;
    if (was) g.append(svg("text", {class: "was", x: left + 13, y: top + 14}, cut(was))), line += 17;
    if (mark) g.append(svg("text", {class: "sign", x: left - 4, y: top - 3, "text-anchor": "middle"}, signs[mark]));
    g.append(svg("text", {class: "op", x: left + 13, y: line}, words[op]));
    if (words[dtype]) g.append(svg("text", {class: "soft", x: left + w - 9, y: line, "text-anchor": "end"}, words[dtype]));
    for (const t of (words[detail] || "").split("\n")) if (t) g.append(svg("text", {x: left + 13, y: line += 16.5}, cut(t)));
    if (words[folded]) g.append(svg("text", {class: "soft", x: left + 13, y: line += 16}, cut(words[folded])));
    const title = [words[op], words[dtype], words[detail], words[folded] && "sources written in: " + words[folded], was && "was " + was].filter(Boolean).join("\n");
    g.append(svg("title", {}, title));
    return g;
  }
  function draw() {
    const canvas = $("canvas");
    if (!pass.pictures) {
      canvas.replaceChildren(make("div", {class: "message"}, pass.steps ? `The ${grouped(pass.steps)} steps of this pass are not in this file. To make a file of them:  uopscope export TRACE --what session --kernel ${scope.id} --pass ${pass.no} -o FILE.html` : "This pass changed nothing. Its graph is that of the pass before it."));
      return;
    }
    walk(step);
    const s = stateAt(step), mark = new Map(), edgeMark = new Map(), was = new Map();
    for (const m of s[4]) mark.set(m >> 2, m & 3);
    for (const m of s[5]) edgeMark.set(m >> 2, m & 3);
    for (let i = 0; i < s[6].length; i += 2) was.set(s[6][i], words[s[6][i + 1]]);
    const root = svg("svg", {xmlns: NS});
    const marker = (id, colour) => {
      const m = svg("marker", {id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse"});
      m.append(svg("path", {d: "M0 0.8L8 4L0 7.2Z", fill: `var(--${colour})`}));
      return m;
    };
    const defs = svg("defs", {});
    ["edge", "added", "removed", "changed"].forEach((c, i) => defs.append(marker("a" + i, c)));
    root.append(defs);
    const later = [];
    for (const e of edges) {
      const m = edgeMark.get(e) || 0, path = svg("path", {class: "edge m" + m, d: pass.pictures.edges[e], "marker-end": `url(#a${m})`});
      m ? later.push(path) : root.append(path);
    }
    root.append(...later);
    for (const b of boxes) root.append(drawBox(b, mark.get(b) || 0, was.get(b) || ""));
    canvas.replaceChildren(root);
    if (autoView) fit(); else keepChangeInSight();
    setView();
  }
  function boundsOf(list) {
    let x0 = 1e9, y0 = 1e9, x1 = -1e9, y1 = -1e9;
    for (const b of list) {
      const [x, y, w, h] = pass.pictures.boxes[b];
      x0 = Math.min(x0, x - w / 2); x1 = Math.max(x1, x + w / 2); y0 = Math.min(y0, y - h / 2); y1 = Math.max(y1, y + h / 2);
    }
    return x1 < x0 ? null : [x0, y0, x1, y1];
  }
  // Where the change is written into labels (constants), it is beside the first node that was rebuilt with it.
  function changedBoxes() {
    const marks = stateAt(step)[4], made = marks.filter(m => (m & 3) !== 3).map(m => m >> 2);
    const top = b => pass.pictures.boxes[b][1];
    return made.length ? made : marks.map(m => m >> 2).sort((a, b) => top(a) - top(b)).slice(0, 1);
  }
  function canvasShape() { const r = $("canvas").getBoundingClientRect(); return r.width && r.height ? r.width / r.height : 1.6; }
  function look(bounds, least) {
    const pad = 30, shape = canvasShape();
    let [x0, y0, x1, y1] = bounds, w = Math.max(x1 - x0 + 2 * pad, least), h = Math.max(y1 - y0 + 2 * pad, least / shape);
    if (w / h < shape) w = h * shape; else h = w / shape;
    view = {x: (x0 + x1) / 2 - w / 2, y: (y0 + y1) / 2 - h / 2, w, h};
  }
  // Everything, unless it would be too small to read: then what the step changed, with what stands around it; then the last of it.
  function fit() {
    if (!pass.pictures) return;
    const whole = boundsOf(boxes.size ? boxes : pass.pictures.boxes.keys()), pixels = $("canvas").getBoundingClientRect().width || 900;
    if (!whole) return;
    look(whole, 500);
    if (view.w > pixels * 1.7) { const c = boundsOf(changedBoxes()); look(c || [whole[2] - 500, whole[3] - 400, whole[2], whole[3]], pixels * 1.1); lastOfChange(pixels); }
  }
  // A change as large as the kernel: the lowest of its new nodes, which the others lead to.
  function lastOfChange(pixels) {
    const bottom = b => pass.pictures.boxes[b][1], made = stateAt(step)[4].filter(m => (m & 3) === 1).map(m => m >> 2);
    if (view.w > pixels * 1.7 && made.length) look(boundsOf([made.reduce((a, b) => bottom(b) > bottom(a) ? b : a)]), pixels * 1.1);
  }
  function keepChangeInSight() {
    const c = boundsOf(changedBoxes());
    if (c && (c[0] < view.x || c[2] > view.x + view.w || c[1] < view.y || c[3] > view.y + view.h)) {
      view.x = (c[0] + c[2]) / 2 - view.w / 2; view.y = (c[1] + c[3]) / 2 - view.h / 2;
    }
  }
  function setView() {
    const s = $("canvas").querySelector("svg");
    if (s) s.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
  }
  function zoom(factor, at) {
    autoView = false;
    const fx = at ? at[0] : .5, fy = at ? at[1] : .5, w = clamp(view.w * factor, 60, 60000), h = view.h * w / view.w;
    view = {x: view.x + (view.w - w) * fx, y: view.y + (view.h - h) * fy, w, h};
    setView();
  }
  function everything() { autoView = false; const b = pass.pictures && boundsOf(boxes); if (b) { look(b, 500); setView(); } }
  function focusChange() { autoView = false; const b = pass.pictures && boundsOf(changedBoxes()); if (b) { look(b, 700); setView(); } }

  // --- lists and panes ---
  function showPasses() {
    $("passes").replaceChildren(...passesOf(scope).map(p => {
      const li = make("li", {title: p.about || p.name, onclick: () => choosePass(p)}, make("span", {style: `padding-left:${p.depth}em`}, p.name),
                      make("span", {class: "count" + (p.rows ? "" : " none")}, p.steps ? grouped(p.steps) + (p.rows ? "" : " \u2013 not here") : "\u00b7"));
      if (p === pass) li.setAttribute("aria-current", "true");
      return li;
    }));
    const current = $("passes").querySelector("[aria-current]");
    if (current) current.scrollIntoView({block: "nearest"});
  }
  function showBar() {
    $("slider").max = last(); $("slider").value = step;
    $("where").textContent = pass.rows ? `step ${grouped(step)} of ${grouped(last())}` : `${grouped(pass.steps)} steps`;
    $("previous").disabled = step === 0 && !neighbour(-1);
    $("next").disabled = step === last() && !neighbour(1);
    $("about").textContent = pass.about ? `${pass.name}: ${pass.about}` : pass.name;
  }
  const code = (text, wrap) => make("pre", wrap ? {class: "wrap"} : {}, text);
  function wordsOf(text) { return text.match(/[A-Za-z_0-9.]+|\s+|[^\sA-Za-z_0-9.]/g) || []; }
  // The longest common subsequence of the words of two expressions, small enough for a table.
  function compare(a, b) {
    const x = wordsOf(a), y = wordsOf(b), n = x.length, m = y.length;
    if (n * m > 400000) return [[["del", a]], [["ins", b]]];
    const t = Array.from({length: n + 1}, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; --i) for (let k = m - 1; k >= 0; --k) t[i][k] = x[i] === y[k] ? t[i + 1][k + 1] + 1 : Math.max(t[i + 1][k], t[i][k + 1]);
    const left = [], right = [];
    let i = 0, k = 0;
    while (i < n || k < m) {
      if (i < n && k < m && x[i] === y[k]) { left.push(["", x[i++]]); right.push(["", y[k++]]); }
      else if (k >= m || (i < n && t[i + 1][k] >= t[i][k + 1])) left.push(["del", x[i++]]);
      else right.push(["ins", y[k++]]);
    }
    return [left, right];
  }
  function marked(list) {
    const out = make("pre", {class: "wrap"});
    for (const [tag, text] of list) out.append(tag ? make(tag, {}, text) : text);
    return out;
  }
  const reasonOf = ([, , reason, price]) => price ? [make("p", {}, reason), make("p", {class: "dim"}, price)] : [make("p", {}, reason)];
  const panes = {
    Step(pane) {
      if (!pass.rows) return pane.append(make("p", {}, "The steps of this pass are not in this file."));
      if (pass.message) pane.append(make("p", {class: "error"}, pass.message));
      if (step === 0) {
        pane.append(make("h3", {}, "The graph this pass begins with"), make("p", {}, last() ? `Its ${grouped(last())} rewrites are one arrow key away.` : "No rule of this pass applied: the graph goes on as it is."));
        const counts = new Map();
        for (const r of pass.rows) counts.set(r[0], (counts.get(r[0]) || 0) + 1);
        if (counts.size) {
          pane.append(make("h3", {}, "Rules that will apply"));
          pane.append(make("table", {}, ...[...counts].sort((a, b) => b[1] - a[1]).map(([r, n]) => make("tr", {}, make("td", {}, grouped(n) + " \u00d7"), make("td", {class: "mono"}, data.rules[r][0])))));
        }
        return;
      }
      const [ruleNo, before, after, error, lines] = pass.rows[step - 1], [name, at, text, pattern] = data.rules[ruleNo];
      pane.append(make("h3", {}, name), make("p", {class: "dim mono"}, at));
      if (error) pane.append(make("p", {class: "error"}, error));
      if (text) pane.append(code(text, true));
      if (pattern && pattern !== text) pane.append(make("p", {class: "dim"}, "matches ", make("code", {}, pattern)));
      const [a, b] = compare(words[before], after < 0 ? "" : words[after]);
      pane.append(make("h3", {}, "Before"), marked(a), make("h3", {}, "After"), after < 0 ? make("p", {class: "error"}, "The rule failed.") : marked(b));
      for (const d of scope.decisions) if (d[0] === pass.no && d[1] === step) pane.append(make("h3", {}, "Why"), ...reasonOf(d));
      pane.append(make("h3", {}, "As a tree"));
      const tree = make("pre", {});
      for (const l of lines) { const t = words[l]; tree.append(make("div", t[0] === "+" ? {class: "added"} : t[0] === "-" ? {class: "removed"} : {}, t || " ")); }
      pane.append(tree);
    },
    Code(pane) {
      const names = {source: "C, as people read it", ir: "LLVM IR", asm: "machine code"}, all = Object.keys(names).filter(k => scope.texts[k]);
      if (!all.length) pane.append(make("p", {}, "There is no code of its own here: a schedule decides which kernels there are."));
      for (const k of all) {
        const d = make("details", k === "source" || all.length === 1 ? {open: ""} : {}, make("summary", {}, names[k]), code(scope.texts[k]));
        pane.append(d);
      }
    },
    Script(pane) {
      const lines = scope.lines.length ? scope.lines : scope.script ? [[scope.script.replace(/:\d+$/, ""), Number(scope.script.match(/\d+$/)), ""]] : [];
      if (scope.script) pane.append(make("p", {}, "Asked for by ", make("code", {}, scope.script)));
      const shown = new Set(lines.map(l => l[0]));
      if (!shown.size && data.files[data.script]) shown.add(data.script);
      if (!shown.size) pane.append(make("p", {}, "No line of a script is known here: a C++ program leaves none in a trace."));
      for (const file of shown) {
        pane.append(make("h3", {class: "mono"}, file));
        if (!data.files[file]) { pane.append(make("p", {}, lines.filter(l => l[0] === file).map(l => `line ${l[1]} ${l[2]}`).join(", "))); continue; }
        const pre = make("pre", {});
        data.files[file].split("\n").forEach((text, i) => {
          const here = lines.filter(l => l[0] === file && l[1] === i + 1), ops = here.map(l => l[2]).filter(Boolean).join(", ");
          pre.append(make("div", here.length ? {class: "here", title: ops} : {}, make("span", {class: "no"}, String(i + 1)), text));
        });
        pane.append(pre);
      }
    },
    Decisions(pane) {
      if (!scope.decisions.length) pane.append(make("p", {}, "The compiler had nothing to choose here."));
      for (const d of scope.decisions) {
        const [no, k] = d, p = scope.passes.find(p => p.no === no);
        pane.append(make("h3", {}, p ? make("button", {class: "link", onclick: () => choosePass(p, k)}, `${p.name}, step ${k}`) : `pass ${no}, step ${k}`), ...reasonOf(d));
      }
    },
  };
  const hasLesson = $("lesson").textContent.trim() !== "";
  function showPane() {
    const names = hasLesson ? ["Lesson", ...Object.keys(panes)] : Object.keys(panes), tabs = document.querySelector(".tabs");
    tabs.replaceChildren(...names.map(n => make("button", {role: "tab", "aria-selected": String(n === tab), onclick: () => { tab = n; showPane(); }}, n === "Decisions" && scope.decisions.length ? `Decisions ${scope.decisions.length}` : n)));
    $("lesson").hidden = tab !== "Lesson"; $("pane").hidden = tab === "Lesson";
    if (tab !== "Lesson") { $("pane").replaceChildren(); panes[tab]($("pane")); }
  }
  function toggleTheme() {
    const root = document.documentElement, dark = root.classList.contains("dark");
    root.classList.toggle("dark", !dark); root.classList.toggle("light", dark);
  }

  // --- hands ---
  const keys = [["\u2192 \u2190, J K", "next and previous step, on into the next pass"], ["\u2193 \u2191, N B", "next and previous pass"], ["] [", "next and previous kernel"],
    ["Home End", "the pass as it began, as it ended"], ["P", "play"], ["0, F", "everything; what the step changed"], ["+ \u2212, wheel", "larger, smaller; drag to move"],
    ["1 \u2026 5", "tabs on the right"], ["T", "light or dark"], ["?", "these keys"]];
  const actions = {ArrowRight: () => forward(1), j: () => forward(1), ArrowLeft: () => forward(-1), k: () => forward(-1), ArrowDown: () => movePass(1), n: () => movePass(1),
    ArrowUp: () => movePass(-1), b: () => movePass(-1), "]": () => moveKernel(1), "[": () => moveKernel(-1), Home: () => go(0), End: () => go(last()), p: play,
    0: everything, " ": everything, f: focusChange, "+": () => zoom(.8), "=": () => zoom(.8), "-": () => zoom(1.25), t: toggleTheme, "?": () => $("keys").showModal()};
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open || e.target.tagName === "SELECT") return;
    if (e.target.tagName === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
    const action = actions[e.key] || actions[e.key.toLowerCase()], tabs = document.querySelectorAll(".tabs button");
    if (!action && e.key >= "1" && e.key <= "9" && tabs[e.key - 1]) { tabs[e.key - 1].click(); return; }
    if (!action) return;
    e.preventDefault();
    action();
  });
  $("slider").oninput = e => go(Number(e.target.value));
  $("previous").onclick = () => forward(-1); $("next").onclick = () => forward(1); $("play").onclick = play;
  $("fit").onclick = everything; $("focus").onclick = focusChange; $("smaller").onclick = () => zoom(1.25); $("larger").onclick = () => zoom(.8);
  $("theme").onclick = toggleTheme; $("help").onclick = () => $("keys").showModal();
  $("kernel").onchange = e => { chooseScope(data.scopes[e.target.value]); e.target.blur(); };
  $("canvas").addEventListener("wheel", e => {
    e.preventDefault();
    const r = $("canvas").getBoundingClientRect();
    zoom(e.deltaY > 0 ? 1.15 : 1 / 1.15, [(e.clientX - r.x) / r.width, (e.clientY - r.y) / r.height]);
  }, {passive: false});
  $("canvas").onpointerdown = e => {
    if (!pass.pictures) return;
    const from = {x: e.clientX, y: e.clientY, vx: view.x, vy: view.y}, r = $("canvas").getBoundingClientRect();
    $("canvas").setPointerCapture(e.pointerId); $("canvas").classList.add("dragged");
    $("canvas").onpointermove = m => { autoView = false; view.x = from.vx - (m.clientX - from.x) * view.w / r.width; view.y = from.vy - (m.clientY - from.y) * view.h / r.height; setView(); };
    $("canvas").onpointerup = () => { $("canvas").onpointermove = null; $("canvas").classList.remove("dragged"); };
  };
  addEventListener("resize", () => { if (autoView) fit(); else view.h = view.w / canvasShape(); setView(); });
  addEventListener("hashchange", () => follow(location.hash.slice(1)));
  document.querySelector("#keys table").append(...keys.map(([k, what]) => make("tr", {}, make("td", {}, make("kbd", {}, k)), make("td", {}, what))));
  data.scopes.forEach((s, i) => $("kernel").append(make("option", {value: i}, `${s.id}  ${s.name}  (${s.kind}${s.script ? ", " + s.script.replace(/^.*\//, "") : ""})`)));
  if (data.limits.length) { $("limits").hidden = false; $("limits").append(make("details", {}, make("summary", {}, `Not everything that was recorded is in this file (${data.limits.length})`), ...data.limits.map(l => make("p", {class: "dim"}, l)))); }
  document.documentElement.classList.add(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  if (hasLesson) tab = "Lesson";
  if (!(location.hash.length > 1 && follow(decodeURIComponent(location.hash.slice(1)))))
    follow(data.opening) || chooseScope(data.scopes[0]);
})();
