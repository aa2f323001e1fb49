// Tables that are sorted, searched and saved; and trees, which are tables whose rows lie within each other.

/** Rows that show at first. */
const FIRST = 16;

const decoded = new WeakMap();

/** A column as its cells need it to be shown: their values, digits, and whether they are drawn as shares. */
R.column = function (packed) {
  if (!decoded.has(packed)) decoded.set(packed, decode(packed));
  return decoded.get(packed);
};

function decode(c) {
  const values = R.array(c.cells);
  const words = R.isWords(c.cells);
  const shares = c.unit === "%" && !words && Array.from(values).every((v) => !Number.isFinite(v) || (v >= 0 && v <= 100.0001));
  // (some answers write numbers as words, with the digits that they mean)
  const numeric = words && values.every((v) => v === null || /^[-−+]?[\d.]+(e[-+]?\d+)?$/.test(v));
  return { ...c, values, words, numeric, shares, shown: R.digitsOf(words ? values.filter((v) => typeof v === "number") : values, c) };
}

/** A cell. Its title is the value as it is; what in it names a thing is a link to that. */
R.cell = function (column, row, things = []) {
  const value = column.values[row];
  const text = typeof value === "string";
  const linked = things.length ? R.things.linked(text ? value : R.number(value, column.shown), things) : null;
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return R.el(column.words && !column.numeric ? "td.none" : "td.none.number", { "aria-label": "no value" }, "–");
  if (column.numeric) return R.el("td.number", { title: R.raw(value, column) }, value);
  if (text) return R.el(value.length > 42 ? "td.text.long" : value.length < 24 ? "td.text.brief" : "td.text.medium", { title: value.length > 20 ? value : null }, ...(linked || breakable(value)));
  const bar = column.shares ? { style: `--share:${Math.min(100, value).toFixed(2)}%` } : {};
  return R.el(column.shares ? "td.number.share" : "td.number", { title: R.raw(value, column), ...bar }, ...(linked || [R.number(value, column.shown)]));
};

/** Long names may break where they have joints. */
function breakable(text) {
  if (text.length < 24) return [text];
  return text.split(/(?<=[/_:.,)>-])/).flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part]));
}

function heading(column, content) {
  const unit = column.unit && column.unit !== "text" && column.unit !== column.name ? R.el("span.unit", null, column.unit) : null;
  return [content || column.name || " ", unit];
}

/** What the columns of a table say, for print and for those who do not hover. */
function meanings(columns) {
  const told = columns.filter((c) => c.about);
  return told.length ? R.el("details.meanings", null, R.el("summary", null, "What the columns say"), R.el("dl", null, told.map((c) => [R.el("dt", null, R.named(c)), R.el("dd", null, c.about)]))) : null;
}

/** A table of a report. */
R.table = function (table, report) {
  const columns = table.columns.map(R.column);
  const order = Array.from({ length: table.rows }, (_, n) => n);
  const state = { sorted: -1, down: false, all: table.rows <= FIRST + 4, wanted: "" };
  const body = R.el("tbody");
  const count = R.el("span.soft", { "aria-live": "polite" });
  const more = R.el("button.more", { type: "button" });
  const matches = (row) => !state.wanted || columns.some((c) => String(c.values[row] ?? "").toLowerCase().includes(state.wanted));
  const fill = () => {
    const found = order.filter(matches);
    const some = state.all ? found : found.slice(0, FIRST);
    body.replaceChildren(...some.map((row) => R.el("tr", null, columns.map((c, n) => R.cell(c, row, c.thing ? R.things.ofRow(columns, n, row, R.things.frame(report)) : [])))));
    if (!some.length) body.append(R.el("tr", null, R.el("td.none", { colspan: columns.length }, "No row has these words.")));
    count.textContent = state.wanted ? `${found.length} of ${table.rows} rows` : `${table.rows} ${table.rows === 1 ? "row" : "rows"}`;
    more.hidden = found.length <= FIRST + (state.all && !state.wanted ? 4 : 0);
    more.textContent = state.all ? "Show fewer" : `Show all ${found.length} rows`;
  };
  const heads = columns.map((c, n) => {
    const sort = R.el("button.sort", { type: "button", onclick: () => sortBy(n) }, ...heading(c));
    return R.el(c.words && !c.numeric ? "th.text" : "th.number", { scope: "col", title: c.about || null }, sort);
  });
  const sortBy = (n) => {
    // (numbers first downwards, words first upwards; a third time gives the report's own order)
    const first = !columns[n].words || columns[n].numeric;
    if (state.sorted !== n) Object.assign(state, { sorted: n, down: first });
    else if (state.down === first) state.down = !first;
    else state.sorted = -1;
    const { values, words, numeric } = columns[n];
    const none = (v) => v === null || (typeof v === "number" && !Number.isFinite(v));
    order.sort((a, b) => {
      if (state.sorted < 0) return a - b;
      const [x, y] = [values[a], values[b]];
      if (none(x) || none(y)) return none(x) - none(y) || a - b;
      const by = words && !numeric ? String(x).localeCompare(String(y), "en", { numeric: true }) : x - y;
      return (state.down ? -by : by) || a - b;
    });
    heads.forEach((head, k) => {
      if (k === state.sorted) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    fill();
  };
  more.addEventListener("click", () => {
    state.all = !state.all;
    fill();
  });
  const search = table.rows > FIRST
    ? R.el("input", { type: "search", placeholder: "Filter rows", "aria-label": `Filter rows of ${R.words(table.name)}`, oninput: (e) => ((state.wanted = e.target.value.trim().toLowerCase()), fill()) })
    : null;
  const save = R.el("button", { type: "button", onclick: () => R.save(`${report.analysis}.${table.name}.csv`, csv(columns, table.rows), "text/csv") }, "CSV");
  fill();
  const title = R.words(table.name);
  return R.el("figure.table", null,
    R.el("figcaption", null, title, R.el("span.tools", null, search, count, save)),
    R.el("div.scroll", { tabindex: 0, role: "region", "aria-label": title },
      R.el("table", null, R.el("thead", null, R.el("tr", null, heads)), body)),
    more, meanings(columns));
};

/** RFC 4180, as the program writes it. */
function csv(columns, rows) {
  const field = (v) => {
    const text = v === null || (typeof v === "number" && !Number.isFinite(v)) ? "" : String(v);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [columns.map((c) => field(R.named(c)))];
  for (let row = 0; row < rows; row++) lines.push(columns.map((c) => field(c.values[row])));
  return lines.map((line) => line.join(",") + "\n").join("");
}

/** A tree: its rows open and close, by click and by arrow keys. */
R.tree = function (tree) {
  const columns = tree.columns.map(R.column);
  const depths = R.array(tree.depths);
  const names = R.array(tree.names);
  const isParent = (n) => n + 1 < depths.length && depths[n + 1] > depths[n];
  // (a tree of a screen is open, of a larger one what lies deep is not)
  const open = Array.from(depths, (d) => depths.length < 40 || d < 2);
  const body = R.el("tbody");
  const rows = Array.from(depths, (depth, n) => {
    const sign = isParent(n) ? R.el("span.twist", { "aria-hidden": "true" }) : R.el("span.twist.leaf", { "aria-hidden": "true" });
    const row = R.el("tr", { role: "row", tabindex: n ? -1 : 0, "aria-level": depth + 1 },
      R.el("th.text.node", { scope: "row", style: `--depth:${depth}` }, sign, R.el("span", { title: names[n] }, ...breakable(names[n]))), columns.map((c) => R.cell(c, n)));
    row.addEventListener("click", () => isParent(n) && turn(n, !open[n]));
    return row;
  });
  const show = () => {
    let hidden = Infinity;
    rows.forEach((row, n) => {
      if (depths[n] <= hidden) hidden = Infinity;
      row.hidden = hidden < Infinity;
      if (hidden === Infinity && isParent(n) && !open[n]) hidden = depths[n];
      if (isParent(n)) row.setAttribute("aria-expanded", String(open[n]));
    });
  };
  const turn = (n, to) => {
    open[n] = to;
    show();
  };
  body.addEventListener("keydown", (event) => {
    const n = rows.indexOf(event.target);
    if (n < 0) return;
    const next = (step) => {
      let at = n + step;
      while (rows[at] && rows[at].hidden) at += step;
      return at;
    };
    const does = {
      ArrowDown: () => focus(next(1)), ArrowUp: () => focus(next(-1)), Home: () => focus(0),
      ArrowRight: () => (isParent(n) && !open[n] ? turn(n, true) : focus(next(1))),
      ArrowLeft: () => (isParent(n) && open[n] ? turn(n, false) : focus(next(-1))),
      Enter: () => isParent(n) && turn(n, !open[n]),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  const focus = (n) => {
    if (!rows[n]) return;
    rows.forEach((row, k) => (row.tabIndex = k === n ? 0 : -1));
    rows[n].focus();
  };
  body.append(...rows);
  show();
  const all = (to) => {
    open.fill(to);
    open[0] = true;
    show();
  };
  return R.el("figure.table", null,
    R.el("figcaption", null, tree.title, R.el("span.tools", null,
      R.el("button", { type: "button", onclick: () => all(true) }, "Open all"), R.el("button", { type: "button", onclick: () => all(false) }, "Close all"))),
    R.el("div.scroll", null, R.el("table", { role: "treegrid", "aria-label": tree.title },
      R.el("thead", null, R.el("tr", null, R.el("th.text", { scope: "col" }, "name"), columns.map((c) => R.el("th.number", { scope: "col" }, ...heading(c))))), body)));
};
