// The form of a survey and its document, there and back. The server reads the document; here nothing
// is judged, and what the form has no field for is kept as it was.

import { $, element } from "./common.mjs";

const FIELDS = ["name", "who", "contact", "epsilon", "method", "rounds", "round"];
const OWN = [...FIELDS, "title", "text", "languages", "order", "questions", "send_to"];
const PARTS = ["kind", "ask", "help", "labels", "lower", "upper", "step", "missing", "categories", "choices"];
const NO_ANSWER = "no answer"; // what the category is called if a document does not name it
const LISTS = { choice: "categories", choices: "choices" };
const kept = new WeakMap(); // what a node stands for: texts by language, an answer's code, other keys
let tags = ["en"], rest = {}, ids = 0;

const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
const owned = (tag) => document.querySelector(`#languages [value="${CSS.escape(tag)}"]`)?.dataset.own ?? tag;
const rows = (form) => [...form.querySelectorAll(".question")];
const table = (found) => (found !== null && typeof found === "object" && !Array.isArray(found) ? found : {});
const without = (facts, keys) => Object.fromEntries(Object.entries(facts).filter(([key]) => !keys.includes(key)));

// ---- texts, in every language

/** Put an input for each language into a place; what was written in others is kept. */
function worded(node, texts = kept.get(node)?.texts ?? {}, label = node.dataset.words) {
  kept.set(node, { ...kept.get(node), texts });
  const inputs = tags.map((tag) => {
    const input = element("long" in node.dataset ? "textarea" : "input", "", { value: texts[tag] ?? "", lang: tag, rows: 2 });
    const optional = "optional" in node.dataset ? ", if any" : "";
    const whole = element("label", `${label}${optional}${tags.length > 1 ? ` (${owned(tag)})` : ""}`);
    input.addEventListener("input", () => (texts[tag] = input.value));
    whole.append(input);
    return whole;
  });
  for (const old of node.querySelectorAll(":scope > label")) old.remove();
  node.prepend(...inputs);
}

/** Return what is written, as a document holds it; undefined for nothing where that may be. */
function text(node) {
  const { texts } = kept.get(node), said = tags.map((tag) => (texts[tag] ?? "").trim());
  if ("optional" in node.dataset && said.every((one) => one === "")) return undefined;
  return tags.length === 1 ? said[0] : Object.fromEntries(tags.map((tag, i) => [tag, said[i]]));
}

/** Return the texts that a document holds. */
function spoken(found) {
  if (found !== null && typeof found === "object") return { ...found };
  return Object.fromEntries(tags.map((tag) => [tag, String(found ?? "")]));
}

/** Take in a change of languages. */
export function tagged(form, box) {
  if (box.checked && !tags.includes(box.value)) tags.push(box.value);
  if (!box.checked) tags = tags.filter((tag) => tag !== box.value);
  for (const node of form.querySelectorAll("[data-words]")) worded(node);
  rowsChanged(form);
}

// ---- answers

function answer(row, texts = {}, code = undefined) {
  const node = element("div", "", { className: "answer" });
  node.dataset.words = "answer";
  const drop = element("button", "Remove", { type: "button", className: "quiet" });
  drop.dataset.less = "";
  drop.addEventListener("click", () => {
    row.querySelector("[data-more]").focus();
    node.remove();
    numbered(row);
  });
  node.append(drop);
  kept.set(node, { texts, code });
  row.querySelector(".rows").append(node);
  numbered(row);
  return node;
}

function numbered(row) {
  [...row.querySelectorAll(".answer")].forEach((node, i) => {
    node.dataset.words = `answer ${i + 1}`;
    const typing = node.contains(document.activeElement);
    if (!typing) worded(node);
    node.querySelector("[data-less]").setAttribute("aria-label", `Remove answer ${i + 1}`);
  });
}

/** Return the codes of the answers, and what they are called where it is not their code. */
function answers(row) {
  const codes = [], labels = {};
  for (const node of row.querySelectorAll(".answer")) {
    const { texts, code } = kept.get(node), said = tags.map((tag) => (texts[tag] ?? "").trim());
    if (code === undefined && said.every((one) => one === "")) continue;
    const own = code ?? said[0];
    codes.push(own);
    if (said.some((one) => one !== String(own))) labels[own] = tags.length === 1 ? said[0] : Object.fromEntries(tags.map((tag, i) => [tag, said[i]]));
  }
  return { codes, labels };
}

// ---- questions

/** Add a question, with what a document says of it. */
export function more(form, name = "", found = { kind: "flag", missing: true }) {
  const row = document.importNode($("question").content, true).firstElementChild;
  const none = typeof found.missing === "string" ? found.missing : NO_ANSWER;
  kept.set(row, { rest: without(found, PARTS), none, called: found.labels?.[none] });
  row.querySelector("[name=missing]").checked = Boolean(found.missing);
  for (const node of row.querySelectorAll("[data-part][data-words]")) worded(node, spoken(found[node.dataset.part]));
  for (const key of ["kind", "lower", "upper", "step"]) row.querySelector(`[name=${key}]`).value = found[key] ?? "";
  row.querySelector("[name=short]").value = name;
  const listed = found[LISTS[found.kind]];
  for (const code of Array.isArray(listed) ? listed : []) answer(row, spoken(found.labels?.[code] ?? code), code);
  row.querySelector("[data-more]").addEventListener("click", () => answer(row).querySelector("input").focus());
  row.querySelector("[data-drop]").addEventListener("click", () => {
    row.remove();
    rowsChanged(form);
    $("more").focus();
  });
  row.querySelector("[data-up]").addEventListener("click", ({ target }) => {
    row.previousElementSibling?.before(row);
    rowsChanged(form);
    target.focus();
  });
  $("questions").append(row);
  rowsChanged(form);
  return row;
}

/** Show the fields that a kind has, and number the questions. */
export function rowsChanged(form) {
  rows(form).forEach((row, i) => {
    const kind = row.querySelector("[name=kind]").value;
    row.querySelector("legend").textContent = `Question ${i + 1}`;
    row.querySelector("[data-up]").disabled = i === 0;
    for (const node of row.querySelectorAll("[data-kind]")) node.hidden = !node.dataset.kind.split(" ").includes(kind);
    if (LISTS[kind] && !row.querySelector(".answer")) [answer(row), answer(row)];
    row.querySelector("[name=short]").placeholder = named(row, i);
  });
}

/** Return a name for a question: as it is typed, or from its first words. */
function named(row, i) {
  const typed = row.querySelector("[name=short]").value.trim();
  if (typed) return typed;
  const { texts } = kept.get(row.querySelector("[data-part=ask]"));
  const plain = (texts[tags[0]] ?? "").normalize("NFKD").toLowerCase().replace(/[^a-z0-9\s]/g, "");
  return plain.trim().split(/\s+/).slice(0, 3).join("_").slice(0, 30) || `question_${i + 1}`;
}

function asked(row) {
  const value = (key) => row.querySelector(`[name=${key}]`).value.trim(), kind = value("kind");
  const facts = { kind, ask: text(row.querySelector("[data-part=ask]")), help: text(row.querySelector("[data-part=help]")), ...kept.get(row).rest };
  if (kind === "number") for (const key of ["lower", "upper", "step"]) if (key !== "step" || value(key) !== "") facts[key] = number(value(key));
  const { none, called } = kept.get(row), absent = kind !== "choices" && row.querySelector("[name=missing]").checked;
  if (absent) facts.missing = kind === "choice" && none !== NO_ANSWER ? none : true;
  if (LISTS[kind]) {
    const { codes, labels } = answers(row);
    if (absent && called !== undefined) labels[none] = called;
    facts[LISTS[kind]] = codes;
    if (Object.keys(labels).length) facts.labels = labels;
  }
  return facts;
}

// ---- the whole

/** Return the document of what is written. */
export function gathered(form) {
  const facts = { ...rest, languages: tags };
  for (const key of FIELDS) {
    const said = form.elements[key].value.trim();
    if (key === "rounds" || key === "round") Object.assign(facts, said ? { [key]: number(said) } : {});
    else facts[key] = said;
  }
  for (const key of ["title", "text"]) facts[key] = text(form.querySelector(`[data-field=${key}]`));
  const questions = new Map();
  rows(form).forEach((row, i) => {
    const first = named(row, i);
    let name = first;
    for (let n = 2; questions.has(name); n++) name = `${first}_${n}`;
    row.dataset.name = name;
    questions.set(name, asked(row));
  });
  return { ...facts, order: [...questions.keys()], questions: Object.fromEntries(questions) };
}

/** Fill in the form from a document. */
export function fillForm(form, found) {
  tags = Array.isArray(found.languages) && found.languages.length ? found.languages.map(String) : ["en"];
  rest = without(found, OWN);
  for (const box of $("languages").querySelectorAll("input")) box.checked = tags.includes(box.value);
  if (found.questions) form.elements.method.value = "split"; // as the reader takes it
  for (const key of FIELDS) if (found[key] !== undefined) form.elements[key].value = found[key];
  if (Number(found.epsilon) > 0) $("slider").value = Math.log10(Number(found.epsilon));
  for (const key of ["title", "text"]) worded(form.querySelector(`[data-field=${key}]`), spoken(found[key]));
  $("questions").replaceChildren();
  const questions = table(found.questions), order = Array.isArray(found.order) ? found.order : [];
  const names = [...order.filter((name) => name in questions), ...Object.keys(questions).filter((name) => !order.includes(name))];
  for (const name of names) more(form, name, { kind: "flag", ...table(questions[name]) });
}

// ---- what is wrong

/** Return the place of the form that a problem is about, and the input there. */
function placed(form, field) {
  const [key, ...further] = field.split(".");
  if (key !== "questions") return within(form.querySelector(`[data-field="${CSS.escape(key)}"]`), further);
  const row = rows(form).find((one) => field === `questions.${one.dataset.name}` || field.startsWith(`questions.${one.dataset.name}.`));
  if (!row) return within(form.querySelector("[data-field=questions]"), []);
  const [name, ...inner] = field.slice(`questions.${row.dataset.name}.`.length).split(".");
  const known = ["categories", "choices", "labels"].includes(name) ? "answers" : name;
  return within(row.querySelector(`[data-part="${CSS.escape(known)}"]`) ?? row, inner);
}

function within(node, [tag]) {
  const input = node && ((tag && node.querySelector(`[lang="${CSS.escape(tag)}"]:is(input, textarea)`)) || node.querySelector("input, select, textarea"));
  return { node, input };
}

/** Say beside each field what is wrong with it: of those that were written, or of all. */
export function problemsShown(form, problems, all) {
  for (const old of form.querySelectorAll(".wrong")) old.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) for (const name of ["aria-invalid", "aria-describedby", "data-at"]) input.removeAttribute(name);
  for (const { field, said } of problems) {
    const { node, input } = placed(form, field);
    if (!node || !input || !(all || node.dataset.touched)) continue;
    const words = element("p", said[0].toUpperCase() + said.slice(1) + ".", { className: "bad wrong", id: `wrong-${++ids}` });
    node.append(words);
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", words.id);
    input.dataset.at = field;
  }
}
