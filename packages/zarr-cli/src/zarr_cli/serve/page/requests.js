// HTTP requests to the server: endpoints, and values of the store.

/** An error response of the server; `status` is the HTTP status. */
class ResponseError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Return the URL of a value, given its key. */
export function urlOf(key) {
  return new URL(key.split("/").map(encodeURIComponent).join("/"), document.baseURI);
}

/** Request an endpoint; return the response. */
export async function request(name, query, signal) {
  const address = new URL(`__zarr_core__/${name}`, document.baseURI);
  address.search = new URLSearchParams(query).toString();
  return checkStatus(await connect(fetch(address, { signal })));
}

/** Request an endpoint that returns JSON. */
export async function requestJson(name, query, signal) {
  return (await request(name, query, signal)).json();
}

/** Read a value, or a `range` of it, such as "bytes=0-99"; null if the key does not exist. */
export async function readValue(key, { range } = {}) {
  const headers = range ? { Range: range } : {};
  const response = await connect(fetch(urlOf(key), { headers }));
  if (response.status === 404) return null;
  await checkStatus(response);
  return new Uint8Array(await response.arrayBuffer());
}

async function connect(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ResponseError("The server does not answer. Is it still running?", 0);
  }
}

async function checkStatus(response) {
  if (response.ok) return response;
  let reason = `${response.status} ${response.statusText}`;
  try {
    reason = (await response.json()).error ?? reason;
  } catch {
    // not a JSON error of this server
  }
  throw new ResponseError(reason, response.status);
}
