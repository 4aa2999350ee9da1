// The hash XXH64 with seed 0, with pairs of 32-bit integers, because BigInt is slow.

const PRIMES = [
  [0x9e3779b1, 0x85ebca87],
  [0xc2b2ae3d, 0x27d4eb4f],
  [0x165667b1, 0x9e3779f9],
  [0x85ebca77, 0xc2b2ae63],
  [0x27d4eb2f, 0x165667c5],
];
const [ONE, TWO, THREE, FOUR, FIVE] = PRIMES;

// The result of the last operation; functions with two results would allocate.
let high = 0;
let low = 0;

function multiply(aHigh, aLow, [bHigh, bLow]) {
  const [a0, a1, b0, b1] = [aLow & 0xffff, aLow >>> 16, bLow & 0xffff, bLow >>> 16];
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const other = a0 * b1 + (middle % 0x10000);
  const carry = a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
  low = Math.imul(aLow, bLow);
  high = (carry + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) | 0;
}

function add(aHigh, aLow, bHigh, bLow) {
  const sum = (aLow >>> 0) + (bLow >>> 0);
  low = sum | 0;
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) | 0;
}

function rotate(aHigh, aLow, bits) {
  if (bits < 32) {
    high = (aHigh << bits) | (aLow >>> (32 - bits));
    low = (aLow << bits) | (aHigh >>> (32 - bits));
  } else {
    high = (aLow << (bits - 32)) | (aHigh >>> (64 - bits));
    low = (aHigh << (bits - 32)) | (aLow >>> (64 - bits));
  }
}

/** Mix a word into an accumulator. */
function round(sumHigh, sumLow, wordHigh, wordLow) {
  multiply(wordHigh, wordLow, TWO);
  add(sumHigh, sumLow, high, low);
  rotate(high, low, 31);
  multiply(high, low, ONE);
}

/** Return the lower 32 bits of the hash of bytes, which Zstandard frames contain. */
export function xxh64(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const word = (at) => view.getInt32(at, true);
  let at = 0;
  if (data.length >= 32) {
    add(...ONE, ...TWO);
    const sums = [[high, low], [...TWO], [0, 0]];
    multiply(-1, -1, ONE); // minus ONE
    sums.push([high, low]);
    for (; at + 32 <= data.length; at += 32) {
      for (let lane = 0; lane < 4; lane += 1) {
        const sum = sums[lane];
        round(sum[0], sum[1], word(at + 8 * lane + 4), word(at + 8 * lane));
        sum[0] = high;
        sum[1] = low;
      }
    }
    let [totalHigh, totalLow] = [0, 0];
    for (const [lane, bits] of [1, 7, 12, 18].entries()) {
      rotate(...sums[lane], bits);
      add(totalHigh, totalLow, high, low);
      [totalHigh, totalLow] = [high, low];
    }
    for (const sum of sums) {
      round(0, 0, ...sum);
      [high, low] = [totalHigh ^ high, totalLow ^ low];
      multiply(high, low, ONE);
      add(high, low, ...FOUR);
      [totalHigh, totalLow] = [high, low];
    }
  } else {
    [high, low] = FIVE;
  }
  add(high, low, 0, data.length);
  for (; at + 8 <= data.length; at += 8) {
    const [hashHigh, hashLow] = [high, low];
    round(0, 0, word(at + 4), word(at));
    rotate(hashHigh ^ high, hashLow ^ low, 27);
    multiply(high, low, ONE);
    add(high, low, ...FOUR);
  }
  if (at + 4 <= data.length) {
    const [hashHigh, hashLow] = [high, low];
    multiply(0, word(at), ONE);
    rotate(hashHigh ^ high, hashLow ^ low, 23);
    multiply(high, low, TWO);
    add(high, low, ...THREE);
    at += 4;
  }
  for (; at < data.length; at += 1) {
    const [hashHigh, hashLow] = [high, low];
    multiply(0, data[at], FIVE);
    rotate(hashHigh ^ high, hashLow ^ low, 11);
    multiply(high, low, ONE);
  }
  low ^= high >>> 1; // x ^= x >>> 33
  multiply(high, low, TWO);
  low ^= (high << 3) | (low >>> 29); // x ^= x >>> 29
  high ^= high >>> 29;
  multiply(high, low, THREE);
  low ^= high; // x ^= x >>> 32
  return low >>> 0;
}
