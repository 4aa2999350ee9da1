// Colour maps.

/** Colours at equal distances: published maps, and paths through the uniform colour space OKLab. */
const STOPS = {
  viridis: "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725",
  inferno: "000004 1b0c41 4a0c6b 781c6d a52c60 cf4446 ed6925 fb9b06 f7d13d fcffa4",
  gray: "0b0b0b 3c3c3c 747474 b2b2b2 f5f5f5",
  diverging:
    "0a3f86 1a5598 2c6bab 3f82be 5399d1 7aaedb a0c4e4 c4daed f5ecea f1d0c6 ebb4a2 e4977f " +
    "db795b c86349 b44c39 a13529 8d1b19",
  cyclic:
    "ca6e8c ce6e77 ce7162 cb764e c47c3b b9832c ac8b26 9a932d 869a3e 6e9f52 53a367 32a67d " +
    "00a692 00a5a6 00a2b7 139ec6 3d98d1 5a91d7 738ad8 8884d5 9b7dcd ab78c1 b873b2 c270a0 " +
    "ca6e8c",
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
      table.set([...between(name, at / 255), 255], at * 4);
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

/** Return the colour at a position from 0 to 1. */
function between(name, position) {
  const stops = STOPS[name].split(" ").map((text) => Number.parseInt(text, 16));
  const at = position * (stops.length - 1);
  const below = Math.min(stops.length - 2, Math.floor(at));
  return [16, 8, 0].map((shift) => {
    const [one, other] = [stops[below], stops[below + 1]].map((stop) => (stop >> shift) & 255);
    return Math.round(one + (other - one) * (at - below));
  });
}
