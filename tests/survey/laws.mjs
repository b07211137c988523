// node laws.mjs DEVICE: reads parts, walks every path of each randomiser, and writes the laws of all codes.
// A path's chance is a product of 1/k and of differences F - G, each the key of a chance, or 1 or 0.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const device = pathToFileURL(process.argv[2]), { randomiser } = await import(device);
await import(new URL("rounds.mjs", device));

class Walk {
  constructor(script) {
    Object.assign(this, { script, at: 0, ways: [], factors: [] });
  }

  next(ways) {
    this.ways.push(ways);
    return this.script[this.at++] ?? 0;
  }

  find(last, cumulative) {
    const y = this.next(last + 1);
    this.factors.push([y === last ? "1" : key(cumulative(y)), y === 0 ? "0" : key(cumulative(y - 1))]);
    return y;
  }

  coin(chance) {
    return this.find(1, () => chance) === 0;
  }

  below(k) {
    this.factors.push([`1/${k}`, "0"]);
    return this.next(k);
  }
}

const key = ({ top, bottom, m }) => JSON.stringify([top, bottom, m], (_, v) => (typeof v === "bigint" ? String(v) : v));
const named = (y) => (y instanceof Uint8Array ? String(y.reduceRight((n, b) => (n << 8n) | BigInt(b), 0n)) : String(y));

function law(one, x) {
  const found = {};
  for (let script = [], done = false; !done; ) {
    const walk = new Walk(script), y = named(one.draw(x, walk)), path = JSON.stringify(walk.factors.sort());
    found[y] ??= {};
    found[y][path] = (found[y][path] ?? 0) + 1;
    script = walk.ways.map((_, i) => script[i] ?? 0);
    while (script.length && script[script.length - 1] + 1 >= walk.ways[script.length - 1]) script.pop();
    done = script.length === 0;
    if (!done) script[script.length - 1]++;
  }
  return found;
}

/** A new memory and its reports of several rounds; a code holds the answers, a report the hash and all that is told. */
function rounds({ top, remember, again }, { values }, count) {
  const draw = (x, by, memory = remember(by)) => {
    const answers = Array.from({ length: count }, (_, t) => Math.floor(x / (top + 1) ** (count - 1 - t)) % (top + 1));
    return answers.reduce((total, answer) => total * values + (again(memory, answer, by) % values), memory.hash);
  };
  return { top: (top + 1) ** count - 1, draw };
}

const laws = JSON.parse(readFileSync(0, "utf8")).map((part) => {
  const one = part.walked ? rounds(randomiser(part), part, part.walked) : randomiser(part);
  return Array.from({ length: one.top + 1 }, (_, x) => law(one, x));
});
console.log(JSON.stringify(laws));
