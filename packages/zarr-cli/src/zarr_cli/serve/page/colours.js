// Colour maps: published ones, and paths through the perceptually uniform colour space OKLab.

/** Colours of published maps at equal distances. */
const KNOWN = {
  viridis: "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725",
  inferno: "000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4",
};

/** Colours of other maps: lightness, chroma and hue (in degrees) at equal distances. */
const PATHS = {
  gray: [
    [0.15, 0, 0],
    [0.97, 0, 0],
  ],
  diverging: [
    [0.38, 0.13, 258],
    [0.66, 0.11, 245],
    [0.95, 0.01, 245],
    [0.68, 0.13, 38],
    [0.42, 0.15, 27],
  ],
  cyclic: [
    [0.65, 0.12, 0],
    [0.65, 0.12, 90],
    [0.65, 0.12, 180],
    [0.65, 0.12, 270],
    [0.65, 0.12, 360],
  ],
};

/** [name, title] of every map. */
export const MAPS = [
  ["viridis", "viridis"],
  ["inferno", "inferno"],
  ["gray", "gray"],
  ["diverging", "diverging, around zero"],
  ["cyclic", "cyclic, for angles"],
];

/** Whether the middle of a map represents zero. */
export const isCentred = (name) => name === "diverging";

const tables = new Map();

/** Return 256 colours of a map, four bytes each. */
export function colours(name) {
  if (!tables.has(name)) {
    const table = new Uint8ClampedArray(1024);
    for (let at = 0; at < 256; at += 1)
      table.set([...(name in KNOWN ? between : along)(name, at / 255), 255], at * 4);
    tables.set(name, table);
  }
  return tables.get(name);
}

/** Return the CSS colour at a position from 0 to 1. */
export function colourAt(name, position) {
  const at = Math.round(Math.min(1, Math.max(0, position)) * 255) * 4;
  const [red, green, blue] = colours(name).subarray(at, at + 3);
  return `rgb(${red} ${green} ${blue})`;
}

/** Return the colour of a published map. */
function between(name, position) {
  const stops = KNOWN[name].split(" ").map((text) => Number.parseInt(text, 16));
  const at = position * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(at));
  return [16, 8, 0].map((shift) => {
    const [one, other] = [stops[below], stops[below + 1]].map((stop) => (stop >> shift) & 255);
    return Math.round(one + (other - one) * (at - below));
  });
}

function along(name, position) {
  const stops = PATHS[name];
  const at = position * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const rest = at - low;
  const [one, other] = [stops[low], stops[low + 1]].map(([lightness, chroma, hue]) => {
    const angle = (hue * Math.PI) / 180;
    return { lightness, chroma, hue: angle };
  });
  const mixed = (name) => one[name] + (other[name] - one[name]) * rest;
  const chroma = mixed("chroma");
  // Greys have no hue, so they take the hue of their neighbour.
  const hue = one.chroma < 0.02 ? other.hue : other.chroma < 0.02 ? one.hue : mixed("hue");
  return fromOklab(mixed("lightness"), chroma * Math.cos(hue), chroma * Math.sin(hue));
}

/** Convert OKLab to sRGB bytes. */
function fromOklab(lightness, a, b) {
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ].map((linear) => {
    const light = Math.min(1, Math.max(0, linear));
    return Math.round(
      255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055),
    );
  });
}
