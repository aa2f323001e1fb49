// The page's data: base64 of a compressed block that is a header and arrays behind it (pack.rs says how).

R.data = { arrays: null };

/** The header; arrays are then read as they are wanted. */
R.unpack = async function (text) {
  const coded = atob(text.trim());
  const bytes = new Uint8Array(coded.length);
  for (let n = 0; n < coded.length; n++) bytes[n] = coded.charCodeAt(n);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const whole = await new Response(stream).arrayBuffer();
  const length = new DataView(whole).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(whole, 4, length)));
  if (header.version !== 1) throw new Error(`data of version ${header.version}; this page reads 1`);
  R.data.arrays = whole.slice(Math.ceil((4 + length) / 8) * 8);
  return header;
};

const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

/** An array's values: numbers (NaN where there is none), or words and other values (null where there is none). */
R.array = function (of) {
  if (of.t === "mixed") return of.values;
  if (of.t === "words") {
    const places = R.array(of.places);
    return Array.from(places, (place) => (place ? of.list[place - 1] : null));
  }
  if (of.t === "listed") {
    const [places, list] = [R.array(of.places), R.array(of.list)];
    return Float64Array.from(places, (place) => list[place]);
  }
  return new KINDS[of.t](R.data.arrays, of.at, of.n);
};

/** Whether a column's cells are words. */
R.isWords = (of) => of.t === "words" || of.t === "mixed";
