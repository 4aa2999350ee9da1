// Talking to the server: questions about the store, and the bytes of its values.

/** The server answered with an error; `status` is its number. */
class AnswerError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Where a value is, given its key. */
export function addressOf(key) {
  return new URL(key.split("/").map(encodeURIComponent).join("/"), document.baseURI);
}

/** Ask a question; gives the answer as it came. */
export async function ask(name, asked, signal) {
  const address = new URL(`__zarr_core__/${name}`, document.baseURI);
  address.search = new URLSearchParams(asked).toString();
  return checked(await reached(fetch(address, { signal })));
}

/** Ask a question whose answer is JSON. */
export async function askJson(name, asked, signal) {
  return (await ask(name, asked, signal)).json();
}

/**
 * Read a value, or `range` of it, such as "bytes=0-99"; null if nothing is stored.
 * Every read is added to `tally`: {reads, bytes}.
 */
export async function readValue(key, { range, signal, tally } = {}) {
  const headers = range ? { Range: range } : {};
  const answer = await reached(fetch(addressOf(key), { headers, signal }));
  if (tally) tally.reads += 1;
  if (answer.status === 404) return null;
  await checked(answer);
  if (range && answer.status !== 206) throw new AnswerError(`no range of ${key} was sent`, 200);
  const data = new Uint8Array(await answer.arrayBuffer());
  if (tally) tally.bytes += data.length;
  return data;
}

async function reached(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new AnswerError("The server does not answer. Is it still running?", 0);
  }
}

async function checked(answer) {
  if (answer.ok) return answer;
  let reason = `${answer.status} ${answer.statusText}`;
  try {
    reason = (await answer.json()).error ?? reason;
  } catch {
    // not one of the server's own answers
  }
  throw new AnswerError(reason, answer.status);
}
