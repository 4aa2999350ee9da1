// The cells of a chunk map, row by row, for any number of dimensions.

/**
 * Return {rows, columns, cells, most, rowChunks, columnChunks} of a chunk map of the server.
 *
 * A cell is {of, stored, bytes, decoded, hard}: the number of chunks, the number of stored
 * chunks, their size in the store and in memory, and the number that do not compress.
 */
export function cellsOf(map) {
  const flat = (numbers) => (numbers === null ? null : [numbers].flat(2));
  const [chunks, stored, size, decoded, hard] = [
    map.chunks,
    map.stored,
    map.nbytes,
    map.nbytes_in_memory,
    map.incompressible,
  ].map(flat);
  const cells = chunks.map((of, at) => ({
    of,
    stored: stored[at],
    bytes: size?.[at] ?? 0,
    decoded: decoded?.[at] ?? null,
    hard: hard[at],
  }));
  const [high, wide] = lastTwo(map.shape);
  const [perRow, perColumn] = lastTwo(map.per_cell);
  const chunksOf = (count, per) => (at) => [at * per, Math.min(count, (at + 1) * per) - 1];
  return {
    rows: Math.ceil(high / perRow),
    columns: Math.ceil(wide / perColumn),
    cells,
    most: chunks.reduce((one, other) => Math.max(one, other), 0),
    rowChunks: chunksOf(high, perRow),
    columnChunks: chunksOf(wide, perColumn),
  };
}

const lastTwo = (numbers) => [1, 1, ...numbers].slice(-2);
