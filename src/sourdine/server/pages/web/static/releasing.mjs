// A request that spends: its key is made once for each press and kept until it is answered.
// Over a connection that breaks, or after the page was loaded again, the same request is sent under
// the same key, which the server charges once.

import { $, Refused, call } from "./common.mjs";

const TRIES = 7;
const wait = (ms) => new Promise((wake) => setTimeout(wake, ms));
const place = (name) => JSON.stringify(["pending", $("desk").dataset.person, name]); // nobody sends another's

/** Return what was pressed and not yet answered: {key, body}; null if there is none. */
export function pending(name) {
  return JSON.parse(sessionStorage.getItem(place(name)) ?? "null");
}

/** Send a request until it is answered or refused; say what happens meanwhile. */
export async function release(name, body, say) {
  const known = pending(name);
  const kept = known ?? { key: crypto.randomUUID?.() ?? random(), body };
  sessionStorage.setItem(place(name), JSON.stringify(kept));
  for (let tries = 1; ; tries++) {
    try {
      const found = await call(`/datasets/${encodeURIComponent(name)}/releases`, kept.body, { key: kept.key });
      sessionStorage.removeItem(place(name));
      say("");
      return found;
    } catch (error) {
      const final = error instanceof Refused && error.status < 500;
      if (final) sessionStorage.removeItem(place(name));
      if (final || tries === TRIES) throw error;
      say(`The connection broke. Asking again under the same key: it is charged once (${tries}).`);
      await wait(Math.min(250 * 2 ** tries, 8000));
    }
  }
}

/** 128 random bits, where the page is not on a secure origin. */
function random() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((x) => x.toString(16).padStart(2, "0")).join("");
}
