// Samples held against each other: violins with boxes, their course, and histograms.

const ROW = 46;

/** A report's distribution. `series` are all of the report's, by name. */
R.distribution = function (distribution, series) {
  const groups = distribution.groups.map((g) => ({
    ...g,
    series: series.get(g.course),
    xs: R.array(series.get(g.course).xs),
    ys: R.array(series.get(g.course).ys),
    places: R.array(g.density.at),
    heights: R.array(g.density.height),
  }));
  if (!groups.length) return [];
  const [x, y] = [groups[0].series.x, groups[0].series.y];
  // (where axes end, so that a few far outliers do not squeeze everything else)
  const cut = distribution.cut;
  return [
    R.figure(`${distribution.title}: distribution`, violins(groups, y, cut), note(groups, cut, y)),
    R.figure(`${distribution.title}: in order`, course(groups, x, y, cut)),
    R.figure(`${distribution.title}: histogram`, histogram(groups, y, distribution.histogram)),
  ];
};

function note(groups, cut, y) {
  const beyond = cut === null ? 0 : groups.reduce((sum, g) => sum + Array.from(g.ys).filter((v) => v > cut).length, 0);
  const box = "box: quartiles, with whiskers to the last value within 1.5 times their distance; dot in it: mean.";
  const drawn = groups.every((g) => g.places.length) ? `Shape: density; ${box}` : `Shape: density, from 20 values up; below the box: each of fewer; ${box}`;
  return R.el("p.below", null, beyond ? `${drawn} Not drawn: ${beyond} values above ${R.short(cut)} ${y.unit}.` : drawn);
}

function summaryLines(group, y) {
  const names = ["least", "p25", "median", "p75", "greatest"];
  return [group.name, `${group.count} values, mean ${R.raw(group.mean, y)}`, ...names.map((name, n) => `${name} ${R.raw(group.at[n], y)}`)];
}

function violins(groups, y, cut) {
  const colours = () => R.palette();
  const label = `Distributions of ${groups.map((g) => g.name).join(", ")}; medians ${groups.map((g) => R.raw(g.at[2], y)).join(", ")}`;
  const least = Math.min(...groups.map((g) => g.at[0]));
  const most = cut ?? Math.max(...groups.map((g) => g.at[4]));
  const margin = (most - least || Math.abs(most) || 1) * 0.04;
  const shape = (n, api) => {
    const g = groups[n];
    const colour = colours()[n % 8];
    const at = (v, up) => {
      const [px, py] = api.coord([Math.min(v, most + margin), n]);
      return [px, py - up];
    };
    const high = ROW * 0.4;
    const kept = Array.from(g.places, (v, i) => [v, g.heights[i]]).filter(([v]) => v >= least - margin && v <= most + margin);
    const upper = kept.map(([v, h]) => at(v, h * high));
    const lower = kept.map(([v, h]) => at(v, -h * high)).reverse();
    const line = (a, b, width, stroke) => ({ type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }, style: { stroke, lineWidth: width } });
    const ink = R.colour("ink");
    const [from, to] = [at(g.at[1], 5), at(g.at[3], -5)];
    const each = () => Array.from(g.ys).filter((v) => v <= most + margin).map((v) => {
      const [cx, cy] = at(v, -ROW * 0.3);
      return { type: "circle", shape: { cx, cy, r: 2.4 }, style: { fill: colour, opacity: 0.75 } };
    });
    return {
      type: "group",
      children: [
        ...(g.places.length ? [{ type: "polygon", shape: { points: [...upper, ...lower] }, style: { fill: colour, opacity: 0.42, stroke: colour, lineWidth: 1 } }] : each()),
        line(at(g.whiskers[0], 0), at(g.whiskers[1], 0), 1, ink),
        { type: "rect", shape: { x: from[0], y: from[1], width: Math.max(1.5, to[0] - from[0]), height: 10, r: 1 }, style: { fill: R.colour("paper"), stroke: ink, lineWidth: 1 } },
        line(at(g.at[2], 6), at(g.at[2], -6), 2.4, colour),
        { type: "circle", shape: { cx: at(g.mean, 0)[0], cy: at(g.mean, 0)[1], r: 2.4 }, style: { fill: ink } },
      ],
    };
  };
  return R.chart(groups.length * ROW + 64, label, () => R.base({
    grid: { left: 8, right: 24, top: 4, bottom: 4, outerBoundsMode: "same" },
    xAxis: { type: "value", min: Math.max(least - margin, least >= 0 ? 0 : -Infinity), max: most + margin, axisLabel: R.inner, name: R.named(y), nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "category", data: groups.map((g) => g.name), inverse: true, axisTick: { show: false }, axisLabel: { fontSize: 12, color: R.colour("ink"), width: 170, overflow: "truncate", interval: 0, hideOverlap: false } },
    tooltip: { trigger: "item", formatter: (p) => R.tipLines(summaryLines(groups[p.dataIndex], y)) },
    series: [{ type: "custom", clip: true, data: groups.map((g, n) => [g.at[2], n]), encode: { x: 0, y: 1 }, renderItem: (p, api) => shape(p.dataIndex, api) }],
  }), { points: groups.length });
}

function course(groups, x, y, cut) {
  // (what lies beyond the axis has no place that a key could go to)
  const drawn = groups.map((g) => Array.from(g.xs, (v, n) => [v, g.ys[n]]).filter(([, v]) => Number.isFinite(v) && (cut === null || v <= cut)));
  const total = drawn.reduce((sum, points) => sum + points.length, 0);
  const label = `${R.named(y)} by ${x.name}, ${total} values`;
  return R.chart(300, label, () => R.base({
    legend: { data: groups.map((g) => g.name) },
    grid: { left: 8, right: 18, top: 30, bottom: 4, outerBoundsMode: "same" },
    xAxis: { type: "value", name: R.named(x), nameLocation: "middle", nameGap: 26, min: "dataMin", max: "dataMax", axisLabel: R.inner, splitLine: { show: false }, minInterval: 1 },
    yAxis: { type: "value", scale: true, max: cut ?? undefined, name: R.named(y), nameTextStyle: { align: "left" } },
    dataZoom: total > 200 ? [{ type: "inside", zoomOnMouseWheel: "ctrl" }] : undefined,
    tooltip: { trigger: "item", formatter: (p) => R.tipLines([p.seriesName, `${x.name} ${R.raw(p.value[0], x)}`, R.raw(p.value[1], y)]) },
    series: groups.map((g, n) => ({
      name: g.name, type: "scatter", symbolSize: total > 3000 ? 3 : 4.5, itemStyle: { opacity: 0.75 }, clip: true, data: drawn[n],
    })),
  }), { points: drawn[0].length, many: total > 6000 });
}

function histogram(groups, y, { from: least, wide, counts: steps }) {
  const count = steps[0].length;
  const label = `Histogram of ${groups.map((g) => g.name).join(", ")}: values by ${R.named(y)}`;
  return R.chart(260, label, () => R.base({
    legend: { data: groups.map((g) => g.name) },
    grid: { left: 8, right: 18, top: 30, bottom: 4, outerBoundsMode: "same" },
    xAxis: { type: "value", min: least, max: least + wide * count, axisLabel: R.inner, name: R.named(y), nameLocation: "middle", nameGap: 26, splitLine: { show: false } },
    yAxis: { type: "value", name: "values", nameTextStyle: { align: "left" }, minInterval: 1 },
    tooltip: {
      trigger: "axis",
      formatter: (points) => R.tipLines([
        `${R.short(points[0].value[0])} to ${R.short(points[0].value[0] + wide)} ${y.unit}`,
        ...points.filter((p) => p.value[1]).map((p) => `${p.seriesName}: ${p.value[1]}`),
      ]),
    },
    series: groups.map((g, n) => ({
      name: g.name, type: "line", step: "end", showSymbol: false, lineStyle: { width: 1.4 }, areaStyle: { opacity: groups.length > 3 ? 0.06 : 0.18 },
      data: [...steps[n].map((value, bin) => [least + wide * bin, value]), [least + wide * count, 0]],
    })),
  }), { points: count });
}
