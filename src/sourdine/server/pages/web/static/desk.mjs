// The desk: gathers what is typed, shows what it will cost, and releases.

import { $, Refused, complain, element, part, place, room, settled } from "./common.mjs";
import { pending, release } from "./releasing.mjs";

const name = $("desk").dataset.name;
const base = `/data/${encodeURIComponent(name)}`;
const kind = () => $("statistic").selectedOptions[0];
/** The controls of a field, if the statistic has it: what was chosen for another one says nothing. */
const controls = (field, which) => {
  const nodes = [...document.querySelectorAll(`[data-field=${field}]`)];
  const node = nodes.find((one) => one.dataset.kinds.split(" ").includes(kind().value));
  return [...(node?.querySelectorAll(which) ?? [])];
};
const column = () => controls("column", "select")[0]?.selectedOptions[0];
const groups = () => controls("by", "input:checked");
const wide = (node) => `wide=${room(node)}`;

/** Whether the owner said what a field asks for. */
function said(field) {
  const own = column()?.dataset.said?.split(" ") ?? [];
  if (field === "keys") return groups().length > 0 && groups().every((one) => one.dataset.said.includes("keys"));
  return own.includes(field === "categories" ? "keys" : field);
}

/** Whether a field means something for what is chosen. */
function wanted(node) {
  const field = node.dataset.field;
  if (!node.dataset.kinds.split(" ").includes(kind().value) || said(field)) return false;
  const grouped = controls("by", "input:not([type=checkbox])")[0]?.value || groups().length;
  if (["keys", "other"].includes(field)) return Boolean(grouped) || kind().value === "sql";
  const own = column()?.dataset.kind;
  if (own === "choice" && ("numbers" in node.dataset || ["bounds", "step"].includes(field))) return false;
  return !(own === "number" && field === "categories");
}

/** Show the columns and the fields that fit what is chosen. */
function arrange() {
  $("about-statistic").textContent = kind().dataset.text;
  const columns = kind().dataset.columns.split(" ");
  const options = [...($("question").querySelector("select[name=column]")?.options ?? [])];
  for (const one of options) {
    const fits = one.dataset.kind === "whole" ? "whole" in kind().dataset : columns.includes(one.dataset.kind);
    one.hidden = one.disabled = !fits;
  }
  if (column()?.disabled) options.find((one) => !one.disabled && one.value)?.toggleAttribute("selected", true);
  if (column()?.disabled) column().parentElement.value = options.find((one) => !one.disabled)?.value ?? "";
  const nodes = [...document.querySelectorAll("[data-field]")], shown = nodes.filter((node) => !node.hidden);
  for (const node of nodes) {
    node.hidden = !wanted(node);
    // what was typed for a statistic is kept for the next one, if it has such a field of its own
    const before = node.hidden ? null : shown.find((one) => one !== node && one.dataset.field === node.dataset.field);
    const [from, to] = [before, node].map((one) => one?.querySelector("input:not([type=checkbox])"));
    if (from && to) to.value = from.value;
  }
  const about = document.querySelector(`[data-about="${CSS.escape(column()?.value ?? "")}"]`);
  if ($("about-column")) $("about-column").textContent = about?.textContent ?? "";
  const keys = document.querySelector(`[data-keys-of="${CSS.escape(column()?.value ?? "")}"]`);
  if (keys) $("field-category").setAttribute("list", keys.id);
  else $("field-category").removeAttribute("list");
}

/** Return the question as it is typed, without its price. */
function question() {
  const asked = { statistic: $("statistic").value };
  for (const node of document.querySelectorAll("[data-field]")) {
    if (node.hidden) continue;
    const field = node.dataset.field;
    for (const input of node.querySelectorAll("input, select, textarea")) {
      const value = input.value.trim();
      if ((input.type === "checkbox" && !input.checked) || value === "") continue;
      if (field === "by" && input.type === "checkbox") (asked.by ??= []).push(value);
      else asked[field] = input.type === "checkbox" ? true : value;
    }
  }
  if (asked.by?.length === 1 && Array.isArray(asked.by)) [asked.by] = asked.by;
  return asked;
}

let by = "epsilon", turn = 0, planned = null, busy = false;

const priced = () => ({ ...question(), [by]: $(by).value.trim() });

/** Plan what is typed; the last answer wins. */
async function plan() {
  const mine = ++turn, asked = priced();
  $("trouble").textContent = "";
  try {
    const found = await part("plan", `${base}/plan?${wide($("plan"))}`, asked);
    if (mine !== turn) return;
    settle(place(found), asked);
  } catch (error) {
    if (mine !== turn) return;
    planned = null;
    $("trouble").textContent = error.message;
  }
  buttons();
  document.body.dataset.plans = turn;
}

function settle(found, asked) {
  const { epsilon, exact, error, said: refusal, cost, at, ranks } = found.dataset;
  planned = epsilon ? { ...asked, epsilon: exact, error: undefined } : null;
  if (planned) {
    planned.wanted = error;
    if (by === "error") $("epsilon").value = epsilon;
    else $("error").value = error;
    $("slider").value = Math.log10(Number(epsilon));
    $("slider").setAttribute("aria-valuetext", `epsilon ${epsilon}`);
  }
  settled($("question"));
  const input = refusal && located(at);
  if (input) complain($("question"), input, refusal, { focus: false });
  $("trouble").textContent = input ? "" : refusal ?? "";
  $("cost").textContent = cost ?? "";
  if (epsilon) $("of-ranks").hidden = ranks !== "yes";
}

/** Return the input that a parameter is typed into, if it is there to be seen. */
function located(name) {
  if (["epsilon", "error", "statistic"].includes(name)) return $(name);
  const node = [...document.querySelectorAll("[data-field]")].find((one) => one.dataset.field === name && !one.hidden);
  return node?.querySelector("input:not([type=checkbox]), select") ?? null;
}

function buttons() {
  $("release").disabled = busy || !planned || $("plan").dataset.fits !== "yes";
  $("add").disabled = busy || !planned;
  $("release-all").disabled = busy || $("together").dataset.fits !== "yes";
}

/** Release a body, or what was pressed before and not answered. */
async function spend(body) {
  if (busy) return;
  busy = true;
  buttons();
  $("trouble").textContent = "";
  $("progress").textContent = "Releasing …";
  try {
    const found = await release(name, body, (text) => ($("progress").textContent = text));
    const shown = await part("released", `${base}/releases/${found.number}?${wide($("history"))}`);
    shown.querySelector(".own").hidden = false;
    $("result").replaceChildren(shown);
    $("result").focus({ preventScroll: true });
    shown.scrollIntoView({ block: "nearest", behavior: "smooth" });
    $("progress").textContent = `Released: charge ${found.number}.`;
  } catch (error) {
    $("progress").textContent = "";
    const open = pending(name) && !(error instanceof Refused && error.status < 500);
    $("trouble").textContent = open ? "The server cannot be reached. Press Release again; the request is charged only once." : error.message;
    $("trouble").scrollIntoView({ block: "nearest" });
  }
  busy = false;
  const past = await part("history", `${base}/history`).catch(() => null);
  if (past) place(past);
  const kept = $("trouble").textContent;
  await Promise.all([plan(), items.length ? share() : null]);
  if (kept) $("trouble").textContent = kept;
  if (kept && pending(name)) $("release").disabled = false;
  document.body.dataset.answered = Number(document.body.dataset.answered ?? 0) + 1;
}

const body = () => {
  const { wanted: _, error: __, ...asked } = planned;
  return asked;
};

// ---- several under one total

const items = [];

function list() {
  $("list").hidden = items.length === 0;
  $("items").replaceChildren(...items.map((one, i) => {
    const row = element("li", "");
    const drop = element("button", "Remove", { type: "button", className: "quiet" });
    drop.setAttribute("aria-label", `Remove ${one.words}`);
    drop.addEventListener("click", () => { items.splice(i, 1); list(); });
    row.append(element("span", one.words), drop);
    return row;
  }));
  if (items.length) share();
}

let sharing = 0;
async function share() {
  const mine = ++sharing, whole = $("whole").value.trim();
  try {
    const found = await part("together", `${base}/together?${wide($("list"))}`, { questions: items.map((one) => one.asked), ...(whole ? { epsilon: Number(whole) } : {}) });
    if (mine === sharing) place(found);
  } catch (error) {
    $("together").replaceChildren(element("p", error.message, { className: "bad" }));
    delete $("together").dataset.fits;
  }
  buttons();
}

$("add").addEventListener("click", () => {
  const asked = priced();
  items.push({ asked, words: `${asked.statistic}${asked.column ? ` of ${asked.column}` : ""}${asked.by ? ` by ${[asked.by].flat().join(" and ")}` : ""}` });
  list();
});
$("clear").addEventListener("click", () => { items.length = 0; list(); });
$("release-all").addEventListener("click", async () => {
  await spend(JSON.parse($("together").dataset.asked));
  if (!$("trouble").textContent) items.length = 0;
  list();
});

// ---- what is typed

let timer;
/** Plan what is typed in a moment; until then nothing can be released, as the plan is of something else. */
function soon(ms = 120) {
  clearTimeout(timer);
  timer = setTimeout(plan, ms);
  turn++; // an answer that is under way is of something else, too
  planned = null;
  buttons();
}

$("question").addEventListener("input", (event) => {
  const id = event.target.id;
  if (id === "slider") {
    by = "epsilon";
    $("epsilon").value = Number((10 ** Number(event.target.value)).toPrecision(2));
    return soon(30);
  }
  if (id === "epsilon" || id === "error") by = id;
  else {
    arrange();
    by = "epsilon"; // another question has another error
  }
  soon();
});
$("question").addEventListener("submit", (event) => event.preventDefault());
$("question").addEventListener("click", (event) => {
  const { for: field, value } = event.target.dataset;
  if (!field) return;
  $(field).value = value;
  soon(0);
});
$("release").addEventListener("click", () => spend(planned ? body() : null));
for (const media of [matchMedia("(max-width: 60rem)")]) media.addEventListener("change", () => soon());
$("whole").addEventListener("input", () => share());

arrange();
if (pending(name)) await spend(null);
else await plan();
document.body.dataset.ready = "yes";
