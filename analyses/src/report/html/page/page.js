// The page: sections of what there is, the list of them, the theme, the keys, and print.

const THEMES = ["auto", "light", "dark"];
/** Listings that stand open from the start. */
const OPEN = 1;

/** A section of one report: what says most first, then figures, then the rest of the tables. */
function section(report, id) {
  const part = R.el("section", { id, "aria-labelledby": `${id}-title` });
  part.append(R.el("h2", { id: `${id}-title`, tabindex: -1 }, report.title, R.el("code.name", null, report.analysis)));
  if (report.about) part.append(R.el("p.about", null, report.about.charAt(0).toUpperCase() + report.about.slice(1) + "."));
  for (const line of report.headlines) part.append(R.el("p.headline", null, line));
  for (const failure of report.failures) part.append(R.el("p.failure", { role: "alert" }, R.el("strong", null, "Check failed: "), failure));
  // (a table that a tree tells as well, by its name, is left to it)
  const [first, ...rest] = report.tables.filter((t) => !report.trees.some((tree) => tree.name === t.name));
  if (first) part.append(R.table(first, report));
  const grid = (what) => what.length && part.append(R.el(what.length > 1 ? "div.grid" : "div", null, what));
  // (several narrow ones stand side by side)
  const narrow = (figure) => figure.size[0] < 800;
  part.append(...report.figures.filter((f) => !narrow(f)).map(R.chart));
  grid(report.figures.filter(narrow).map(R.chart));
  part.append(...report.timelines.map(R.timeline));
  grid(report.images.map(R.image));
  grid(report.pictures.map(R.picture));
  part.append(...report.trees.map(R.tree));
  part.append(...rest.map((t) => R.table(t, report)));
  part.append(...report.listings.map((l, n) => R.listing(l, n < OPEN, R.things.listing(id, n))));
  if (!first && !report.figures.length && !report.images.length && !report.pictures.length && !report.listings.length) part.append(R.el("p.empty", null, "There is nothing to show: the answer is empty."));
  if (report.notes.length) part.append(R.el("div.notes", null, R.el("h3", null, "To read the numbers rightly"), R.el("ul", null, report.notes.map((n) => R.el("li", null, n)))));
  return part;
}

function overview(data, places) {
  const part = R.el("section", { id: "overview", "aria-labelledby": "overview-title" });
  part.append(R.el("h1", { id: "overview-title", tabindex: -1 }, data.title));
  const failures = data.reports.flatMap((r, n) => r.failures.map((f) => [n, f]));
  part.append(R.el("p.lead", null, `${data.reports.length} analyses of ${data.inputs.map((i) => `${i.name} (${i.kind})`).join(", ")}; made by ${data.program}.`));
  const frame = data.reports.find((r) => r.pictures.length);
  if (frame) part.append(R.picture(frame.pictures[0]));
  if (failures.length) part.append(R.el("div.failure", { role: "alert" }, R.el("strong", null, `${failures.length} ${failures.length > 1 ? "checks" : "check"} failed.`), R.el("ul", null, failures.map(([n, f]) => R.el("li", null, R.el("a", { href: `#${places[n]}` }, data.reports[n].title), `: ${f}`)))));
  data.inputs.forEach((input, k) => {
    const here = data.reports.map((r, n) => [r, n]).filter(([r]) => r.input === k);
    if (!here.length) return;
    if (data.inputs.length > 1) part.append(R.el("h3.input", null, input.name, R.el("code.name", null, input.kind)));
    part.append(R.el("div.cards", null, here.map(([r, n]) => R.el("a.card", { href: `#${places[n]}` }, R.el("h3", null, r.title), ...r.headlines.map((line) => R.el("p.headline", null, line))))));
  });
  return part;
}

/** What ran where, and what measuring it cost. */
function environment(data) {
  const part = R.el("section", { id: "environment", "aria-labelledby": "environment-title" });
  part.append(R.el("h2", { id: "environment-title", tabindex: -1 }, "Environment and cost of measuring"));
  data.inputs.forEach((input, k) => {
    part.append(R.el("h3", null, input.name, R.el("code.name", null, input.kind)));
    if (input.facts.length) part.append(R.el("div.scroll", { tabindex: 0, role: "region", "aria-label": `Facts about ${input.name}` }, R.el("table.facts", null, R.el("tbody", null, input.facts.map(([name, value]) => R.el("tr", null, R.el("th.text", { scope: "row" }, name), R.el("td.text", null, value)))))));
    if (input.notes.length) part.append(R.el("ul.notes", null, input.notes.map((n) => R.el("li", null, n))));
    const costs = new Map();
    for (const r of data.reports.filter((r) => r.input === k)) {
      const words = cost(r.cost);
      costs.set(words, [...(costs.get(words) || []), r.title]);
    }
    if (costs.size) part.append(R.el("ul.notes", null, [...costs].map(([words, titles]) => R.el("li", null, R.el("strong", null, words), R.el("span.soft", null, ` (${titles.join(", ")})`)))));
  });
  return part;
}

function cost(c) {
  if (c.of) {
    const more = c.without > 0 ? ` (${((c.with / c.without - 1) * 100).toFixed(2)} % more)` : "";
    return `Cost of measuring: ${c.of}: ${c.without.toFixed(3)} ms without, ${c.with.toFixed(3)} ms with${more}`;
  }
  return c.none ? `Cost of measuring: none, ${c.none}` : `Cost of measuring: not known, ${c.unknown}`;
}

function navigation(data, places) {
  const list = (items) => R.el("ol", null, items.map(([id, words]) => R.el("li", null, R.el("a", { href: `#${id}` }, words))));
  const groups = data.inputs.map((input, k) => {
    const here = data.reports.map((r, n) => [places[n], r.title, r.input]).filter((r) => r[2] === k);
    if (!here.length) return null;
    return [data.inputs.length > 1 ? R.el("h3", { title: input.name }, input.name) : null, list(here)];
  });
  const theme = R.el("button", { type: "button", id: "theme", onclick: nextTheme }, "Theme");
  const help = R.el("button", { type: "button", onclick: showHelp }, "Keys");
  const inner = R.el("details", { open: matchMedia("(min-width: 1000px)").matches }, R.el("summary", null, "Sections"),
    list([["overview", "Overview"]]), groups, list([["environment", "Environment and cost"]]));
  document.getElementById("nav").replaceChildren(R.el("div.brand", null, "reray-replay"), inner, R.el("div.tools", null, theme, help));
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  const button = document.getElementById("theme");
  if (button) button.textContent = `Theme: ${name}`;
  R.redraw();
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

const KEYS = [["j", "next section"], ["k", "section before"], ["g", "overview"], ["e", "environment"], ["h", "in a text: the next hottest line"], ["t", "other theme"], ["p", "print"], ["?", "this list"],
  ["arrow keys", "in a chart: next value; in a map: next pixel; in a tree: next row, open, close"], ["+ − 0", "in a timeline: zoom in, zoom out, all"]];

function showHelp() {
  const box = document.getElementById("help");
  box.replaceChildren(R.el("h2", { id: "help-title" }, "Keys"), R.el("dl.keys", null, KEYS.flatMap(([key, what]) => [R.el("dt", null, key), R.el("dd", null, what)])),
    R.el("form", { method: "dialog" }, R.el("button", null, "Close")));
  if (!box.open) box.showModal();
}

/** To the section so many further on; its heading has the focus then. */
function go(step) {
  const parts = [...document.querySelectorAll("main > section")];
  const above = parts.findLastIndex((p) => p.getBoundingClientRect().top < 80);
  to(parts[Math.max(0, Math.min(parts.length - 1, Math.max(above, 0) + step))]);
}

function to(part) {
  if (!part) return;
  history.replaceState(null, "", `#${part.id}`);
  part.scrollIntoView({ block: "start" });
  part.querySelector("h1, h2").focus({ preventScroll: true });
  current();
}

/** To what the address names: a section, a text, or a thing. */
function route() {
  const name = R.address();
  if (R.things.show(name)) return;
  const found = document.getElementById(name);
  if (found && found.matches("details.listing")) R.openListing(name);
  else if (found && found.matches("main > section")) to(found);
}

/** Marks the section that is read in the list. */
function current() {
  const parts = [...document.querySelectorAll("main > section")];
  const here = parts.findLast((p) => p.getBoundingClientRect().top < 120) || parts[0];
  document.querySelectorAll("#nav a").forEach((a) => a.toggleAttribute("aria-current", here && a.hash === `#${here.id}`));
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const does = { j: () => go(1), k: () => go(-1), g: () => to(document.getElementById("overview")), e: () => to(document.getElementById("environment")), h: R.hotter, t: nextTheme, p: () => print(), "?": showHelp }[event.key];
  if (!does || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  does();
}

/** All is drawn, light, and as wide as the paper. */
function beforePrint() {
  R.printing = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  R.drawAll();
  R.redraw();
}

function afterPrint() {
  document.documentElement.dataset.theme = R.printing || "auto";
  R.printing = null;
  R.redraw();
}

async function start() {
  const main = document.getElementById("main");
  try {
    const data = await R.unpack(document.getElementById("data").textContent);
    document.getElementById("data").remove();
    const taken = new Set(["overview", "environment", "main", "nav", "help", "said", "theme"]);
    const places = data.reports.map((r) => {
      let id = R.slug(r.analysis);
      for (let n = 2; taken.has(id); n++) id = `${R.slug(r.analysis)}-${n}`;
      taken.add(id);
      return id;
    });
    R.things.start(data, places);
    navigation(data, places);
    setTheme("auto");
    main.replaceChildren(overview(data, places));
    let last = -1;
    data.reports.forEach((r, n) => {
      if (data.inputs.length > 1 && r.input !== last) main.append(R.el("p.input-head", null, data.inputs[r.input].name, R.el("code.name", null, data.inputs[r.input].kind)));
      last = r.input;
      main.append(section(r, places[n]));
    });
    main.append(environment(data));
    if (location.hash) route();
    current();
    main.dataset.ready = "yes";
  } catch (error) {
    main.replaceChildren(R.el("p.failure", { role: "alert" }, `The page's data cannot be read: ${error.message}. It wants a browser of 2023 or later.`));
    throw error;
  }
}

addEventListener("keydown", keys);
addEventListener("hashchange", route);
// (a link to what the address names already goes there again)
addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.hash === location.hash) route();
});
// (the same link opens it again)
document.getElementById("thing").addEventListener("close", () => R.things.forget());
addEventListener("scroll", () => requestAnimationFrame(current), { passive: true });
addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => R.redraw());
start();
