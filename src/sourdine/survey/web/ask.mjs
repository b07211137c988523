// The respondent's page: asks, draws once with the device, shows what will leave, and sends only that.
import { Chance, code, needed, rational, read, record, tick } from "./device.mjs";
import { drawRound, roundsInWords } from "./rounds.mjs";

const ORIGINAL = `<!doctype html>\n${document.documentElement.outerHTML}`; // the file, letter for letter
const find = (id) => document.getElementById(id), main = document.querySelector("main");
const form = JSON.parse(find("form").textContent), { survey } = form;
const asked = survey.order.map((name) => form.columns.find((column) => column.name === name));
const memory = `sourdine ${survey.name} ${form.mark}`, answers = {};
const state = { language: preferred(), line: null, sent: false, status: "", keeps: true, digest: null };
const link = /^#ticket=([\w-]+)$/.exec(location.hash), ticket = link ? `{"ticket":"${link[1]}"}\n` : "";
let texts, words;

/** The per cent, rounded up, that nobody can pass who took a yes and a no for equally likely. */
export function sure(epsilon) {
  const [n, m] = rational(epsilon), most = new Chance([[1, 0]], [[1, 0], [1, n]], m).bounds(128)[1];
  for (let places = 0; ; places++) {
    const scale = 10n ** BigInt(places), up = (100n * scale * most + (1n << 128n) - 1n) >> 128n, digits = String(up);
    if (up < 100n * scale) return places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
  }
}

function preferred() {
  const tags = (navigator.languages ?? []).map((tag) => tag.split("-")[0]);
  return tags.find((tag) => survey.languages.includes(tag)) ?? survey.languages[0];
}

/** An element; texts are texts, whatever they hold. */
function h(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...inside.filter(Boolean));
  return made;
}

const fill = (text, given) => text.replace(/\{(\w+)\}/g, (_, name) => given[name]);
const ratio = (text) => ((parts) => Number(parts[0]) / Number(parts[1]))(rational(text));
const value = (column, at) => String(Number((ratio(column.lower) + at * ratio(column.step)).toPrecision(12)));
const ends = (column) => ({ lower: value(column, 0), upper: value(column, column.last) });
const idOf = (column) => `q ${column.name}`.replace(/\s/g, "_");
const about = (column) => texts.questions[column.name];
const labels = (column) => (column.kind === "flag" ? [words.no, words.yes] : about(column).answers ?? column.answers);
const verbatim = (text, id = null) => h("pre", { id, dir: "ltr", tabindex: "0" }, text);
const soft = (text, id = null) => (text ? h("p", { class: "soft", id }, text) : null);

// ---- questions ---------------------------------------------------------------------------------

function question(column) {
  const { ask, help } = about(column), number = column.kind === "number", id = idOf(column);
  const hints = [help, number ? fill(words.range, ends(column)) : "", column.kind === "choices" ? words.several : ""].filter(Boolean);
  const described = hints.length ? `${id}-hint` : null, hint = soft(hints.join(" "), described);
  if (number || column.answers.length > 9 && column.kind === "choice") {
    const field = number ? entry(column, id, described) : list(column, id, described);
    return h("div", { class: "question" }, h("label", { for: id }, ask), hint, field, trouble(id));
  }
  return h("fieldset", { class: "question", id, tabindex: "-1", "aria-describedby": `${described ?? ""} ${id}-wrong`.trim() }, h("legend", {}, ask), hint, ...(column.kind === "choices" ? boxes(column) : radios(column)), trouble(id));
}

function entry(column, id, described) {
  const oninput = ({ target }) => {
    answers[column.name] = target.value.trim();
    wrong(column, false);
  };
  return h("input", { id, value: answers[column.name] ?? "", inputmode: "decimal", autocomplete: "off", "aria-describedby": `${described} ${id}-wrong`, oninput });
}

const trouble = (id) => h("p", { class: "bad", id: `${id}-wrong` });

/** The field of an answer that cannot be taken, or that is needed; said beside it, if wanted. */
function wrong(column, said) {
  const id = idOf(column), field = find(id), answer = answers[column.name] ?? "", number = column.kind === "number";
  const lacks = answer === "" && needed(column), bad = lacks || (number && answer !== "" && beyond(column, answer));
  const why = [needed(column) ? words.needed : "", number ? fill(needed(column) ? words.range : words.wrong, ends(column)) : ""];
  if (number) field.setAttribute("aria-invalid", String(bad && said));
  find(`${id}-wrong`).textContent = bad && said ? why.filter(Boolean).join(" ") : "";
  return bad ? field : null;
}

function beyond(column, text) {
  const at = Number(text.replace(",", ".")), { lower, upper } = ends(column);
  return tick(text, column) === null || at < Number(lower) || at > Number(upper);
}

/** What is marked before anybody answers: no answer, where the form provides for it, and else nothing. */
const unanswered = (column) => (needed(column) ? undefined : column.absent === "category" && column.kind === "choice" ? column.answers.at(-1) : "");

function answer(column, given) {
  answers[column.name] = given;
  wrong(column, false);
}

function list(column, id, described) {
  const chosen = answers[column.name] ?? unanswered(column) ?? "", listed = column.answers.map((answer, i) => [answer, labels(column)[i]]);
  const options = [...(needed(column) ? [["", "…"]] : []), ...listed].map(([answer, label]) => h("option", { value: answer, selected: answer === chosen }, label));
  return h("select", { id, "aria-describedby": `${described ?? ""} ${id}-wrong`.trim(), onchange: ({ target }) => answer(column, target.value) }, ...options);
}

function radios(column) {
  const offered = unanswered(column) === "" ? [["", words.none]] : [], chosen = answers[column.name] ?? unanswered(column);
  const listed = column.answers.map((answer, i) => [answer, labels(column)[i]]);
  return [...(column.kind === "flag" ? listed.reverse() : listed), ...offered].map(([value, label]) =>
    h("label", {}, h("input", { type: "radio", name: column.name, value, checked: value === chosen, onchange: () => answer(column, value) }), h("span", {}, label)));
}

function boxes(column) {
  const ticked = new Set(answers[column.name]);
  const changed = ({ target }) => {
    ticked[target.checked ? "add" : "delete"](target.value);
    answers[column.name] = [...ticked];
  };
  return column.answers.map((answer, i) => h("label", {}, h("input", { type: "checkbox", value: answer, checked: ticked.has(answer), onchange: changed }), h("span", {}, labels(column)[i])));
}

// ---- what was answered, and what is sent ---------------------------------------------------------

function answered(column) {
  if (state.fromMemory) return words.forgotten;
  const at = code(column, answers[column.name]);
  if (column.kind === "choices") return several(column, at ?? 0);
  return at === null ? words.none : column.kind === "number" ? value(column, at) : labels(column)[at];
}

function several(column, set) {
  return labels(column).filter((_, v) => Math.floor(set / 2 ** v) % 2).join(", ") || words.nothing;
}

/** A report in words: an answer, several of them, or a number that stands for chance and answer together. */
function told(column, report) {
  if (report === undefined) return words.unsent;
  if (report === column.none && column.absent === "paid") return words.none;
  if (typeof report === "string") return fill(words.set, { answers: members(column, report) });
  if (column.method === "flipped") return several(column, report);
  if (column.method === "response" || column.digits === 0) return labels(column)[report] ?? words.none;
  return ["laplace", "staircase", "truncated"].includes(column.method) ? value(column, report) : fill(words.code, { report });
}

function members(column, row) {
  const bytes = [...atob(row.replace(/-/g, "+").replace(/_/g, "/"))].map((letter) => letter.charCodeAt(0));
  return Array.from({ length: column.k }, (_, v) => (bytes[v >> 3] >> (v & 7)) & 1 ? labels(column)[v] ?? words.none : "").filter(Boolean).join(", ") || words.nothing;
}

function draw() {
  const bad = asked.map((column) => wrong(column, true)).find(Boolean);
  if (bad) return bad.focus();
  recall(); // another tab may have drawn
  try {
    state.line ??= (form.rounds ? drawRound : record)(form, answers);
  } catch (error) {
    return stop(error, words.stuck);
  }
  keep();
  render("sent");
}

function keep() {
  try {
    localStorage.setItem(memory, JSON.stringify({ line: state.line, sent: state.sent }));
  } catch {
    state.keeps = false;
  }
}

function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(memory));
    if (kept && JSON.parse(kept.line).s === form.mark) Object.assign(state, kept, { fromMemory: true });
  } catch {
    state.keeps = false;
  }
}

async function send() {
  state.status = words.sending;
  render("send");
  try {
    const nobody = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" };
    const reply = await fetch(survey.send_to, { method: "POST", body: `${ticket}${state.line}\n`, ...nobody });
    state.sent ||= reply.ok;
    state.status = reply.ok ? words.accepted : fill(words.refused, { status: reply.status });
  } catch {
    state.status = words.offline;
  }
  keep();
  render("send");
}

function outgoing() {
  const { a, c } = JSON.parse(state.line), place = (column) => form.columns.indexOf(column);
  const report = (column) => (c === undefined ? a[place(column)] : place(column) === c ? a[0] : undefined);
  const cell = (head, text) => h("td", { "data-head": head }, text), heads = [words.question, words.answered, words.leaves];
  const row = (column) => h("tr", {}, h("th", { scope: "row" }, about(column).ask), cell(heads[1], answered(column)), cell(heads[2], told(column, report(column))));
  return h("section", { "aria-labelledby": "sent" },
    h("h2", { id: "sent", tabindex: "-1" }, words.only),
    state.fromMemory ? h("p", {}, words.kept) : null,
    h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...asked.map(row))),
    soft(words.line), verbatim(ticket + state.line), soft(fill(words.to, { address: survey.send_to })),
    h("button", { id: "send", type: "button", onclick: send }, state.sent ? words.again : words.send),
    h("p", { role: "status", id: "status" }, state.status || (state.keeps ? "" : words.unkept)));
}

// ---- the whole page ------------------------------------------------------------------------------

function spoken() {
  const choose = ({ target }) => {
    state.language = target.value;
    render("language");
  };
  const named = (tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag);
  const options = survey.languages.map((tag) => h("option", { value: tag, lang: tag, selected: tag === state.language }, named(tag)));
  return survey.languages.length < 2 ? null : h("p", {}, h("label", { for: "language" }, words.language), " ", h("select", { id: "language", onchange: choose }, ...options));
}

function promise() {
  const percent = sure(form.epsilon);
  return h("section", { class: "promise", "aria-labelledby": "promise" },
    h("h2", { id: "promise" }, words.learnt), h("p", {}, fill(words.promise, { percent, ...(form.rounds && roundsInWords(form, sure)) })),
    Number(percent) > 90 ? h("p", { class: "bad" }, words.weak) : null, h("p", {}, words.helps), soft(words.adds));
}

function check() {
  return h("details", {}, h("summary", {}, words.check), h("p", {}, fill(words.hash, survey)), verbatim(state.digest ?? words.unhashed, "hash"), h("p", {}, words.lies), verbatim(`sha256sum ${survey.name}.html`));
}

function render(focus) {
  [texts, words] = [survey.texts[state.language], survey.words[state.language]];
  Object.assign(document.documentElement, { lang: state.language, dir: /^(ar|fa|he|ps|ur|yi)$/.test(state.language) ? "rtl" : "ltr" });
  document.title = texts.title;
  const ask = h("form", { onsubmit: (event) => event.preventDefault() }, ...asked.map(question), soft(words.once), h("button", { id: "draw", type: "button", onclick: draw }, words.draw));
  main.replaceChildren(...[spoken(), h("h1", {}, texts.title), soft(fill(words.whose, survey)), texts.text ? h("p", { class: "text" }, texts.text) : null, promise(), state.line ? outgoing() : ask, check()].filter(Boolean));
  if (focus) find(focus)?.focus();
}

function stop(error, said = survey.words[state.language]?.unsafe ?? "This page is not safe to use.") {
  main.replaceChildren(h("p", { class: "bad", role: "alert" }, `${said} (${error.message})`));
}

try {
  read(form);
  recall();
  render();
} catch (error) {
  stop(error);
}
const bytes = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(ORIGINAL));
if (bytes) state.digest = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
find("hash")?.replaceChildren(state.digest ?? words.unhashed);
