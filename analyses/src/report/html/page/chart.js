// Charts of the library: made when they come into view, drawn anew in the other theme, at another width, and for print.

R.charts = [];

/** A colour that the style sheet names. */
R.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Colours that are told apart, in order. */
R.palette = () => [1, 2, 3, 4, 5, 6, 7, 8].map((n) => R.colour(`series-${n}`));

/** Labels of an axis whose ends are data: round values alone. */
R.inner = { showMinLabel: false, showMaxLabel: false };

/** What all charts' options have. */
R.base = function (more) {
  const ink = R.colour("ink");
  const soft = R.colour("soft");
  const axis = {
    axisLine: { lineStyle: { color: R.colour("line-strong") } },
    axisTick: { lineStyle: { color: R.colour("line-strong") } },
    axisLabel: { color: soft, fontSize: 11, hideOverlap: true, formatter: (v) => (typeof v === "number" ? R.short(v) : v) },
    splitLine: { lineStyle: { color: R.colour("line") } },
    nameTextStyle: { color: soft, fontSize: 11 },
  };
  const axes = (given) => (given ? (Array.isArray(given) ? given : [given]).map((one) => ({
    ...axis, ...one,
    axisLabel: { ...axis.axisLabel, ...one.axisLabel },
    axisLine: { ...axis.axisLine, ...one.axisLine },
    splitLine: { ...axis.splitLine, ...one.splitLine },
    nameTextStyle: { ...axis.nameTextStyle, ...one.nameTextStyle },
  })) : undefined);
  return {
    animation: false,
    color: R.palette(),
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: ink, fontSize: 12 },
    ...more,
    xAxis: axes(more.xAxis),
    yAxis: axes(more.yAxis),
    legend: more.legend && {
      type: "scroll", top: 0, left: 0, itemWidth: 14, itemHeight: 9, icon: "roundRect",
      textStyle: { color: ink, fontSize: 12 }, inactiveColor: R.colour("line-strong"),
      pageTextStyle: { color: soft }, pageIconColor: soft, ...more.legend,
    },
    tooltip: {
      confine: true, className: "tip chart-tip", backgroundColor: R.colour("raised"), borderColor: R.colour("line-strong"),
      borderWidth: 1, padding: [6, 9], textStyle: { color: ink, fontSize: 12 }, transitionDuration: 0, ...more.tooltip,
    },
  };
};

/** Lines for the library's own box; nothing in them becomes markup. */
R.tipLines = function (lines) {
  const box = R.el("div");
  lines.forEach((line, n) => box.append(R.el(n ? "div" : "div.first", null, line)));
  return box;
};

/** Shows what a key goes to. The place of a value on an axis' very end may be rounded to one outside of the axes, where the
    library shows nothing: it is asked a hundredth of a pixel further in, then. */
function show(drawn, at) {
  const finder = { seriesIndex: at.seriesIndex };
  const series = drawn.getOption().series[at.seriesIndex];
  const place = series.type === "line" && drawn.convertToPixel(finder, series.data[at.dataIndex]);
  const little = [0, 0.01, -0.01];
  const near = place ? little.flatMap((x) => little.map((y) => [place[0] + x, place[1] + y])) : [];
  const inside = near.findIndex((point) => drawn.containPixel(finder, point));
  if (inside > 0) drawn.dispatchAction({ type: "updateAxisPointer", ...at, x: near[inside][0], y: near[inside][1] });
  else drawn.dispatchAction({ type: "showTip", ...at });
}

/** A chart. `option()` is asked each time it is drawn; `points` is how many stops the arrow keys have. */
R.chart = function (height, label, option, { points = 0, series = 0, many = false } = {}) {
  const box = R.el("div.chart", { tabindex: 0, role: "img", "aria-label": label, style: `height:${height}px` });
  const chart = { box, drawn: null, at: -1 };
  chart.draw = (width) => {
    if (!chart.drawn) chart.drawn = echarts.init(box, null, { renderer: many ? "canvas" : "svg" });
    chart.drawn.resize(width ? { width } : { width: "auto" });
    chart.drawn.setOption(option(), true);
    box.dataset.drawn = "yes";
  };
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !points || !chart.drawn) return;
    event.preventDefault();
    chart.at = Math.max(0, Math.min(points - 1, chart.at + step));
    show(chart.drawn, { seriesIndex: series, dataIndex: chart.at });
    const tip = box.querySelector(".chart-tip");
    if (tip) R.say(tip.textContent);
  });
  box.addEventListener("blur", () => chart.drawn && chart.drawn.dispatchAction({ type: "hideTip" }));
  R.charts.push(chart);
  R.later(box, () => chart.draw());
  return box;
};

/** Things that are drawn when they come near the window. */
const waiting = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
}, { rootMargin: "600px" });

function draw(box) {
  const what = waiting.get(box);
  waiting.delete(box);
  watcher.unobserve(box);
  if (what) what();
}

/** Does this when the element comes near. */
R.later = function (box, what) {
  waiting.set(box, what);
  watcher.observe(box);
};

/** Draws all that still waits. */
R.drawAll = () => [...waiting.keys()].filter((box) => box.isConnected).forEach(draw);

/** Draws all that is drawn anew: another theme, another width. */
R.redraw = (width) => R.charts.filter((c) => c.drawn && c.box.isConnected).forEach((c) => c.draw(width));

let width = 0;
new ResizeObserver(() => {
  const now = document.documentElement.clientWidth;
  if (now !== width && !R.printing) {
    width = now;
    requestAnimationFrame(() => R.redraw());
  }
}).observe(document.documentElement);
