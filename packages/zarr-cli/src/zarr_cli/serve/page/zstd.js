// Decoder of Zstandard frames, after RFC 8878. The numbers in comments are its sections.

import { xxh64 } from "./xxh64.js";

const MAGIC = 0xfd2fb528;
const MOST_BYTES = 1 << 30;
const MOST_BLOCK = 128 << 10;

/** Decode all frames of a value; throws an Error if they are damaged. */
export function decodeZstd(source) {
  const output = new Output();
  let at = 0;
  while (at < source.length) {
    require(source.length - at >= 4, "the frame is truncated");
    const magic = integer(source, at, 4);
    if (magic >>> 4 === 0x184d2a5) {
      // A skippable frame (3.1.2).
      require(source.length - at >= 8, "the frame is truncated");
      at += 8 + integer(source, at + 4, 4);
      require(at <= source.length, "the frame is truncated");
    } else {
      require(magic === MAGIC, "not a frame");
      at = decodeFrame(source, at + 4, output);
    }
  }
  return output.bytes();
}

function require(isTrue, problem) {
  if (!isTrue) throw new Error(problem);
}

/** Return a little-endian integer of up to 6 bytes. */
function integer(data, at, size) {
  let value = 0;
  for (let byte = size - 1; byte >= 0; byte -= 1) value = value * 256 + (data[at + byte] ?? 0);
  return value;
}

const log2 = (value) => 31 - Math.clz32(value);

/** Bytes that grow. */
class Output {
  constructor() {
    this.data = new Uint8Array(1 << 16);
    this.length = 0;
  }

  reserve(count) {
    const needed = this.length + count;
    require(needed <= MOST_BYTES, "more than 1 GiB of elements");
    if (needed <= this.data.length) return;
    const larger = new Uint8Array(Math.min(MOST_BYTES, Math.max(needed, 2 * this.data.length)));
    larger.set(this.data.subarray(0, this.length));
    this.data = larger;
  }

  bytes() {
    return this.data.slice(0, this.length);
  }
}

// --- frames (3.1.1) ---

function decodeFrame(source, start, output) {
  let at = start;
  const descriptor = source[at];
  at += 1;
  const isSingle = Boolean(descriptor & 0x20);
  require(!(descriptor & 0x08), "a reserved bit of the frame is set");
  if (!isSingle) at += 1; // the window size, which limits memory only
  const dictionarySize = [0, 1, 2, 4][descriptor & 3];
  require(integer(source, at, dictionarySize) === 0, "a dictionary is required");
  at += dictionarySize;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][sizeFlag];
  let size = null;
  if (sizeBytes) {
    require(sizeBytes < 8 || integer(source, at + 6, 2) === 0, "more than 1 GiB of elements");
    size = integer(source, at, Math.min(6, sizeBytes)) + (sizeFlag === 1 ? 256 : 0);
    require(size <= MOST_BYTES, "more than 1 GiB of elements");
  }
  at += sizeBytes;
  const first = output.length;
  const state = { tables: {}, huffman: null, offsets: [1, 4, 8], first };
  let isLast = false;
  while (!isLast) {
    require(at + 3 <= source.length, "the frame is truncated");
    const header = integer(source, at, 3);
    at += 3;
    isLast = Boolean(header & 1);
    const type = (header >> 1) & 3;
    const length = header >> 3;
    require(type !== 3, "a block of a reserved type");
    require(length <= MOST_BLOCK, "a block is too large");
    const stored = type === 1 ? 1 : length;
    require(at + stored <= source.length, "the frame is truncated");
    if (type === 2) {
      decodeBlock(source.subarray(at, at + length), output, state);
    } else {
      output.reserve(length);
      if (type === 0) output.data.set(source.subarray(at, at + length), output.length);
      else output.data.fill(source[at], output.length, output.length + length);
      output.length += length;
    }
    at += stored;
  }
  require(size === null || output.length - first === size, "another size than the header says");
  if (descriptor & 0x04) {
    require(at + 4 <= source.length, "the frame is truncated");
    const sum = xxh64(output.data.subarray(first, output.length));
    require(sum === integer(source, at, 4), "the checksum does not match");
    at += 4;
  }
  return at;
}

// --- blocks (3.1.1.3) ---

function decodeBlock(block, output, state) {
  require(block.length >= 2, "a block is too short");
  const [literals, at] = readLiterals(block, state);
  const before = output.length;
  output.reserve(MOST_BLOCK);
  decodeSequences(block, at, literals, output, state);
  require(output.length - before <= MOST_BLOCK, "a block is too large");
}

/** Return the literals of a block and the position behind them (3.1.1.3.1). */
function readLiterals(block, state) {
  const type = block[0] & 3;
  const format = (block[0] >> 2) & 3;
  if (type < 2) {
    const header = [1, 2, 1, 3][format];
    const count = integer(block, 0, header) >> (header === 1 ? 3 : 4);
    require(count <= MOST_BLOCK, "too many literals");
    const stored = type === 0 ? count : 1;
    require(header + stored <= block.length, "the literals are truncated");
    const literals =
      type === 0
        ? block.subarray(header, header + count)
        : new Uint8Array(count).fill(block[header]);
    return [literals, header + stored];
  }
  const header = [3, 3, 4, 5][format];
  const bits = [10, 10, 14, 18][format];
  const sizes = Math.floor(integer(block, 0, header) / 16);
  const count = sizes % 2 ** bits;
  const stored = Math.floor(sizes / 2 ** bits) % 2 ** bits;
  require(count <= MOST_BLOCK, "too many literals");
  const end = header + stored;
  require(end <= block.length, "the literals are truncated");
  let at = header;
  if (type === 2) [state.huffman, at] = readHuffman(block.subarray(0, end), at);
  require(state.huffman, "the block has no Huffman table");
  const literals = new Uint8Array(count);
  if (format === 0) {
    decodeHuffman(block.subarray(at, end), state.huffman, literals);
  } else {
    require(at + 6 <= end, "the literals are truncated");
    const each = (count + 3) >> 2;
    require(count >= 3 * each, "too few literals for four streams");
    let from = at + 6;
    for (let stream = 0; stream < 4; stream += 1) {
      const to = stream < 3 ? from + integer(block, at + 2 * stream, 2) : end;
      require(to <= end, "the literals are truncated");
      const part = literals.subarray(stream * each, stream < 3 ? (stream + 1) * each : count);
      decodeHuffman(block.subarray(from, to), state.huffman, part);
      from = to;
    }
  }
  return [literals, end];
}

// --- bits ---

/** Bits of a stream that is read from its end; bits before its begin are zero. */
class BackwardBits {
  constructor(data) {
    const last = data[data.length - 1];
    require(last, "a bit stream has no end mark");
    this.data = data;
    this.left = (data.length - 1) * 8 + log2(last);
  }

  /** Return the next bits, which stay in the stream. */
  peek(count) {
    const { data } = this;
    const start = this.left - count;
    if (start < 0) {
      const there = this.left > 0 ? this.left : 0;
      return (bitsAt(data, 0, there) * 2 ** (count - there)) % 2 ** count;
    }
    return bitsAt(data, start, count);
  }

  read(count) {
    const value = count ? this.peek(count) : 0;
    this.left -= count;
    return value;
  }
}

function bitsAt(data, start, count) {
  const byte = start >> 3;
  const shift = start & 7;
  const low = data[byte] | (data[byte + 1] << 8) | (data[byte + 2] << 16) | (data[byte + 3] << 24);
  if (shift + count <= 31) return (low >>> shift) & ((1 << count) - 1);
  const wide = (low >>> 0) + (data[byte + 4] ?? 0) * 2 ** 32;
  return Math.floor(wide / 2 ** shift) % 2 ** count;
}

// --- finite state entropy (4.1) ---

/** Read the probabilities of symbols; return [table, position behind it]. */
function readTable(data, start, mostLog, mostSymbol) {
  let bit = start * 8;
  const read = (count) => {
    const value = bitsAt(data, bit, count);
    bit += count;
    return value;
  };
  const log = read(4) + 5;
  require(log <= mostLog, "an entropy table is too large");
  let left = 1 << log;
  const counts = [];
  while (left > 0) {
    require(counts.length <= mostSymbol, "an entropy table has too many symbols");
    // A value from 0 to left + 1; small values take one bit less.
    const bits = log2(left + 1) + 1;
    const short = 2 ** bits - 2 - left;
    let value = bitsAt(data, bit, bits - 1);
    if (value < short) {
      bit += bits - 1;
    } else {
      value = bitsAt(data, bit, bits);
      if (value >= 2 ** (bits - 1)) value -= short;
      bit += bits;
    }
    const count = value - 1;
    counts.push(count);
    left -= Math.abs(count);
    if (count === 0) {
      let zeros = 3;
      while (zeros === 3) {
        zeros = read(2);
        for (let zero = 0; zero < zeros; zero += 1) counts.push(0);
        require(counts.length <= mostSymbol + 1, "an entropy table has too many symbols");
      }
    }
  }
  const end = (bit + 7) >> 3;
  require(left === 0 && end <= data.length, "an entropy table is damaged");
  return [entropyTable(counts, log), end];
}

/** Return {log, symbols, bits, bases}: for each state its symbol and the next state. */
function entropyTable(counts, log) {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  let high = size;
  for (const [symbol, count] of counts.entries()) {
    if (count === -1) {
      high -= 1;
      symbols[high] = symbol;
    }
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let place = 0;
  for (const [symbol, count] of counts.entries()) {
    for (let time = 0; time < count; time += 1) {
      symbols[place] = symbol;
      do place = (place + step) & (size - 1);
      while (place >= high);
    }
  }
  const next = counts.map((count) => Math.abs(count));
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state];
    const number = next[symbol];
    next[symbol] += 1;
    bits[state] = log - log2(number);
    bases[state] = (number << bits[state]) - size;
  }
  return { log, symbols, bits, bases };
}

// --- Huffman codes (4.2) ---

function readHuffman(data, start) {
  const header = data[start];
  let at = start + 1;
  const weights = [];
  if (header >= 128) {
    const count = header - 127;
    for (let symbol = 0; symbol < count; symbol += 1) {
      const byte = data[at + (symbol >> 1)];
      weights.push(symbol & 1 ? byte & 15 : byte >> 4);
    }
    at += (count + 1) >> 1;
  } else {
    const end = at + header;
    require(end <= data.length, "a Huffman table is truncated");
    const [table, from] = readTable(data.subarray(0, end), at, 6, 255);
    const stream = new BackwardBits(data.subarray(from, end));
    const states = [stream.read(table.log), stream.read(table.log)];
    for (let turn = 0; ; turn ^= 1) {
      const state = states[turn];
      weights.push(table.symbols[state]);
      require(weights.length <= 255, "a Huffman table has too many symbols");
      if (stream.left < table.bits[state]) {
        weights.push(table.symbols[states[turn ^ 1]]);
        break;
      }
      states[turn] = table.bases[state] + stream.read(table.bits[state]);
    }
    at = end;
  }
  require(at <= data.length, "a Huffman table is truncated");
  return [huffmanTable(weights), at];
}

/** Return {log, symbols, bits} of all codes; the last weight follows from the others. */
function huffmanTable(weights) {
  const sum = weights.reduce((total, weight) => total + ((1 << weight) >> 1), 0);
  require(sum > 0 && weights.length <= 255, "a Huffman table is damaged");
  const log = log2(sum) + 1;
  const rest = (1 << log) - sum;
  require(log <= 11 && (rest & (rest - 1)) === 0, "a Huffman table is damaged");
  const all = [...weights, log2(rest) + 1];
  const symbols = new Uint8Array(1 << log);
  const bits = new Uint8Array(1 << log);
  let place = 0;
  for (let weight = 1; weight <= log; weight += 1) {
    for (const [symbol, own] of all.entries()) {
      if (own !== weight) continue;
      const end = place + (1 << (weight - 1));
      symbols.fill(symbol, place, end);
      bits.fill(log + 1 - weight, place, end);
      place = end;
    }
  }
  require(place === 1 << log, "a Huffman table is damaged");
  return { log, symbols, bits };
}

function decodeHuffman(data, { log, symbols, bits }, target) {
  require(data.length > 0, "the literals are truncated");
  const stream = new BackwardBits(data);
  for (let at = 0; at < target.length; at += 1) {
    const code = stream.peek(log);
    target[at] = symbols[code];
    stream.left -= bits[code];
  }
  require(stream.left === 0, "the literals are damaged");
}

// --- sequences (3.1.1.3.2) ---

const LITERAL_EXTRA = [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const MATCH_EXTRA = [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/** Return {bases, extra} of lengths: single values, then ranges of 2 ** extra values. */
function lengthCodes(first, singles, extras) {
  const extra = [...new Array(singles).fill(0), ...extras];
  const bases = [];
  let base = first;
  for (const bits of extra) {
    bases.push(base);
    base += 2 ** bits;
  }
  return { bases, extra };
}

const LITERALS = lengthCodes(0, 16, LITERAL_EXTRA);
const MATCHES = lengthCodes(3, 32, MATCH_EXTRA);
// The longest ranges begin at powers of two, so the ranges of 6 and of 7 bits leave a gap.
LITERALS.bases.splice(25, 11, ...Array.from({ length: 11 }, (_, at) => 64 << at));
MATCHES.bases.splice(43, 10, ...Array.from({ length: 10 }, (_, at) => (128 << at) + 3));

const runs = (...pairs) => pairs.flatMap(([count, value]) => new Array(count).fill(value));
const KINDS = {
  literals: {
    most: 35,
    mostLog: 9,
    usual: [
      6,
      [4, 3, ...runs([11, 2], [3, 1], [9, 2]), 3, 2, ...runs([5, 1], [4, -1])],
    ],
  },
  offsets: { most: 31, mostLog: 8, usual: [5, runs([6, 1], [3, 2], [15, 1], [5, -1])] },
  matches: {
    most: 52,
    mostLog: 9,
    usual: [6, [1, 4, 3, ...runs([6, 2], [37, 1], [7, -1])]],
  },
};

function decodeSequences(block, start, literals, output, state) {
  let at = start;
  let count = block[at];
  require(count !== undefined, "a block is truncated");
  at += 1;
  if (count === 255) {
    count = integer(block, at, 2) + 0x7f00;
    at += 2;
  } else if (count >= 128) {
    count = ((count - 128) << 8) + block[at];
    at += 1;
  }
  if (count === 0) {
    require(at === block.length, "bytes follow a block");
    appendLiterals(output, literals, 0, literals.length);
    return;
  }
  const modes = block[at];
  at += 1;
  require((modes & 3) === 0, "a reserved bit of a block is set");
  for (const [place, name] of Object.keys(KINDS).entries()) {
    at = readMode(block, at, (modes >> (6 - 2 * place)) & 3, name, state);
  }
  require(at < block.length, "a block is truncated");
  const stream = new BackwardBits(block.subarray(at));
  const { literals: forLiterals, offsets: forOffsets, matches: forMatches } = state.tables;
  let literalState = stream.read(forLiterals.log);
  let offsetState = stream.read(forOffsets.log);
  let matchState = stream.read(forMatches.log);
  let used = 0;
  for (let number = 0; number < count; number += 1) {
    const offsetCode = forOffsets.symbols[offsetState];
    const matchCode = forMatches.symbols[matchState];
    const literalCode = forLiterals.symbols[literalState];
    const value = 2 ** offsetCode + stream.read(offsetCode);
    const length = MATCHES.bases[matchCode] + stream.read(MATCHES.extra[matchCode]);
    const before = LITERALS.bases[literalCode] + stream.read(LITERALS.extra[literalCode]);
    require(used + before <= literals.length, "a sequence needs more literals");
    appendLiterals(output, literals, used, used + before);
    used += before;
    copyMatch(output, offsetOf(value, before, state.offsets), length, state.first);
    if (number === count - 1) break;
    const next = (table, current) => table.bases[current] + stream.read(table.bits[current]);
    literalState = next(forLiterals, literalState);
    matchState = next(forMatches, matchState);
    offsetState = next(forOffsets, offsetState);
  }
  require(stream.left === 0, "the sequences are damaged");
  appendLiterals(output, literals, used, literals.length);
}

/** Set the table of one kind of code; return the position behind its description. */
function readMode(block, start, mode, name, state) {
  const { most, mostLog, usual } = KINDS[name];
  let at = start;
  if (mode === 0) {
    state.tables[name] = entropyTable(usual[1], usual[0]);
  } else if (mode === 1) {
    require(block[at] <= most, "an unknown code");
    state.tables[name] = { log: 0, symbols: [block[at]], bits: [0], bases: [0] };
    at += 1;
  } else if (mode === 2) {
    [state.tables[name], at] = readTable(block, at, mostLog, most);
  } else {
    require(state.tables[name], "a block repeats a table that does not exist");
  }
  return at;
}

/** Return the offset of a sequence, and update the recent offsets (3.1.1.5). */
function offsetOf(value, before, recent) {
  if (value > 3) {
    recent.unshift(value - 3);
    recent.pop();
    return recent[0];
  }
  const place = value - 1 + (before === 0 ? 1 : 0);
  if (place === 0) return recent[0];
  const offset = place < 3 ? recent[place] : recent[0] - 1;
  require(offset > 0, "an offset is zero");
  recent.splice(place < 3 ? place : 2, 1);
  recent.unshift(offset);
  return offset;
}

function appendLiterals(output, literals, from, to) {
  output.reserve(to - from);
  output.data.set(literals.subarray(from, to), output.length);
  output.length += to - from;
}

function copyMatch(output, offset, length, first) {
  const from = output.length - offset;
  require(from >= first, "an offset leads before the frame");
  output.reserve(length);
  const { data } = output;
  const to = output.length;
  if (offset >= length) {
    data.copyWithin(to, from, from + length);
  } else {
    for (let at = 0; at < length; at += 1) data[to + at] = data[from + at]; // overlapping
  }
  output.length += length;
}
