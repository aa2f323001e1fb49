// Curves and histograms.

/** A report's series: those that a distribution draws are left to it. */
R.series = (series) => R.figure(series.title, series.bins ? bars(series) : curve(series));

function curve(series) {
  const [xs, ys] = [R.array(series.xs), R.array(series.ys)];
  const points = Array.from(xs, (x, n) => [x, ys[n]]);
  const label = `${series.title}: ${R.named(series.y)} over ${R.named(series.x)}, ${points.length} points`;
  return R.chart(230, label, () => R.base({
    grid: { left: 8, right: 18, top: 6, bottom: 4, outerBoundsMode: "same" },
    xAxis: { type: "value", name: R.named(series.x), nameLocation: "middle", nameGap: 26, min: "dataMin", max: "dataMax", axisLabel: R.inner, splitLine: { show: false } },
    yAxis: { type: "value", name: R.named(series.y), nameTextStyle: { align: "left" } },
    tooltip: {
      trigger: "axis",
      formatter: ([point]) => R.tipLines([`${series.x.name} ${R.raw(point.value[0], series.x)}`, `${series.y.name} ${R.raw(point.value[1], series.y)}`]),
    },
    series: [{
      type: "line", data: points, showSymbol: points.length < 60, symbolSize: 4, lineStyle: { width: 1.4 },
      areaStyle: { opacity: 0.12 },
    }],
  }), { points: points.length, many: points.length > 4000 });
}

/** `bins`: [from, to, how much is there] of each. */
function bars(series) {
  const { each, log, single } = series.bins;
  const label = `${series.title}: ${R.named(series.y)} by ${R.named(series.x)}`;
  const name = { name: R.named(series.x), nameLocation: "middle", nameGap: 26 };
  const tip = ([from, to, count]) => R.tipLines([
    single ? `${series.x.name} ${R.raw(from, series.x)}` : `${series.x.name} ${R.short(from)} to ${R.raw(R.short(to), series.x)}`,
    `${R.raw(count, series.y.unit === series.y.name ? series.y : { unit: series.y.name })}`,
  ]);
  return R.chart(210, label, () => R.base({
    grid: { left: 8, right: 18, top: 6, bottom: 4, outerBoundsMode: "same" },
    xAxis: single
      ? { type: "category", data: each.map((bin) => R.short(bin[0])), axisTick: { show: false }, ...name }
      : { type: log ? "log" : "value", min: each[0][0], max: each[each.length - 1][1], axisLabel: R.inner, splitLine: { show: false }, ...name },
    yAxis: { type: "value", name: R.named(series.y), nameTextStyle: { align: "left" }, minInterval: 1 },
    tooltip: { trigger: "item", formatter: (point) => tip(each[point.dataIndex]) },
    series: [single
      ? { type: "bar", data: each.map((bin) => bin[2]), barCategoryGap: each.length > 20 ? "12%" : "30%", barMaxWidth: 48 }
      : { type: "custom", data: each, encode: { x: [0, 1], y: 2 }, renderItem: bin, clip: true }],
  }), { points: each.length });
}

/** A bar from one value to another. */
function bin(_, api) {
  const [a, b] = [api.coord([api.value(0), api.value(2)]), api.coord([api.value(1), 0])];
  const wide = Math.max(1, b[0] - a[0] - 1);
  return { type: "rect", shape: { x: a[0], y: a[1], width: wide, height: Math.max(0, b[1] - a[1]) }, style: { fill: R.palette()[0] } };
}
