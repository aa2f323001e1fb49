// Things that several answers name: draws, passes, pipelines, shaders, blocks, source lines. Each name leads to all that is said of it.

/** What each kind that has no frame is called. */
const CALLED = { pipeline: "Pipeline", shader: "Shader" };
/** Rows of a table that are shown of a thing; and of one whose rows are what is said of it. */
const SHOWN = 6;
const OF_IT = 200;
/** Tables on pipelines and passes that say what their draws are drawn with. */
const OF_DRAWS = ["state", "attachments"];
/** Rows above which a table is not looked through. */
const LOOKED = 20000;

R.things = { rows: new Map(), texts: new Map(), pipelines: new Map(), pictures: new Map(), data: null, shown: null };

/** Shaders in words, by the first digits of their hashes; alone, or behind their stages. */
function shaders(text, column) {
  const pattern = column.thing === "shader" ? /(?:^|[ :(])([0-9a-f]{8})(?=[0-9a-f]*(?:$|[ ,)]))/g : /[a-z,(] ?([0-9a-f]{8})(?=[,)]| \+)/g;
  return [...text.matchAll(pattern)].map((m) => ({ at: m.index + m[0].length - 8, length: 8, key: `shader:${m[1]}` }));
}

/** What the cell of a column names: the keys of things, each with the part of the text that does. `beside` gives a value of the same row. */
R.things.named = function (column, value, beside, frame) {
  const text = String(value);
  const all = (key) => [{ at: 0, length: Infinity, key }];
  const of = beside("frame") ?? frame;
  if (value === null || value === undefined || text === "" || value === 0) return [];
  switch (column.thing) {
    case "draw":
    case "pass": {
      const [, kind, number] = /^(?:(draw|pass) )?(\d+)$/.exec(text) || [];
      return number && Number.isFinite(of) ? all(`${kind || column.thing}:${of}:${number}`) : [];
    }
    case "pipeline": {
      const [name, id, quoted] = /^(?:pipeline |shader object )?(?:(\d+)(?=$| [("])|"(.*?)"(?=$| \())/.exec(text) || [];
      // (a name may stand there as it is, with its shaders behind it)
      const plain = text.replace(/ \(.*\)$/, "");
      const number = id || R.things.pipelines.get(quoted ?? plain);
      return [...(number ? [{ at: 0, length: (name || plain).length, key: `pipeline:${number}` }] : []), ...shaders(text, column)];
    }
    case "shader":
      return shaders(text, column);
    case "block":
    case "line": {
      const shader = beside("shader");
      return typeof shader === "string" && shader.length >= 8 && (column.thing === "line" ? /:\d+$/ : /^%\d+$/).test(text) ? all(`${column.thing}:${shader.slice(0, 8)}:${text}`) : [];
    }
    default:
      return [];
  }
};

/** The same for a row of a table. */
R.things.ofRow = function (columns, n, row, frame) {
  const beside = (thing) => columns.find((c) => c.thing === thing)?.values[row];
  return R.things.named(columns[n], columns[n].values[row], beside, frame);
};

/** The thing that a span of a timeline is of, where the page has something to say of it. */
R.things.ofSpan = function (name, frame) {
  const [, kind, number] = /^(draw|pass) (\d+) /.exec(name) || [];
  const key = kind ? `${kind}:${frame}:${number}` : shaders(name, { thing: "shader" })[0]?.key;
  return key && R.things.has(key) ? key : null;
};

/** The frame that reports of this input are of, if they are of one. */
R.things.frame = (report) => R.things.data.inputs[report.input].frame ?? undefined;

function put(map, key, value) {
  if (map.has(key)) map.get(key).push(value);
  else map.set(key, [value]);
}

/** Looks through everything that the page has; `places` are the reports' sections. */
R.things.start = function (data, places) {
  R.things.data = data;
  const looked = (table) => table.rows <= LOOKED && table.columns.some((c) => c.thing && c.thing !== "frame");
  const some = data.reports.flatMap((report, n) => report.tables.filter(looked).map((table) => ({ report, place: places[n], table, columns: table.columns.map(R.column) })));
  // (a pipeline may be called by its name alone)
  for (const { columns } of some) {
    for (const c of columns.filter((c) => c.thing === "pipeline" && c.words)) {
      for (const value of c.values) {
        const [, id, name] = /^(?:pipeline|shader object) (\d+) "(.*?)"(?=$| \()/.exec(value || "") || [];
        // (of several of one name none is meant)
        if (name) R.things.pipelines.set(name, [undefined, id].includes(R.things.pipelines.get(name)) ? id : null);
      }
    }
  }
  for (const of of some) {
    const told = of.columns.flatMap((c, n) => (c.thing && c.thing !== "frame" ? [n] : []));
    if (!told.length) continue;
    for (let row = 0; row < of.table.rows; row++) {
      const keys = new Set(told.flatMap((n) => R.things.ofRow(of.columns, n, row, R.things.frame(of.report))).map((t) => t.key));
      for (const key of keys) {
        if (!/^(block|line):/.test(key)) put(R.things.rows, key, { of, row });
      }
    }
  }
  for (const report of data.reports) {
    for (const picture of report.pictures.filter((p) => p.pass)) {
      const key = `pass:${R.things.frame(report)}:${picture.pass}`;
      put(R.things.pictures, key, picture);
    }
  }
  data.reports.forEach((report, n) => report.listings.forEach((listing, k) => {
    const [, shader] = /^([0-9a-f]{8})[0-9a-f]*\./.exec(listing.name) || [];
    if (shader) put(R.things.texts, shader, { listing, id: R.things.listing(places[n], k) });
  }));
};

/** The element of a text. */
R.things.listing = (place, n) => `${place}-text-${n + 1}`;

/** Where in a text a block or source line is: the text, and the line, from 0. */
function within(key) {
  const [, kind, shader, what] = /^(block|line):([0-9a-f]{8}):(.+)$/.exec(key) || [];
  const texts = R.things.texts.get(shader) || [];
  if (kind === "block") {
    for (const text of texts) {
      // (looked for once, when somebody asks)
      text.labels ??= new Map(text.listing.text.split("\n").flatMap((l, line) => {
        const [, label] = /^\s*(%\d+) = OpLabel\b/.exec(l) || [];
        return label ? [[label, line]] : [];
      }));
      if (text.labels.has(what)) return { id: text.id, line: text.labels.get(what) };
    }
  }
  const [, file, number] = /^(.*):(\d+)$/.exec(what || "") || [];
  const text = file && texts.find(({ listing }) => listing.name.slice(listing.name.indexOf(".") + 1) === file.split(/[\\/]/).pop());
  return text ? { id: text.id, line: Number(number) - 1 } : null;
}

/** Whether the page has something to say of it. */
R.things.has = (key) => R.things.rows.has(key) || R.things.texts.has(key.replace(/^shader:/, "")) || within(key) !== null;

/** A text whose parts that name things are links to them. */
R.things.linked = function (text, named) {
  const parts = [];
  let done = 0;
  for (const { at, length, key } of named.filter((t) => R.things.has(t.key)).sort((a, b) => a.at - b.at)) {
    if (at < done) continue;
    parts.push(text.slice(done, at), R.el("a.thing", { href: `#${encodeURIComponent(key)}` }, text.slice(at, at + length)));
    done = at + length;
  }
  return done ? [...parts, text.slice(done)] : null;
};

/** What stands beside a draw in its rows: its pass, its pipeline; of a pass itself, it. */
function beside(key, thing) {
  if (key.startsWith(`${thing}:`)) return [key];
  if (!key.startsWith("draw:")) return [];
  const rows = (R.things.rows.get(key) || []).map(({ of, row }) => [of, row, of.columns.findIndex((c) => c.thing === thing)]);
  const all = rows.filter((r) => r[2] >= 0).flatMap(([of, row, n]) => R.things.ofRow(of.columns, n, row, R.things.frame(of.report)).map((t) => t.key));
  return [...new Set(all.filter((k) => k.startsWith(`${thing}:`)))];
}

function title(key) {
  const [kind, ...of] = key.split(":");
  return of.length > 1 ? `Frame ${of[0]} · ${kind} ${of[1]}` : `${CALLED[kind]} ${of[0]}`;
}

/** Shows all that is said of a thing; false where it is none. */
R.things.show = function (key) {
  const box = document.getElementById("thing");
  if (!R.things.has(key)) {
    if (box.open) box.close();
    return false;
  }
  const place = within(key);
  if (place) {
    if (box.open) box.close();
    R.openListing(place.id, place.line);
    return true;
  }
  const tables = new Map();
  const add = ({ of, row }) => tables.set(of, [...(tables.get(of) || []), row]);
  (R.things.rows.get(key) || []).forEach(add);
  // (of a draw also how its pipeline was made, and what its pass draws to)
  const its = key.startsWith("draw:") ? ["pipeline", "pass"].flatMap((thing) => beside(key, thing)) : [];
  its.flatMap((k) => R.things.rows.get(k) || []).filter(({ of }) => OF_DRAWS.includes(of.table.name)).forEach(add);
  const parts = [...tables].map(([of, rows]) => {
    const heads = of.columns.map((c) => R.el(c.words && !c.numeric ? "th.text" : "th.number", { scope: "col", title: c.about || null }, R.named(c)));
    // (in the first column stands what a row is about)
    const shown = OF_DRAWS.includes(of.table.name) || key.startsWith(`${of.columns[0].thing}:`) ? OF_IT : SHOWN;
    const cells = rows.slice(0, shown).map((row) => R.el("tr", null, of.columns.map((c, n) => R.cell(c, row, R.things.ofRow(of.columns, n, row, R.things.frame(of.report))))));
    return [R.el("h3", null, R.el("a", { href: `#${of.place}` }, `${R.things.data.inputs.length > 1 ? `${R.things.data.inputs[of.report.input].name}: ` : ""}${of.report.title}: ${R.words(of.table.name).toLowerCase()}`)),
      R.el("div.scroll", { tabindex: 0, role: "region", "aria-label": of.report.title }, R.el("table", null, R.el("thead", null, R.el("tr", null, heads)), R.el("tbody", null, cells))),
      rows.length > shown ? R.el("p.soft", null, `${rows.length - shown} more rows there`) : null];
  });
  const pictures = beside(key, "pass").flatMap((pass) => R.things.pictures.get(pass) || []).map(R.picture);
  const texts = (R.things.texts.get(key.replace(/^shader:/, "")) || []).map(({ listing, id }) => R.el("li", null, R.el("a", { href: `#${id}` }, listing.title)));
  box.replaceChildren(...[R.el("h2", { id: "thing-title" }, title(key)),
    ...parts.flat().filter(Boolean), pictures.length ? [R.el("h3", null, "What is shown behind its pass"), R.el("div.grid", null, pictures)] : "", texts.length ? [R.el("h3", null, "Its text"), R.el("ul", null, texts)] : "",
    R.el("form", { method: "dialog" }, R.el("button", null, "Close"))].flat(3).filter(Boolean));
  if (!box.open) box.showModal();
  box.scrollTop = 0;
  R.things.shown = key;
  return true;
};

/** The address names no longer what was shown, unless it is something else by now. */
R.things.forget = function () {
  if (R.address() === R.things.shown) history.replaceState(null, "", location.pathname + location.search);
};
