// Numbers as people read them, and as they are.

const THIN = " ";

/** Digits in groups of three, from five digits on. */
function grouped(text) {
  const [whole, rest] = text.split(".");
  const sign = whole.startsWith("-") ? "-" : "";
  const digits = whole.replace("-", "");
  const groups = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, THIN) : digits;
  return sign + groups + (rest ? `.${rest}` : "");
}

/** How many digits behind the point a column's numbers get: none if all are whole, else its unit's, more where all are small. */
R.digitsOf = function (values, column) {
  let whole = true;
  let most = 0;
  for (const v of values) {
    if (typeof v !== "number" || !Number.isFinite(v)) continue;
    if (v % 1 !== 0) whole = false;
    most = Math.max(most, Math.abs(v));
  }
  if (whole) return 0;
  const least = most > 0 ? Math.ceil(2 - Math.log10(most)) : 0;
  const enough = Math.max(column.digits, column.unit === "" ? 2 : 0, most < 1 ? least : 0);
  // (of large numbers the digits before the point say enough)
  return Math.min(9, enough, most >= 1 ? Math.max(1, 6 - Math.ceil(Math.log10(most))) : 9);
};

/** A number with so many digits; "–" where there is none. */
R.number = function (value, digits) {
  if (typeof value === "string") return value;
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return value !== 0 && Number(text) === 0 ? R.short(value) : grouped(text);
};

/** A number with about four significant digits, for axes and legends. */
R.short = function (value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
  if (size >= 1000 || value % 1 === 0) return grouped(String(Math.round(value)));
  return grouped(String(Number(value.toPrecision(4))));
};

/** A value as it is, with its unit: what hovering shows. */
R.raw = function (value, column) {
  if (value === null || value === undefined || (typeof value === "number" && !Number.isFinite(value))) return "no value";
  const unit = column && column.unit && column.unit !== "text" ? ` ${column.unit}` : "";
  return `${value}${unit}`;
};

/** A column's name with its unit. */
R.named = function (column) {
  const unit = column.unit && column.unit !== "text" && column.unit !== column.name ? ` (${column.unit})` : "";
  return `${column.name}${unit}`;
};
