// node memories.mjs DEVICE: reads {first, second}; answers the first form, then each of the others in a copy of that browser,
// and writes for each whether it was answered from the memory of the first.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { drawRound } = await import(new URL("rounds.mjs", pathToFileURL(process.argv[2])));
const { first, second } = JSON.parse(readFileSync(0, "utf8"));

function browser(kept) {
  const all = new Map(kept);
  globalThis.localStorage = { getItem: (key) => all.get(key) ?? null, setItem: (key, value) => all.set(key, value) };
  return all;
}

const before = browser([]);
drawRound(first, { q: "true" });
console.log(JSON.stringify(second.map((form) => {
  const after = browser(before);
  drawRound(form, { q: "true" });
  return after.size === 1;
})));
