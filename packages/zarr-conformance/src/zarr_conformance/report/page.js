"use strict";
// Builds the page of the data in it.  Whatever the data say becomes text, never markup.

const LEVELS = ["must", "should", "may"];
const SIGNS = { pass: "✓", part: "✓", fail: "✗", crash: "‼", known: "≈", unsupported: "–", none: "·" };
const WORDS = {
  pass: "passes", part: "passes, some cases are not supported", fail: "fails", crash: "crashes",
  known: "known failure", unsupported: "not supported", none: "not run",
};
const OUTCOMES = {
  accept: "It must succeed.", reject: "It must raise an error.",
  either: "It may raise an error; otherwise the result must be correct.",
};
const at = (id) => document.getElementById(id);

function make(tag, members = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(members)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((it) => it != null && it !== false));
  return element;
}

async function unpacked() {
  const bytes = Uint8Array.from(atob(at("data").textContent), (it) => it.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

let data;
const rows = []; // {clause, specification, row, states, cells, words}
let shown = null; // what the drawer shows: {entry, run}

function gradeOf(result) {
  if (result == null) return "none";
  if (result === 1) return "pass";
  return result.known && result.grade !== "pass" ? "known" : result.grade;
}

function stateOf(clause, run) {
  const counts = { pass: 0, fail: 0, crash: 0, known: 0, unsupported: 0, none: 0 };
  for (const number of clause.cases) counts[gradeOf(run.results[number])] += 1;
  const total = clause.cases.length - counts.none;
  const wrong = counts.fail + counts.crash + counts.known;
  let kind = ["crash", "fail", "known"].find((it) => counts[it]);
  kind ??= counts.pass ? (counts.unsupported ? "part" : "pass") : counts.unsupported ? "unsupported" : "none";
  const ratio = wrong ? `${wrong}/${total}` : counts.pass || counts.unsupported || "";
  return { kind, counts, total, label: total ? `${SIGNS[kind]} ${ratio}` : SIGNS.none };
}

// --- what stands above the matrix ---

function cards() {
  for (const run of data.runs) {
    const part = (name, count) => make("i", { class: name, style: null, "data-share": count });
    const grades = run.grades;
    const bar = make("div", { class: "bar" });
    const shares = [
      ["pass", grades.pass || 0], ["known", run.known],
      ["fail", (grades.fail || 0) + (grades.crash || 0) - run.known], ["unsupported", grades.unsupported || 0],
    ];
    for (const [name, count] of shares) {
      const piece = part(name, count);
      piece.style.flex = `${count} 0 0`;
      if (count) bar.append(piece);
    }
    const failures = Object.entries(run.failures).map(([kind, count]) => `${kind}: ${count}`);
    const line = make("p");
    if (run.acceptsNothing) line.append(make("b", {}, "accepts no valid data"), " · ");
    line.append(failures.length ? make("b", {}, failures.join(", ")) : "no case fails");
    if (run.violated) line.append(` · ${run.violated}`);
    if (run.known) line.append(` · ${run.known} known`);
    at("implementations").append(make("article", { class: "card" },
      make("h2", {}, run.name, " ", make("span", {}, run.version)),
      make("div", { class: "percent" }, `${run.passed} `, make("small", {}, `passed of ${run.judged} judged of ${run.total} cases, ${run.percent} % of those judged`)),
      bar, line));
  }
  at("summary").className = "script";
}

function covered() {
  const head = ["", "clauses", "tested", "with a positive case", "that require errors", "with a negative case", "complete"];
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head.map((it) => make("th", { scope: "col" }, it)))));
  const sums = head.slice(1).map(() => 0);
  const add = (name, numbers) => table.append(make("tr", {}, make("th", { scope: "row" }, name), ...numbers.map((it) => make("td", {}, String(it)))));
  for (const text of data.specifications) {
    const tested = text.clauses.filter((it) => !it.untested);
    const refusing = tested.filter((it) => it.negative);
    const numbers = [
      text.clauses.length, tested.length, tested.filter((it) => !it.gaps.includes("positive")).length,
      refusing.length, refusing.filter((it) => it.counts[1]).length, tested.filter((it) => !it.gaps.length).length,
    ];
    numbers.forEach((it, n) => { sums[n] += it; });
    add(text.title, numbers);
  }
  add("together", sums);
  at("covered").append(table);
}

function chip(box, name, changed) {
  const input = make("input", { type: "checkbox", checked: true, value: name, onchange: changed });
  box.append(make("label", { class: "chip" }, input, make("span", {}, name)));
  return input;
}

// --- the matrix ---

function matrix() {
  const table = at("matrix");
  table.append(make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "clause"),
    ...data.runs.map((run) => make("th", { scope: "col" }, run.name, make("small", {}, run.version))))));
  for (const text of data.specifications) {
    const body = make("tbody");
    const head = make("tr", { class: "spec" }, make("th", { scope: "rowgroup" },
      make("a", { href: /^https?:/.test(text.url) ? text.url : null, rel: "noreferrer" }, text.title)));
    const mine = new Set(text.clauses.flatMap((it) => it.cases));
    for (const run of data.runs) {
      const grades = [...mine].map((it) => gradeOf(run.results[it])).filter((it) => it !== "none" && it !== "unsupported");
      const passed = grades.filter((it) => it === "pass").length;
      head.append(make("td", {}, grades.length ? `${Math.floor(100 * passed / grades.length)} %` : "–"));
    }
    body.append(head);
    let section = null;
    for (const clause of text.clauses) {
      if (section === null || section.title !== clause.section) {
        section = { title: clause.section, row: make("tr", { class: "section" }, make("th", { colspan: data.runs.length + 1, scope: "rowgroup" }, clause.section)) };
        body.append(section.row);
      }
      body.append(clauseRow(text, clause, section.row, head));
    }
    table.append(body);
  }
}

function clauseRow(text, clause, section, head) {
  const note = clause.untested ? `not tested: ${clause.untested}` : clause.gaps.length ? `no ${clause.gaps.join(", no ")} case yet` : null;
  const row = make("tr", { class: clause.untested ? "clause untested" : "clause", "data-clause": clause.id }, make("th", { scope: "row" },
    make("div", { class: "what" }, make("span", { class: `level ${clause.strength}` }, clause.level), make("span", {}, clause.text),
      make("span", { class: "id" }, clause.id, note && make("span", { class: "gap" }, ` · ${note}`)))));
  const entry = { clause, text, row, section, head, cells: [], states: [] };
  entry.words = [clause.id, clause.text, clause.section, ...clause.cases.flatMap((it) => [data.cases[it].id, data.cases[it].summary])].join("\n").toLowerCase();
  data.runs.forEach((run, n) => {
    const state = stateOf(clause, run);
    const cell = make("td", {}, make("button", {
      type: "button", class: `cell ${state.kind}`, "data-run": n, "data-name": run.name, tabindex: -1,
      "aria-label": `${run.name}: ${WORDS[state.kind]}, ${state.total} cases`, onclick: () => open(entry, n),
    }, state.label));
    entry.cells.push(cell);
    entry.states.push(state);
    row.append(cell);
  });
  rows.push(entry);
  return row;
}

// --- filters ---

const levelBoxes = {};
const columnBoxes = [];

function filter() {
  const which = at("which").value;
  const name = at("specification").value;
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const columns = columnBoxes.map((it) => it.checked);
  const used = new Set();
  let count = 0;
  for (const entry of rows) {
    const states = entry.states.filter((_, n) => columns[n]);
    const wrong = states.some((it) => it.kind === "fail" || it.kind === "crash");
    const kinds = new Set(states.map((it) => it.kind).filter((it) => it !== "none" && it !== "unsupported"));
    const wanted = levelBoxes[entry.clause.strength].checked && (!name || entry.text.name === name)
      && (which === "all" || (which === "failing" && wrong) || (which === "differ" && wrong && (kinds.has("pass") || kinds.has("part"))) || (which === "gaps" && entry.clause.gaps.length > 0))
      && words.every((it) => entry.words.includes(it));
    entry.row.hidden = !wanted;
    if (wanted) { count += 1; used.add(entry.section).add(entry.head); }
  }
  for (const entry of rows) {
    entry.section.hidden = !used.has(entry.section);
    entry.head.hidden = !used.has(entry.head);
  }
  for (const row of at("matrix").rows) {
    if (row.cells.length > 1) columns.forEach((it, n) => { row.cells[n + 1].hidden = !it; });
  }
  at("count").textContent = `${count} of ${rows.length} clauses`;
  at("nothing").hidden = count > 0;
  const first = cellsShown()[0];
  for (const it of document.querySelectorAll(".cell[tabindex='0']")) it.tabIndex = -1;
  if (first) first.tabIndex = 0;
  remember();
}

function reset() {
  at("which").value = "all";
  at("specification").value = "";
  at("search").value = "";
  for (const box of [...Object.values(levelBoxes), ...columnBoxes]) box.checked = true;
  filter();
}

function remember() {
  const state = new URLSearchParams();
  if (at("which").value !== "all") state.set("which", at("which").value);
  if (at("specification").value) state.set("specification", at("specification").value);
  if (at("search").value) state.set("search", at("search").value);
  const levels = LEVELS.filter((it) => levelBoxes[it].checked);
  if (levels.length < LEVELS.length) state.set("levels", levels.join(" "));
  const hidden = columnBoxes.filter((it) => !it.checked).map((it) => it.value);
  hidden.forEach((it) => state.append("without", it));
  if (shown) { state.set("clause", shown.entry.clause.id); state.set("implementation", data.runs[shown.run].name); }
  try { history.replaceState(null, "", `#${state}`); } catch { /* some places allow no history */ }
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  const choose = (box, value) => { if ([...box.options].some((it) => it.value === value)) box.value = value; };
  choose(at("which"), state.get("which") ?? "all");
  choose(at("specification"), state.get("specification") ?? "");
  at("search").value = state.get("search") ?? "";
  if (state.has("levels")) for (const it of LEVELS) levelBoxes[it].checked = state.get("levels").split(" ").includes(it);
  for (const box of columnBoxes) box.checked = !state.getAll("without").includes(box.value);
  const entry = rows.find((it) => it.clause.id === state.get("clause"));
  const run = data.runs.findIndex((it) => it.name === state.get("implementation"));
  filter();
  if (entry && run >= 0) open(entry, run);
  recallCase(state);
}

// A permalink: #case=<id>, with or without an implementation.
function recallCase(state) {
  const number = data.cases.findIndex((it) => it.id === state.get("case"));
  if (number < 0 || !data.runs.length) return;
  const run = data.runs.findIndex((it) => it.name === state.get("implementation"));
  const entry = rows.find((it) => it.clause.cases.includes(number));
  if (entry) open(entry, Math.max(0, run), number);
}

// --- the drawer ---

function open(entry, run, wanted = null) {
  const drawer = at("drawer");
  shown = { entry, run };
  const clause = entry.clause;
  const state = entry.states[run];
  const chosen = data.runs[run];
  const step = (title, sign, act) => make("button", { type: "button", title, "aria-label": title, onclick: act }, sign);
  const cases = clause.cases.filter((it) => chosen.results[it] != null || it === wanted);
  const order = ["crash", "fail", "known", "unsupported", "pass"];
  cases.sort((a, b) => order.indexOf(gradeOf(chosen.results[a])) - order.indexOf(gradeOf(chosen.results[b])));
  const wrong = state.counts.fail + state.counts.crash + state.counts.known;
  drawer.replaceChildren(
    make("div", { class: "top" },
      make("nav", {}, step("previous failure (p)", "↑", () => next(-1)), step("next failure (n)", "↓", () => next(1)), step("close", "✕", () => drawer.close())),
      make("h2", { id: "drawer-title", tabindex: -1, autofocus: true }, make("span", { class: `level ${clause.strength}` }, clause.level), clause.text),
      make("p", {}, make("span", { class: "id" }, clause.id), ` · ${entry.text.title}, `,
        make("a", { href: /^https:/.test(clause.link) ? clause.link : null, rel: "noreferrer" }, `“${clause.section}”`),
        clause.negative ? (clause.binds ? " · requires readers to raise an error" : " · defines valid data") : ""),
      make("p", {}, make("b", {}, `${chosen.name} ${chosen.version}: `), wrong ? `${wrong} of ${cases.length} cases ${wrong > 1 ? "fail" : "fails"}` : `${state.counts.pass} of ${cases.length} cases pass`, state.counts.unsupported ? `, ${state.counts.unsupported} not supported` : "")),
    make("div", { class: "cases" }, ...cases.map((it, n) => caseView(it, run, wanted === null ? n === 0 && (wrong > 0 || cases.length === 1) : it === wanted)),
      cases.length === 0 && make("p", {}, clause.cases.length ? "No case of this clause was run." : "This clause has no cases.")));
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
  if (wanted !== null) drawer.querySelector("details.case[open]")?.scrollIntoView();
  remember();
}

function caseView(number, run, opened) {
  const details = data.cases[number];
  const grade = gradeOf(data.runs[run].results[number]);
  const view = make("details", { class: "case", open: opened, "data-case": details.id }, make("summary", {},
    make("b", { class: grade, title: WORDS[grade] }, SIGNS[grade]), make("span", { class: "id" }, details.id), make("span", { class: "description" }, details.summary),
    make("a", { class: "permalink", title: "permalink", "aria-label": `permalink of ${details.id}`, href: `#case=${details.id}&implementation=${encodeURIComponent(data.runs[run].name)}` }, "#")));
  const fill = () => { if (view.open && !view.querySelector(".body")) view.append(caseBody(number, run)); };
  view.addEventListener("toggle", fill);
  fill();
  return view;
}

const block = (title, ...children) => make("div", {}, make("h3", {}, title), ...children);
const named = (name, text) => [make("h4", { class: "id" }, name), make("pre", {}, text)];

// JSON as people write it: what fits into a line stands in one.
function pretty(value, space = "") {
  const line = JSON.stringify(value);
  if (value === null || typeof value !== "object" || line.length + space.length < 60) return line;
  const inner = `${space}  `;
  const parts = Array.isArray(value) ? value.map((it) => pretty(it, inner))
    : Object.entries(value).map(([name, it]) => `${JSON.stringify(name)}: ${pretty(it, inner)}`);
  const [opened, closed] = Array.isArray(value) ? "[]" : "{}";
  return `${opened}\n${inner}${parts.join(`,\n${inner}`)}\n${space}${closed}`;
}

function hex(value) {
  const groups = value.head.match(/.{1,8}/g) ?? [];
  return `${value.bytes} bytes${value.bytes ? ": " : ""}${groups.join(" ")}${value.bytes * 2 > value.head.length ? " …" : ""}`;
}

function caseBody(number, run) {
  const it = data.cases[number];
  const result = data.runs[run].results[number] ?? {};
  const seen = (result !== 1 && result.observed) || {};
  const body = make("div", { class: "body" });
  if (result.reason && result.grade !== "pass") body.append(make("p", { class: result.grade === "unsupported" || result.known ? "reason light" : "reason" }, result.reason));
  if (result.known) body.append(make("p", { class: "reason light" }, `known: ${result.known}`));
  if (result.remark) body.append(make("p", { class: "reason light" }, result.remark));

  const request = [`${it.operation} ${it.path || "the root"}`, `format ${it.zarr_format}`];
  if (it.selection) request.push(`selection ${it.selection.map((part) => part.join(":")).join(", ")}`);
  if (it.needs.length) request.push(`needs ${it.needs.join(", ")}`);
  const expected = block("expected", make("p", {}, OUTCOMES[it.outcome]));
  if (it.expect) expected.append(make("pre", {}, it.expect));
  if (it.values) expected.append(...named("elements", it.values.text ?? hex(it.values)));

  const observed = block("observed");
  if (result === 1) observed.append(make("p", {}, "As expected."));
  else if (seen.outcome) observed.append(make("p", {}, seen.outcome === "result" ? "Success." : seen.outcome === "error" ? `Error (${seen.category}).` : `Failed: ${seen.outcome}.`));
  if (seen.message) observed.append(make("pre", {}, seen.message));
  if (seen.result) observed.append(make("pre", {}, pretty(seen.result)));
  if (seen.values) observed.append(...named("elements", hex(seen.values)));
  for (const [key, value] of Object.entries(seen.documents ?? {})) observed.append(...named(key, pretty(value)));
  for (const [key, value] of Object.entries(seen.stored ?? {})) observed.append(...named(key, hex(value)));

  body.append(block("request", make("p", {}, request.join(" · ")), ...(it.document ? [make("pre", {}, it.document)] : [])), make("div", { class: "pair" }, expected, observed));
  const store = block("store");
  for (const [key, text] of Object.entries(it.texts)) store.append(...named(key, text));
  const values = Object.entries(it.stored);
  if (values.length) store.append(make("pre", {}, values.map(([key, value]) => `${key}\n  ${hex(value)}`).join("\n")));
  if (store.childElementCount === 1) store.append(make("p", {}, "empty"));
  body.append(store, block("clauses", make("p", { class: "id" }, it.clauses.join(", "))));

  const command = data.runs[run].again.replaceAll("@CASE@", it.id);
  const copy = make("button", { type: "button", class: "copy", onclick: async () => {
    try { await navigator.clipboard.writeText(command); copy.textContent = "copied"; } catch { getSelection().selectAllChildren(line); }
  } }, "copy");
  const line = make("pre", {}, command);
  body.append(block("again", make("div", { class: "again" }, line, copy)));
  body.append(block("others", make("div", { class: "who" }, ...data.runs.map((other, n) => {
    const grade = gradeOf(other.results[number]);
    return make("button", { type: "button", class: grade, "aria-current": n === run, onclick: () => open(shown.entry, n) }, `${SIGNS[grade]} ${other.name}`);
  }))));
  return body;
}

// --- keys ---

function cellsShown() {
  return [...document.querySelectorAll(".clause:not([hidden]) > td:not([hidden]) > .cell")];
}

function next(direction) {
  const cells = cellsShown();
  const wrong = cells.filter((it) => it.classList.contains("fail") || it.classList.contains("crash"));
  if (!wrong.length) return;
  const here = shown ? shown.entry.cells[shown.run].firstChild : document.activeElement;
  const place = cells.indexOf(here);
  const ahead = direction > 0 ? wrong.find((it) => cells.indexOf(it) > place) : wrong.findLast((it) => cells.indexOf(it) < place || place < 0);
  const cell = ahead ?? (direction > 0 ? wrong[0] : wrong.at(-1));
  focusCell(cell);
  if (at("drawer").open) cell.click();
}

function focusCell(cell) {
  for (const it of document.querySelectorAll(".cell[tabindex='0']")) it.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

function pressed(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target.id === "search") { event.target.value = ""; filter(); return; }
  if (typing) return;
  if (event.key === "/" && !at("drawer").open) { event.preventDefault(); at("search").focus(); return; }
  if (event.key === "n" || event.key === "p") { next(event.key === "n" ? 1 : -1); return; }
  const cell = event.target.closest?.(".cell");
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (!cell || !moves[event.key]) return;
  event.preventDefault();
  const [down, right] = moves[event.key];
  const cells = cellsShown();
  const inRow = columnBoxes.filter((it) => it.checked).length;
  const place = cells.indexOf(cell);
  const target = right ? (Math.floor((place + right) / inRow) === Math.floor(place / inRow) ? place + right : -1) : place + down * inRow;
  if (cells[target]) focusCell(cells[target]);
}

function themed() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

async function start() {
  data = await unpacked();
  const clauses = data.specifications.reduce((sum, it) => sum + it.clauses.length, 0);
  at("contents").textContent = `${data.cases.length} cases of ${clauses} clauses in ${data.specifications.length} texts · zarr-conformance ${data.harness}`;
  cards();
  covered();
  matrix();
  for (const it of LEVELS) levelBoxes[it] = chip(at("levels"), it, filter);
  for (const run of data.runs) columnBoxes.push(chip(at("columns"), run.name, filter));
  at("columns").hidden = data.runs.length < 2;
  for (const text of data.specifications) at("specification").append(make("option", { value: text.name }, text.title));
  at("which").addEventListener("change", filter);
  at("specification").addEventListener("change", filter);
  at("search").addEventListener("input", filter);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("reset").addEventListener("click", reset);
  at("theme").addEventListener("click", themed);
  at("drawer").addEventListener("close", () => {
    const cell = shown?.entry.cells[shown.run].firstChild;
    shown = null;
    if (cell) focusCell(cell);
    remember();
  });
  at("drawer").addEventListener("click", (event) => { if (event.target === at("drawer")) at("drawer").close(); });
  document.addEventListener("keydown", pressed);
  addEventListener("hashchange", () => recallCase(new URLSearchParams(location.hash.slice(1))));
  new ResizeObserver(([it]) => document.documentElement.style.setProperty("--top", `${it.target.offsetHeight}px`)).observe(at("filters"));
  recall();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  at("trouble").textContent = `The report cannot be shown: ${error}`;
  at("trouble").hidden = false;
});
