// A person's answers, randomised on their own device. No build step, no dependency; no float decides.
//
// A form holds epsilon as a fraction, and whole numbers. Every chance is computed here from
// epsilon, by intervals of BigInts, and every answer has a code that its method knows: a form can
// make a survey useless, but its records cost no more than the epsilon that it shows, or `read`
// refuses it.
//
// Where bytes go (the Python reference, tests/survey_device.py, takes the same ones):
//   find   8 bytes, little endian, are the first 64 bits of a uniform W; 8 more whenever W is
//          compared with a chance and all its bits so far leave that open
//   below  as few bytes as hold k - 1, little endian, their top bits; again if k or more
//   record the column (if one is sampled), the columns in order, then 16 bytes of id

export const refuse = (why) => { throw new RangeError(why); };

// ---- chances: sums of c exp(-n/m) over each other, to any number of bits -------------------------

const bitLength = (n) => (n === 0n ? 0 : n.toString(2).length);

/** Integers around exp(-n/m) 2^p: the series of exp(-n/m/2^k), squared k times. */
export function expNeg(n, m, p) {
  if (n === 0n) return [1n << BigInt(p), 1n << BigInt(p)];
  if (n > m * BigInt(p + 1)) return [0n, 1n];
  const k = Math.max(0, bitLength(n) - bitLength(m) + 7 + (Math.floor(Math.sqrt(p)) >> 1));
  const g = BigInt(p + k + 40), cut = BigInt(k + 40);
  const x = (n << g) / (m << BigInt(k));
  let lo = series(x + 1n, g)[0], hi = series(x, g)[1];
  for (let i = 0; i < k; i++) [lo, hi] = [(lo * lo) >> g, ((hi * hi) >> g) + 1n];
  return [(lo < 0n ? 0n : lo) >> cut, (hi >> cut) + 1n];
}

function series(x, g) {
  let lo = 1n << g, hi = lo, termLo = lo, termHi = lo;
  for (let i = 1n; termHi > 2n; i++) {
    termLo = ((termLo * x) >> g) / i;
    termHi = (((termHi * x) >> g) + 1n) / i + 1n;
    [lo, hi] = i & 1n ? [lo - termHi, hi - termLo] : [lo + termLo, hi + termHi];
  }
  return [lo - 4n, hi + 4n];
}

/** A real: the sum of c exp(-n/m) over the terms [c, n] of `top`, over that of `bottom`. */
export class Chance {
  constructor(top, bottom, m = 1n) {
    const whole = (terms) => terms.map(([c, n]) => [BigInt(c), BigInt(n)]);
    Object.assign(this, { top: whole(top), bottom: whole(bottom), m: BigInt(m), known: new Map() });
  }

  /** Return the floor and the ceiling of the chance times 2^bits. */
  bounds(bits) {
    for (let extra = 32; !this.known.has(bits); extra *= 2) {
      if (extra > 2 ** 12) refuse("a chance of the form cannot be told from another");
      const [a, b] = this.sum(this.top, bits + extra), [c, d] = this.sum(this.bottom, bits + extra);
      if (c <= 0n) continue;
      const lo = ((a < 0n ? 0n : a) << BigInt(bits)) / d, hi = ((b << BigInt(bits)) + c - 1n) / c;
      if (hi - lo <= 1n) this.known.set(bits, [lo, hi]);
    }
    return this.known.get(bits);
  }

  sum(terms, p) {
    let lo = 0n, hi = 0n;
    for (const [c, n] of terms) {
      const [least, most] = expNeg(n, this.m, p);
      [lo, hi] = c < 0n ? [lo + c * most, hi + c * least] : [lo + c * least, hi + c * most];
    }
    return [lo, hi];
  }
}

/** The chance of `weight` things of weight exp(-n/m) beside `other` things of weight 1. */
const share = (weight, other, [n, m]) => new Chance([[weight, n]], [[other, 0], [weight, n]], m);
const HALF = new Chance([[1, 0]], [[2, 0]]);

// ---- draws -------------------------------------------------------------------------------------

/** The cryptographic generator of the browser, or of Node. */
export const SYSTEM = { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) };

const whole = (bytes) => bytes.reduceRight((n, byte) => (n << 8n) | BigInt(byte), 0n);

/** Exact draws over random bytes. */
export class Draw {
  constructor(source = SYSTEM) {
    this.source = source;
  }

  /** Draw a uniform W, and return the least y of 0 to last with W < cumulative(y). */
  find(last, cumulative) {
    let word = whole(this.source.bytes(8)), bits = 64, low = -1, high = last;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2), chance = cumulative(middle);
      for (; word >= chance.bounds(bits)[0] && word < chance.bounds(bits)[1]; bits += 64) word = (word << 64n) | whole(this.source.bytes(8));
      if (word < chance.bounds(bits)[0]) high = middle;
      else low = middle;
    }
    return high;
  }

  coin(chance) {
    return this.find(1, () => chance) === 0;
  }

  below(k) {
    const bits = bitLength(BigInt(k) - 1n), count = Math.ceil(bits / 8);
    for (;;) {
      const value = whole(this.source.bytes(count)) >> BigInt(8 * count - bits);
      if (value < BigInt(k)) return Number(value);
    }
  }
}

// ---- randomisers: a code from 0 to top, and a report ----------------------------------------------

/** "3/2" as [3n, 2n]. */
export function rational(text) {
  if (typeof text !== "string" || !/^-?[0-9]{1,400}(\/[1-9][0-9]{0,400})?$/.test(text)) refuse("a number of the form is no fraction");
  return text.split("/").concat("1").slice(0, 2).map(BigInt);
}

export function epsilonOf(text) {
  const [n, m] = rational(text);
  if (n <= 0n || n > 8n * m) refuse("epsilon must be above 0 and at most 8");
  return [n, m];
}

export function count(value, least, most) {
  if (!Number.isSafeInteger(value) || value < least || value > most) refuse("a number of the form is out of range");
  return value;
}

export const categories = (k) => count(k, 2, 2 ** 30 - 1);
const ticks = (last) => count(last, 1, 2 ** 40);
const cells = (n) => count(n, 1, 2 ** 11);
const bit = (v) => 1 << (v & 7);

export const METHODS = {
  response({ epsilon, k }) {
    const [n, m] = epsilonOf(epsilon), keep = new Chance([[1, 0], [-1, n]], [[1, 0], [categories(k) - 1, n]], m);
    const draw = (x, by, anyone = by.below(k)) => (by.coin(keep) ? x : anyone);
    return { top: k - 1, draw };
  },

  unary: ({ epsilon, k }) => rows(k, share(1, 1, epsilonOf(epsilon)), HALF),

  symmetric({ epsilon, k }) {
    const [n, m] = epsilonOf(epsilon), stray = share(1, 1, [n, 2n * m]);
    return rows(k, stray, stray);
  },

  hadamard({ epsilon, k }) {
    const miss = share(1, 1, epsilonOf(epsilon)), words = 2 ** bitLength(BigInt(categories(k)));
    return {
      top: k - 1,
      draw(x, by) {
        const odd = by.coin(miss), row = x + 1, word = by.below(words);
        return ones(row & word) % 2 === Number(odd) ? word : word ^ (row & -row);
      },
    };
  },

  hashing({ epsilon, k, values, digits }) {
    const g = count(values, 2, 2 ** 12), d = count(digits, 1, 24), response = METHODS.response({ epsilon, k: g });
    count(categories(k), 2, count(g ** (d + 1), 4, 2 ** 24) / g);
    return { top: k - 1, draw: (x, by, key = by.below(g ** d)) => key * g + response.draw(hashed(key, x, g, d), by) };
  },

  subset({ epsilon, k, size }) {
    const w = count(size, 1, count(k, 2, 2 ** 16) - 1), [n, m] = epsilonOf(epsilon);
    const putIn = new Chance([[w, 0], [-w, n]], [[w, 0], [k - w, n]], m);
    return {
      top: k - 1,
      draw(x, by) {
        const row = new Uint8Array(Math.ceil(k / 8)), special = by.coin(putIn) ? x : -1;
        let lacking = w, left = k;
        if (special >= 0) [row[x >> 3], lacking, left] = [bit(x), w - 1, k - 1];
        for (let v = 0; v < k; v++) {
          if (v === special || by.below(left--) >= lacking) continue;
          row[v >> 3] |= bit(v);
          lacking--;
        }
        return row;
      },
    };
  },

  /** A set of choices as bits; up to `flips` of them are likely to be flipped, more are not. */
  flipped({ epsilon, k, flips }) {
    const t = count(flips, 0, count(k, 2, 16) - 1);
    let few = 0;
    for (let a = 0; a <= t; a++) few += choose(k, a);
    const many = 2 ** k - few, rare = share(many, few, epsilonOf(epsilon));
    return {
      top: 2 ** k - 1,
      draw(x, by) {
        const tossed = by.coin(rare), beyond = few + by.below(many), within = by.below(few);
        return x ^ setAt(tossed ? beyond : within, k);
      },
    };
  },

  window({ epsilon, last, slide, width }) {
    const m = ticks(last), S = cells(slide), w = cells(width), outside = share(S, w, epsilonOf(epsilon));
    return {
      top: m,
      draw(x, by) {
        const start = S % m === 0 ? x * (S / m) : Math.floor((x * S + by.below(m)) / m);
        return nearOrFar(start, w, S, outside, by);
      },
    };
  },

  duchi({ epsilon, last }) {
    const flip = share(1, 1, epsilonOf(epsilon));
    const draw = (x, by) => Number(by.below(last) < x !== by.coin(flip));
    return { top: ticks(last), draw };
  },

  hybrid(part) {
    const [n, m] = epsilonOf(part.epsilon), half = new Chance([[1, n]], [[1, 0]], 2n * m);
    const one = METHODS.duchi(part), other = METHODS.window(part);
    const draw = (x, by, drawn = one.draw(x, by), cell = other.draw(x, by)) => (by.coin(half) ? drawn : cell + 2);
    return { top: one.top, draw };
  },

  /** The chance of y falls as exp(-|y - x| epsilon / last); drawn by its inverse law. */
  laplace({ epsilon, last }) {
    const [n, d] = epsilonOf(epsilon), m = d * BigInt(ticks(last));
    const power = (c, k) => [c, n * BigInt(k)];
    return {
      top: last,
      draw(x, by) {
        const left = power(-1, x + 1), all = [[1, 0], power(1, 1), left, power(-1, last - x + 1)];
        const upTo = (y) => (y <= x ? [power(1, x - y), left] : [[1, 0], power(1, 1), left, power(-1, y - x + 1)]);
        return by.find(last, (y) => new Chance(upTo(y), all, m));
      },
    };
  },

  staircase({ epsilon, last, reach }) {
    const r = count(reach, 1, (ticks(last) + 1) / 2), width = 2 * r - 1, others = last + 1 - width;
    const far = share(count(others, 1, last), width, epsilonOf(epsilon));
    return { top: last, draw: (x, by) => nearOrFar(Math.min(Math.max(x - r + 1, 0), others), width, others, far, by) };
  },

  /** Near is cut off by the ends, so its level must be so far below epsilon that all costs epsilon. */
  truncated({ epsilon, last, reach, level }) {
    const r = count(reach, 1, (ticks(last) + 1) / 2), size = last + 1, [n, m] = epsilonOf(epsilon), [l, d] = epsilonOf(level);
    const e = n * d, h = l * m; // both over m d
    const middle = [[2 * r - 1, e], [size - 2 * r + 1, e + h]], end = [[r, h], [size - r, 2n * h]];
    if (new Chance(middle, end, m * d).bounds(64)[1] > 1n << 64n) refuse("a column costs more than the form says");
    const far = new Map(); // by the width of near
    const outside = (width) => far.get(width) ?? far.set(width, share(size - width, width, [l, d])).get(width);
    return {
      top: last,
      draw(x, by) {
        const first = Math.max(x - r + 1, 0), width = Math.min(x + r, size) - first;
        return nearOrFar(first, width, size - width, outside(width), by);
      },
    };
  },

  /** A design: a tick goes to one of its two nodes, and an output is drawn by the node's weights. */
  design({ epsilon, last, channel }) {
    const m = ticks(last), { nodes, outputs } = outputsOf(channel, epsilonOf(epsilon)), steps = count(nodes, 2, m + 1) - 1, known = new Map();
    const upTo = (node) => known.get(node) ?? known.set(node, runningSums(outputs, node)).get(node);
    return {
      top: m,
      draw(x, by) {
        const sums = upTo(steps === m ? x : Math.floor((x * steps + by.below(m)) / m));
        return by.find(outputs.length, (y) => new Chance([[sums[y], 0]], [[UNITS, 0]]));
      },
    };
  },
};

/** Draw a cell of a window, or with the chance `far` one of the others. */
function nearOrFar(first, width, others, far, by) {
  const cell = by.below(others), near = by.below(width);
  return by.coin(far) ? cell + (cell >= first ? width : 0) : first + near;
}

const UNITS = 1n << 40n;

/** The outputs of a design from its text: their subsets and weights in units of 2^-40. What is left of each node is one more output. */
function outputsOf(text, [n, m]) {
  const b = new Chance([[1, n]], [[1, 0]], m).bounds(80)[1]; // at least exp(-epsilon) 2^80
  const [head, ...pairs] = typeof text === "string" ? text.split(" ") : [];
  const readable = /^[1-9][0-9]{0,2}$/.test(head) && pairs.length && pairs.length < 2 ** 12 && pairs.every((pair) => /^[0-9a-f]{1,64}:[0-9a-f]{1,8}$/.test(pair));
  if (!readable) refuse("a design of the form cannot be read");
  const nodes = count(Number(head), 2, 256), outputs = [];
  for (const pair of pairs) {
    const [subset, part] = pair.split(":").map((digits) => BigInt("0x" + digits)), low = part << 8n;
    if (low === 0n || subset === 0n || subset >= (1n << BigInt(nodes)) - 1n) refuse("a design of the form cannot be read");
    const mirror = BigInt("0b" + [...subset.toString(2).padStart(nodes, "0")].reverse().join(""));
    for (const one of mirror === subset ? [subset] : [subset, mirror]) outputs.push({ subset: one, low, high: (low << 80n) / b });
  }
  const rests = Array.from({ length: nodes }, (_, node) => UNITS - runningSums(outputs, node).at(-1));
  const [least, most] = rests.reduce(([lo, hi], one) => [one < lo ? one : lo, one > hi ? one : hi], [UNITS, 0n]);
  if (least < 1n || most * b > least << 80n) refuse("a column costs more than the form says");
  return { nodes, outputs };
}

function runningSums(outputs, node) {
  let sum = 0n;
  return outputs.map(({ subset, low, high }) => (sum += (subset >> BigInt(node)) & 1n ? high : low));
}

function rows(k, stray, miss) {
  const width = Math.ceil(count(k, 2, 2 ** 16) / 8);
  return {
    top: k - 1,
    draw(x, by) {
      const row = new Uint8Array(width);
      for (let v = 0; v < k; v++) if (v === x ? !by.coin(miss) : by.coin(stray)) row[v >> 3] |= bit(v);
      return row;
    },
  };
}

/** The hash of a category: both in d digits of base g, multiplied digit by digit. */
export function hashed(key, x, g, d) {
  let total = 0;
  for (let i = 0, a = key, b = x; i < d; i++, a = Math.floor(a / g), b = Math.floor(b / g)) total += (a % g) * (b % g);
  return total % g;
}

const ones = (n) => (n ? 1 + ones(n & (n - 1)) : 0);

function choose(n, a) {
  let ways = 1;
  for (let i = 1; i <= a; i++) ways = (ways * (n - a + i)) / i;
  return a > n ? 0 : ways;
}

/** The set at a place among all of k choices, small ones first, of one size in the order of numbers. */
function setAt(place, k) {
  let size = 0, set = 0;
  while (place >= choose(k, size)) place -= choose(k, size++);
  for (let v = k - 1; v >= 0; v--) {
    if (size === 0 || place < choose(v, size)) continue;
    place -= choose(v, size--);
    set |= 1 << v;
  }
  return set;
}

/** The randomiser of a column; a code above the last answer, where there is one, is an absent answer. */
export function randomiser(part) {
  if (!Object.keys(METHODS).includes(part.method)) refuse("a method of the form is not known here");
  const value = METHODS[part.method](part), filled = (x, by) => (x > value.top ? by.below(value.top + 1) : x);
  if (["category", "kept", "nothing"].includes(part.absent)) return value;
  if (part.absent === "any") return { top: value.top + 1, draw: (x, by) => value.draw(filled(x, by), by) };
  if (part.absent !== "paid") refuse("what becomes of an absent answer is not known here");
  const flag = METHODS.response({ epsilon: part.flag, k: 2 }), none = count(part.none, 2, Number.MAX_SAFE_INTEGER);
  return {
    top: value.top + 1,
    draw(x, by) {
      const absent = flag.draw(Number(x > value.top), by), report = value.draw(filled(x, by), by);
      return absent === 1 ? none : report;
    },
  };
}

// ---- the form and the record -------------------------------------------------------------------

export const add = ([a, b], [c, d]) => [a * d + c * b, b * d];

/** How many codes the answers to a column have: from 0, as `code` counts them. */
function codes({ kind, answers, lower, step, last }) {
  if (kind === "number") {
    if (rational(lower) && rational(step)[0] <= 0n) refuse("a number of the form is out of range");
    return ticks(last) + 1;
  }
  if (!["flag", "choice", "choices"].includes(kind) || !Array.isArray(answers)) refuse("a kind of question is not known here");
  return kind === "choices" ? 2 ** answers.length : answers.length;
}

/** The randomiser of a column, whose codes are those of its answers, and perhaps one more of an absent answer. */
function fitting(column) {
  const part = randomiser(column), more = part.top + 1 - codes(column);
  if (more !== 1 && (more !== 0 || !["category", "nothing"].includes(column.absent))) refuse("the answers to a question do not fit its method");
  return part;
}

/** Return the randomisers of a form, or throw if they cost more than it says. */
export function read(form) {
  if (form.v !== 1) refuse("the form is of a version that is not known here");
  if (form.method !== "split" && form.method !== "sample") refuse("a method of the form is not known here");
  if (!Array.isArray(form.columns) || !form.columns.length) refuse("the form asks nothing");
  const rounds = form.rounds !== undefined && count(form.round, 1, count(form.rounds, 1, 2 ** 40)) > 0;
  if (form.columns.some(({ method }) => rounds !== (method === "memoised"))) refuse("a method of the form is not one of its rounds");
  if (form.method === "sample") weights(form);
  const parts = form.columns.map(fitting), [n, m] = epsilonOf(form.epsilon);
  const costs = form.columns.map((c) => (c.absent === "paid" ? add(epsilonOf(c.epsilon), epsilonOf(c.flag)) : epsilonOf(c.epsilon)));
  const spent = form.method === "sample" ? costs : [costs.reduce(add)];
  if (spent.some(([a, b]) => a * m > n * b)) refuse("the columns cost more than the form says");
  return parts;
}

/** The tick nearest to a decimal number, halves going up; null for what is no number. */
export function tick(text, { lower, step, last }) {
  const found = /^([-+]?)([0-9]{1,40})(?:[.,]([0-9]{0,40}))?$/.exec(String(text).trim());
  if (!found) return null;
  const places = found[3] ?? "", scale = 10n ** BigInt(places.length), [l, a] = rational(lower), [s, b] = rational(step);
  const size = BigInt(found[2] + places), x = found[1] === "-" ? -size : size;
  const above = 2n * b * (x * a - l * scale) + scale * a * s, unit = 2n * scale * a * s;
  const near = above < 0n ? 0n : above / unit;
  return near > BigInt(last) ? last : Number(near);
}

/** The code of an answer to a column; null if there is none. */
export function code(column, answer) {
  if (answer === null || answer === undefined || answer === "") return null;
  const found = column.kind === "number" ? [tick(answer, column)] : [].concat(answer).map((one) => column.answers.indexOf(String(one)));
  if (found.some((one) => one === null || one < 0)) refuse(`an answer cannot be read: ${column.name}`);
  return column.kind === "choices" ? found.reduce((set, v) => set | (1 << v), 0) : found[0];
}

/** Whether a question needs an answer. */
export const needed = ({ absent }) => absent === "any" || absent === "kept";

/** Throw if an answer is absent that the form needs: before anything is drawn, whichever is sent. */
export function demand(form, answers) {
  for (const column of form.columns) if (needed(column) && code(column, answers[column.name]) === null) refuse(`an answer is needed: ${column.name}`);
}

/** One record, the line to be sent; answers by the name of their column. */
export function record(form, answers, by = new Draw(), parts = read(form)) {
  demand(form, answers);
  const head = { v: 1, s: form.mark };
  const report = (i) => shown(parts[i].draw(slot(form.columns[i], code(form.columns[i], answers[form.columns[i].name]), parts[i].top), by));
  if (form.method === "split") {
    const a = parts.map((_, i) => report(i));
    return JSON.stringify({ ...head, i: base64(by.source.bytes(16)), a });
  }
  const c = sampled(form, by), a = [report(c)];
  return JSON.stringify({ ...head, i: base64(by.source.bytes(16)), c, a });
}

/** The place of the one column that a person reports. */
export function sampled(form, by) {
  let left = by.below(weights(form).reduce((x, y) => x + y));
  return weights(form).findIndex((weight) => (left -= weight) < 0);
}

const weights = (form) => form.columns.map(({ weight }) => count(weight, 1, 2 ** 40));

/** The code that is drawn from; never one that the method does not know. */
export const slot = (column, found, top) => count(found ?? (column.absent === "nothing" ? 0 : top), 0, top);
const shown = (report) => (report instanceof Uint8Array ? base64(report) : report);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export function base64(bytes) {
  let text = "", held = 0, bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; held &= (1 << bits) - 1) text += LETTERS[held >> (bits -= 6)];
  }
  return bits ? text + LETTERS[held << (6 - bits)] : text;
}

// ---- in Node: node device.mjs PAGE < answers, a JSON object in each line --------------------------

if (globalThis.process?.argv?.[1]?.endsWith("device.mjs")) {
  globalThis.crypto ??= (await import("node:crypto")).webcrypto;
  const { readFileSync } = await import("node:fs"), page = readFileSync(process.argv[2], "utf8");
  const form = JSON.parse(/<script type="application\/json" id="form">(.*?)<\/script>/s.exec(page)?.[1] ?? page);
  const by = new Draw(), parts = read(form);
  for (const line of readFileSync(0, "utf8").split("\n")) if (line.trim()) console.log(record(form, JSON.parse(line), by, parts));
}
