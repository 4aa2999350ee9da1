// Colour maps, computed as paths through the perceptually uniform colour space OKLab.

/** Colours of a map: lightness, chroma and hue (in degrees) at equal distances. */
const PATHS = {
  dusk: {
    title: "dusk",
    stops: [
      [0.24, 0.1, 305],
      [0.36, 0.125, 285],
      [0.48, 0.11, 248],
      [0.6, 0.1, 205],
      [0.71, 0.12, 165],
      [0.82, 0.16, 130],
      [0.93, 0.17, 106],
    ],
  },
  ember: {
    title: "ember",
    stops: [
      [0.12, 0.03, 290],
      [0.28, 0.13, 310],
      [0.42, 0.17, 345],
      [0.56, 0.19, 15],
      [0.69, 0.17, 48],
      [0.82, 0.15, 80],
      [0.96, 0.08, 105],
    ],
  },
  grey: {
    title: "grey",
    stops: [
      [0.15, 0, 0],
      [0.97, 0, 0],
    ],
  },
  tide: {
    title: "tide, around zero",
    stops: [
      [0.38, 0.13, 258],
      [0.66, 0.11, 245],
      [0.95, 0.01, 245],
      [0.68, 0.13, 38],
      [0.42, 0.15, 27],
    ],
    centred: true,
  },
  compass: {
    title: "compass, for angles",
    stops: [
      [0.65, 0.12, 0],
      [0.65, 0.12, 90],
      [0.65, 0.12, 180],
      [0.65, 0.12, 270],
      [0.65, 0.12, 360],
    ],
  },
};

/** [name, title] of every map. */
export const MAPS = Object.entries(PATHS).map(([name, { title }]) => [name, title]);

/** Whether the middle of a map represents zero. */
export const isCentred = (name) => Boolean(PATHS[name].centred);

const tables = new Map();

/** Return 256 colours of a map, four bytes each. */
export function colours(name) {
  if (!tables.has(name)) {
    const table = new Uint8ClampedArray(1024);
    for (let at = 0; at < 256; at += 1)
      table.set([...along(PATHS[name].stops, at / 255), 255], at * 4);
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

function along(stops, position) {
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
