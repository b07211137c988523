// node mutations.mjs DEVICE: reads {forms, first, share}, changes every field, and every two fields of a form without rounds (or one
// pair of changes in `share`), and walks the laws of all that the device reads. Writes {tried, read, walked, wide, found}: how many forms were tried, read, walked
// or too wide to walk, and those whose law passes what their page promises, that break, or that never end.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const device = pathToFileURL(process.argv[2]);
const { METHODS, demand, read, record } = await import(device), { remember, again } = await import(new URL("rounds.mjs", device));
const { forms, first, share = 1 } = JSON.parse(readFileSync(0, "utf8"));
const MOST_WAYS = 100, MOST_PATHS = 4_000, MOST_DRAWS = 5_000, SLACK = 1 + 1e-9;

// ---- mutations -----------------------------------------------------------------------------------

const GONE = Symbol("gone");
const OTHER = {
  epsilon: ["1/10", "2", "8"], flag: ["1/10", "8"], level: ["1/10", "8"], permanent: ["1/10", "2", "8"], once: ["1/10", "2", "8"],
  method: [...Object.keys(METHODS), "split", "sample"], absent: ["any", "category", "kept", "nothing", "paid", "free"],
  kind: ["flag", "choice", "choices", "number", "other"], lower: ["-1", "1/3"], step: ["-1", "0", "3"],
};
const KEYS = ["kind", "answers", "lower", "step", "last", "absent", "flag", "none", "weight", "method", "epsilon", "k", "values", "digits", "size", "flips", "slide", "width", "reach", "level", "permanent", "once"];

/** What a field may be changed to; `few` of it where two fields are changed. */
function others(key, value, few) {
  if (key === "answers") return [["0", "1"], ["0", "1", "2"], ["0", "1", "2", "3"], ...(few ? [] : [[], "01", null, GONE, Array.from("0123456789")])];
  if (OTHER[key]) return [...OTHER[key], ...(few ? [] : [1, null, GONE, "1/0"])];
  return [...new Set([0, 1, 2, 3, 4, ...(few ? [] : [value - 1, value + 1, 2 * value, 7, 15, -1, 2.5, 2 ** 31, 2 ** 53, "2", null, GONE])])];
}

function* changes(form, few) {
  const fields = [["epsilon"], ["method"], ["round"], ["rounds"], ...KEYS.map((key) => ["columns", 0, key])];
  for (const path of fields) {
    const key = path[path.length - 1], holder = path.length > 1 ? form.columns[0] : form;
    for (const value of others(key, holder[key], few)) if (value !== holder[key]) yield [path.length > 1, key, value];
  }
}

function changed(form, ...all) {
  const made = { ...form, columns: [{ ...form.columns[0] }, ...form.columns.slice(1)] };
  for (const [inner, key, value] of all) {
    const holder = inner ? made.columns[0] : made;
    if (value === GONE) delete holder[key];
    else holder[key] = value;
  }
  return made;
}

function* mutated(form) {
  yield form;
  for (const one of changes(form, false)) yield changed(form, one);
  const few = form.rounds === undefined ? [...changes(form, true)] : []; // the laws of rounds take long
  for (let i = 0; i < few.length; i++) for (let j = i + 1; j < few.length; j++) if ((i + j) % share === 0 && (few[i][0] !== few[j][0] || few[i][1] !== few[j][1])) yield changed(form, few[i], few[j]);
}

/** A form that remembers what was read of it: what differs elsewhere has the same law. */
function watched(form, seen) {
  const watch = (object, name) => new Proxy(object, {
    get(target, key) {
      if (key !== "columns") seen.set(`${name} ${String(key)}`, JSON.stringify(target[key]));
      return target[key];
    },
  });
  return watch({ ...form, columns: form.columns.map((column, i) => watch(column, String(i))) }, "form");
}

// ---- laws ----------------------------------------------------------------------------------------

class Wide extends Error {}

/** Draws by a script: which way each of them goes; the chance of the path is multiplied up. */
class Walk {
  constructor(script) {
    Object.assign(this, { script, ways: [], chance: 1, source: { bytes: (count) => new Uint8Array(count) } });
  }

  next(ways) {
    if (!(ways > 0) || this.ways.length > MOST_DRAWS) throw new Error("it never ends");
    if (ways > MOST_WAYS) throw new Wide();
    this.ways.push(ways);
    return this.script[this.ways.length - 1] ?? 0;
  }

  find(last, cumulative) {
    const y = this.next(last + 1), at = (i) => (i < 0 ? 0 : i === last ? 1 : near(cumulative(i)));
    this.chance *= at(y) - at(y - 1);
    return y;
  }

  coin(chance) {
    return this.find(1, () => chance) === 0;
  }

  below(k) {
    this.chance /= k;
    return this.next(k);
  }
}

const known = new Map();
function near(chance) {
  const key = [chance.top, chance.bottom, chance.m].join(";");
  if (!known.has(key)) known.set(key, Number(chance.bounds(100)[0]) / 2 ** 100);
  return known.get(key);
}

function law(draw) {
  const found = new Map();
  let paths = 0;
  for (let script = [], done = false; !done; ) {
    if (++paths > MOST_PATHS) throw new Wide();
    const walk = new Walk(script), y = draw(walk);
    found.set(y, (found.get(y) ?? 0) + walk.chance);
    script = walk.ways.map((_, i) => script[i] ?? 0);
    while (script.length && script[script.length - 1] + 1 >= walk.ways[script.length - 1]) script.pop();
    done = script.length === 0;
    if (!done) script[script.length - 1]++;
  }
  return found;
}

/** The largest ratio of the chances of one record under two answers. */
function worst(laws) {
  let most = 1;
  for (const y of new Set(laws.flatMap((one) => [...one.keys()]))) {
    const chances = laws.map((one) => one.get(y) ?? 0);
    most = Math.max(most, Math.max(...chances) / Math.min(...chances));
  }
  return most;
}

// ---- what a page promises -------------------------------------------------------------------------

const ratio = (text) => ((parts) => Number(parts[0]) / Number(parts[1] ?? 1))(text.split("/"));

/** Every answer that a person can give to a column. */
function answersTo({ kind, answers, last }) {
  if (kind === "number") return [null, ...Array.from({ length: Math.min(last, 20) + 2 }, (_, i) => String(i))];
  if (kind === "choices") return Array.from({ length: 2 ** answers.length }, (_, set) => answers.filter((_, v) => (set >> v) & 1));
  return [null, ...answers];
}

/** The answers to all columns that a device takes: those of the first, and the ends of the others. */
function persons(form) {
  const taken = (answers) => {
    try {
      demand(form, answers);
      return true;
    } catch {
      return false; // an answer is needed: nothing is drawn
    }
  };
  return form.columns.reduce((all, column, i) => {
    const given = answersTo(column), some = i ? [given[0], given[1], given[given.length - 1]] : given; // none, the first and the last
    return all.flatMap((one) => some.map((answer) => ({ ...one, [column.name]: answer })));
  }, [{}]).filter(taken);
}

const reports = (line) => ((said) => `${said.c} ${said.a}`)(JSON.parse(line));

/** What the law of a form passes, of what its page promises; null if nothing. */
function excess(form, parts) {
  if (form.rounds === undefined) {
    const most = worst(persons(form).map((answers) => law((by) => reports(record(form, answers, by, parts)))));
    return most > Math.exp(ratio(form.epsilon)) * SLACK ? `a record costs ${Math.log(most)}` : null;
  }
  // In one round, in two if answers stay, and in two if they change; a hash may hide a change.
  const shared = (key) => form.columns.map((column) => ratio(column[key])).reduce((x, y) => (form.method === "sample" ? Math.max(x, y) : x + y));
  const people = persons(form), turns = (count) => Array.from({ length: count }, (_, t) => ({ ...form, round: t + 1 }));
  const told = (history) => law((by) => {
    let memory = remember(form, by, parts);
    return turns(history.length).map((turn, t) => {
      const [line, later] = again(turn, memory, history[t], by, parts);
      memory = later;
      return reports(line);
    }).join();
  });
  const cases = [["once", people.map((one) => [one])]];
  if (form.rounds > 1) cases.push(["permanent", people.map((one) => [one, one])]);
  if (form.rounds > 1 && form.columns.every(({ digits }) => digits === 0)) cases.push(["epsilon", people.slice(1).flatMap((one) => people.slice(1).filter((other) => other !== one).map((other) => [one, other]))]);
  for (const [key, histories] of cases) {
    const most = histories.length ? worst(histories.map(told)) : 1, promised = key === "epsilon" ? ratio(form.epsilon) : shared(key);
    if (most > Math.exp(promised) * SLACK) return `${key} is ${Math.log(most)}`;
  }
  return null;
}

const counts = { tried: 0, read: 0, walked: 0, wide: 0 }, found = [], laws = new Set();
search: for (const base of forms) {
  for (const form of mutated(base)) {
    const seen = new Map();
    let parts, why;
    counts.tried++;
    try {
      parts = read(watched(form, seen));
    } catch {
      continue;
    }
    counts.read++;
    const key = JSON.stringify([...seen].sort());
    if (laws.has(key)) continue;
    laws.add(key);
    try {
      why = excess(form, parts);
      counts.walked++;
    } catch (error) {
      if (error instanceof Wide) counts.wide++;
      else why = String(error);
    }
    if (why) found.push([form, why]);
    if (why && first) break search;
  }
}
console.log(JSON.stringify({ ...counts, found }));
