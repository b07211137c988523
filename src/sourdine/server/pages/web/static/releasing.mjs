// A request that spends: its key is made once for each press and kept until it is answered.
// Over a connection that breaks, or after the page was loaded again, the same request is sent under
// the same key, which the server charges once.

import { Refused, call } from "./common.mjs";

const TRIES = 7;
const wait = (ms) => new Promise((wake) => setTimeout(wake, ms));
const who = () => document.querySelector("[data-person]").dataset.person;
const place = (path) => JSON.stringify(["pending", who(), path]); // nobody sends another's
const releases = (name) => `/datasets/${encodeURIComponent(name)}/releases`;
const here = new Map(); // what is too long for the browser's store, while the page stays

/** Return what was pressed and not yet answered: {key, body}; null if there is none. */
export function pendingAt(path) {
  return here.get(path) ?? JSON.parse(sessionStorage.getItem(place(path)) ?? "null");
}

function keep(path, kept) {
  try {
    sessionStorage.setItem(place(path), JSON.stringify(kept));
  } catch {
    here.set(path, kept);
  }
}

function forget(path) {
  sessionStorage.removeItem(place(path));
  here.delete(path);
}

export const pending = (name) => pendingAt(releases(name));
export const release = (name, body, say) => send(releases(name), body, say);

/** Send a request until it is answered or refused; say what happens meanwhile. */
export async function send(path, body, say) {
  const kept = pendingAt(path) ?? { key: crypto.randomUUID?.() ?? random(), body };
  keep(path, kept);
  for (let tries = 1; ; tries++) {
    try {
      const found = await call(path, kept.body, { key: kept.key });
      forget(path);
      say("");
      return found;
    } catch (error) {
      const final = error instanceof Refused && error.status < 500;
      if (final) forget(path);
      if (final || tries === TRIES) throw error;
      say(`The connection was lost. Retrying; the request is charged only once (${tries}).`);
      await wait(Math.min(250 * 2 ** tries, 8000));
    }
  }
}

/** 128 random bits, where the page is not on a secure origin. */
function random() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((x) => x.toString(16).padStart(2, "0")).join("");
}
