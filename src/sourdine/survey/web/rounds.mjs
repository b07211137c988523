// A survey of several rounds: a memory that stays on the device, and reports that are drawn from it.
//
// The memory is drawn before the first answer and depends on none: a hash, a permanent response to
// each hashed answer, and a category for absent answers, for each column in order; then, if one is
// sampled, the column. A round's report tells the permanent response, or any value.
import { add, base64, categories, Chance, code, count, demand, Draw, epsilonOf, hashed, METHODS, read, refuse, sampled, slot } from "./device.mjs";

const SECRET = "never send this: with it, what you sent says what you answered";

/** `epsilon` is what all rounds cost: once for each of the `values`, `permanent`; one costs `once`. */
METHODS.memoised = ({ epsilon, k, values, digits, permanent, once, absent }) => {
  const g = count(values, 2, 2 ** 12), d = count(digits, 0, 24), [n, m] = epsilonOf(epsilon);
  if (absent !== "kept" && absent !== "category") refuse("what becomes of an absent answer is not known here");
  if (d === 0) count(categories(k), g, g);
  else count(categories(k), 2, count(g ** (d + 1), 4, 2 ** 24) / g);
  const [p, q] = epsilonOf(permanent), [r, s] = epsilonOf(once), lasting = METHODS.response({ epsilon: permanent, k: g });
  if (BigInt(g) * p * m > n * q || r * q >= p * s) refuse("a column costs more than the form says");
  const one = r * q, all = p * s, others = g - 1; // both over q s
  const told = new Chance([[1, 0], [-1, one], [others, all], [-others, one + all]], [[1, 0], [others, one], [-1, all], [-others, one + all]], q * s);
  const slotOf = (key, x) => (d === 0 ? x : hashed(key, x, g, d));
  return {
    top: absent === "kept" ? k : k - 1,

    remember: (by, hash = by.below(g ** d)) => ({ hash, kept: Array.from({ length: g }, (_, v) => lasting.draw(v, by)), absent: by.below(k) }),

    again(memory, x, by) {
      const anyone = by.below(g), stays = memory.kept[slotOf(memory.hash, x < k ? x : memory.absent)];
      return memory.hash * g + (by.coin(told) ? stays : anyone);
    },

    /** Throw unless a memory is as `remember` draws it. */
    check({ hash, kept, absent: taken }) {
      if (kept.length !== g) refuse("the memory of this device is damaged");
      for (const [value, below] of [[hash, g ** d], [taken, k], ...kept.map((value) => [value, g])]) count(value, 0, below - 1);
    },
  };
};

/** A new memory, as sourdine.local.rounds.Respondent writes it. */
export function remember(form, by, parts = read(form)) {
  const columns = Object.fromEntries(form.columns.map(({ name }, i) => [name, parts[i].remember(by)]));
  const asked = form.method === "sample" ? form.columns[sampled(form, by)].name : null;
  return { sourdine: 1, secret: SECRET, schema: form.schema, answered: 0, asked, columns };
}

/** The record of a round, and the memory that has answered it. */
export function again(form, memory, answers, by, parts = read(form)) {
  demand(form, answers);
  if (memory.sourdine !== 1 || memory.schema !== form.schema) refuse("the memory of this device is of another survey");
  if (count(form.round, 1, form.rounds) <= memory.answered) refuse("this round, or a later one, was answered before");
  form.columns.forEach(({ name }, i) => parts[i].check(memory.columns[name]));
  const report = (column, i) => parts[i].again(memory.columns[column.name], slot(column, code(column, answers[column.name]), parts[i].top), by);
  const c = form.columns.findIndex(({ name }) => name === memory.asked), head = { v: 1, s: form.mark };
  if (c < 0 !== (form.method === "split")) refuse("the memory of this device is damaged");
  const a = c < 0 ? form.columns.map(report) : [report(form.columns[c], c)], i = base64(by.source.bytes(16));
  return [JSON.stringify(c < 0 ? { ...head, i, a } : { ...head, i, c, a }), { ...memory, answered: form.round }];
}

/** The record of this round from the memory of this browser, which is kept before anything is drawn from it. */
// The memory is that of the schema, not of a name: on one server the rounds are surveys of different names. It is that of
// the chances it was drawn with, too: a form that names the schema of another survey draws its own.
export function drawRound(form, answers) {
  const drawn = form.columns.map(({ name, k, values, digits, permanent }) => [name, k, values, digits, permanent]);
  const key = `sourdine memory ${form.schema} ${JSON.stringify(drawn)}`, known = localStorage.getItem(key), by = new Draw(), parts = read(form);
  const memory = known ? JSON.parse(known) : remember(form, by, parts);
  localStorage.setItem(key, JSON.stringify(memory));
  const [line, later] = again(form, JSON.parse(localStorage.getItem(key)), answers, by, parts);
  localStorage.setItem(key, JSON.stringify(later));
  return line;
}

/** What the page says of rounds: how sure one can become from this one, and from all if answers stay. */
export function roundsInWords(form, sure) {
  const larger = ([a, b], [c, d]) => (a * d > c * b ? [a, b] : [c, d]);
  const all = (key) => form.columns.map((column) => epsilonOf(column[key])).reduce(form.method === "sample" ? larger : add);
  return { round: form.round, rounds: form.rounds, once: sure(all("once").join("/")), stays: sure(all("permanent").join("/")) };
}
