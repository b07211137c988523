// A client of a Sourdine server, for Node 18 or newer and for browsers. It needs no other package.
//
//   import { Server } from "./sourdine.mjs";
//   const wages = new Server("https://statistics.example", process.env.TOKEN).session("wages");
//   const answer = await wages.release("mean", { column: "wage", epsilon: 0.1 });
//   console.log(answer.value, answer.interval, answer.cost, answer.mechanism, answer.caveats);
//
// Numbers are those of JSON.parse: whole numbers beyond 2^53 are rounded.

const ATTEMPTS = 6;
const AGAIN = new Set([500, 502, 503, 504]); // what a server or a proxy says when it does not know
const LINE = "ledger-line", HEAD = "ledger-head", SEEN = "ledger-seen";

/** An error that the server explains, or that says why there is no answer. */
export class SourdineError extends Error {
  /**
   * @param {string} message - What a person reads.
   * @param {object} facts - `error` (the class in Python), `name` (of the parameter), `must`,
   *   `got`, `hint`, `tries` (values to type instead) and the HTTP `status`, where known.
   */
  constructor(message, facts = {}) {
    super(message);
    this.name = "SourdineError";
    this.facts = facts;
    this.status = facts.status ?? null;
  }
}

/** A server that answers questions about data that it holds. */
export class Server {
  #token; #fetch; #pause; #patience; #seen = new Map();

  /**
   * @param {string} url - Where it is; https, unless it is this very machine.
   * @param {string} token - Yours: `sourdine serve token` and the server's pages make one.
   * @param {object} options - `fetch`, the function that sends requests; `pause`, milliseconds
   *   before the second attempt; `patience`, milliseconds to wait for an answer.
   */
  constructor(url, token, { fetch = globalThis.fetch, pause = 100, patience = 300_000 } = {}) {
    const { protocol, hostname } = new URL(url);
    const here = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
    if (protocol !== "https:" && !(protocol === "http:" && here)) {
      throw new SourdineError("url must begin with https://, unless the server is on this machine.");
    }
    if (!/^[\x21-\x7e]+$/.test(token ?? "")) {
      throw new SourdineError("token must be a token issued by the server. Create a new one there.");
    }
    this.url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#fetch = fetch;
    this.#pause = pause;
    this.#patience = patience;
  }

  /** Return the data sets that you may see: names, totals, what was spent, your grants. */
  datasets() {
    return this.request("GET", "/datasets");
  }

  /** Return the questions about a data set. */
  session(name) {
    return new Session(this, name);
  }

  /** Send a request until there is an answer that says something; return its JSON. */
  async request(method, path, { dataset = null, body, key } = {}) {
    const address = dataset === null ? path : `/datasets/${encodeURIComponent(dataset)}${path}`;
    const seen = this.#seen.get(dataset);
    const headers = { authorization: `Bearer ${this.#token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (key !== undefined) headers["idempotency-key"] = key;
    if (seen) headers[LINE] = String(seen.line);
    const answer = await this.#sent(`${this.url}/api/v1${address}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw refused(answer);
    if (dataset !== null && answer.headers.get(LINE)) this.#look(dataset, seen, answer.headers);
    return answer.json;
  }

  async #sent(url, request) {
    let broken = "";
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt) await new Promise((go) => setTimeout(go, this.#pause * 2 ** (attempt - 1)));
      try {
        const signal = AbortSignal.timeout(this.#patience);
        const found = await this.#fetch(url, { ...request, signal, redirect: "error" });
        if (AGAIN.has(found.status)) {
          broken = `status ${found.status}`;
          continue;
        }
        const text = await found.text(); // a connection may break within the body
        const { ok, status, headers } = found;
        return { ok, status, headers, json: parsed(text) };
      } catch (error) {
        broken = error.name;
      }
    }
    throw new SourdineError(
      `${this.url} could not be reached after ${ATTEMPTS} attempts (${broken}). ` +
        "The request may have been charged: check the history.",
    );
  }

  /** Refuse a ledger that is behind what was seen before the request was sent. */
  #look(dataset, seen, headers) {
    const line = Number(headers.get(LINE));
    if (seen && (line < seen.line || headers.get(SEEN) !== seen.head)) {
      throw new SourdineError(
        `The ledger of ${dataset} does not hold line ${seen.line} as it was seen before. ` +
          "Tell its owner: the missing lines were charged and released.",
      );
    }
    const now = this.#seen.get(dataset); // another request may have seen more in the meantime
    if (!now || line > now.line) this.#seen.set(dataset, { line, head: headers.get(HEAD) });
  }
}

/** Questions about a data set; its total is shared with everybody who may ask. */
export class Session {
  constructor(server, name) {
    this.server = server;
    this.name = name;
  }

  /** Return what is public: columns, bounds, keys, the total, what was spent, your grant. */
  facts() {
    return this.server.request("GET", "", { dataset: this.name });
  }

  /** Return what is left of the total, and of your grant if you have one. */
  async remaining() {
    const { remaining, grant } = await this.facts();
    return { total: remaining, grant: grant?.remaining ?? null };
  }

  /** Return what an epsilon buys or an error costs; spends nothing. */
  plan(statistic, parameters = {}) {
    return this.#post("/plan", { statistic, ...parameters });
  }

  /** Return whether a question would be admitted now; charges nothing. */
  canRelease(statistic, parameters = {}) {
    return this.#post("/can-release", { statistic, ...parameters });
  }

  /**
   * Charge a question once and return its answer: value, interval, cost, mechanism, caveats.
   *
   * @param {string} statistic - Any, such as "mean", "quantiles", "describe" or "table".
   * @param {object} parameters - As in Python: column, epsilon or error, by, keys and so on.
   */
  async release(statistic, parameters = {}) {
    return (await this.#released({ statistic, ...parameters }))[0];
  }

  /** Charge several questions at once and return their answers, or refuse all of them. */
  releaseAll(questions) {
    return this.#released({ questions });
  }

  /** Return the charges of everybody, the first one first; answers are there to your own. */
  async history() {
    const most = 1000, found = [];
    for (;;) {
      const path = `/releases?after=${found.length}&most=${most}`;
      const { charges } = await this.server.request("GET", path, { dataset: this.name });
      found.push(...charges);
      if (charges.length < most) return found;
    }
  }

  async #released(body) {
    const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto; // of Node 18
    const found = await this.#post("/releases", body, crypto.randomUUID());
    if (found.state === "answered") return found.answers;
    throw new SourdineError(
      "The answer could not be drawn. Its cost was charged before any data were read.",
    );
  }

  #post(path, body, key) {
    return this.server.request("POST", path, { dataset: this.name, body, key });
  }
}

function parsed(text) {
  try { return JSON.parse(text); } catch { return null; }
}

function refused({ json, status }) {
  return new SourdineError(
    json?.detail ?? `The server refused the request, status ${status}.`,
    { ...json, status },
  );
}
