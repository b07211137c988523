// The owner's pages: register, grant, close.

import { $, Refused, attempt, call, element } from "./common.mjs";

export const filled = (form, names) =>
  Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value !== ""));

// ---- a new data set

const TYPES = { integer: "whole numbers", float: "numbers", number: "numbers", boolean: "true or false", text: "text", date: "dates", time: "times", zoned: "times", nanos: "times" };
const CHOICES = ["text", "boolean"];
const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
const field = (row, name) => row.querySelector(`[name=${name}]`);

/** Return what is said of a column, as the API takes it. */
function described(row) {
  const value = (name) => field(row, name).value.trim();
  const text = value("text") ? { text: value("text") } : {};
  if (value("kind") === "choice") {
    const keys = value("keys").split(",").map((key) => key.trim()).filter(Boolean);
    if (!keys.length) throw new Refused(0, "List all possible keys, separated by commas.", `keys of ${row.dataset.name}`);
    return { keys, ...text };
  }
  const bounds = value("bounds") === "find" ? "find" : [number(value("low")), number(value("high"))];
  if (bounds !== "find" && bounds.includes("")) throw new Refused(0, "Enter both bounds, or choose found privately.", `bounds of ${row.dataset.name}`);
  const step = value("step") ? { step: value("step") } : {};
  return { bounds, ...step, ...text };
}

/** Show what a column can be said of: nothing until it may be asked. */
function arrange(row) {
  const asked = field(row, "asked").checked, kind = field(row, "kind").value, typed = field(row, "bounds").value === "typed";
  row.querySelector(".grid").hidden = !asked;
  for (const node of row.querySelectorAll("[data-kind]")) {
    node.hidden = node.dataset.kind !== kind || ("typed" in node.dataset && !typed);
  }
}

/** Return the row of a column that was read from the file. */
function rowOf({ name, type }) {
  const row = document.importNode($("column").content, true).firstElementChild;
  row.dataset.name = name;
  row.querySelector(".called").textContent = name;
  row.querySelector(".type").textContent = TYPES[type] ?? "";
  field(row, "kind").value = CHOICES.includes(type) ? "choice" : "number";
  row.addEventListener("input", () => arrange(row));
  arrange(row);
  return row;
}

const reading = () =>
  Object.fromEntries([...$("reading").querySelectorAll("[name]")].map((one) => [one.name, one.value]).filter(([, value]) => value !== ""));
const rows = () => [...$("columns").children];

/** Return the input that a refusal is about: one of a column, as in "bounds of age", or of the form. */
function located(name) {
  const [part, ...of] = name.split(" of "), row = rows().find((one) => one.dataset.name === of.join(" of "));
  if (row) return field(row, part === "bounds" ? "low" : part) ?? field(row, "text");
  return $("register").elements.namedItem(name);
}

let known = "";

/** Read the names of the columns from the file; what was said of those with the same name is kept. */
async function columnsRead() {
  const asked = JSON.stringify({ source: $("source").value.trim(), read: reading() });
  if (asked === known) return;
  known = asked;
  $("columns-state").textContent = "Reading the columns …";
  try {
    const found = await call("/columns", JSON.parse(asked));
    if (asked !== known) return;
    const before = new Map(rows().map((row) => [row.dataset.name, row]));
    $("columns").replaceChildren(...found.map((one) => before.get(one.name) ?? rowOf(one)));
    $("unit-names").replaceChildren(...found.map(({ name }) => element("option", "", { value: name })));
    $("columns-state").textContent = `${found.length} ${found.length === 1 ? "column" : "columns"}. Select those available to analysts.`;
  } catch (error) {
    known = "";
    $("columns-state").textContent = "The columns are read from the file.";
    throw error;
  }
}

const form = $("register");
if (form) {
  const source = (name) => located(name) ?? $("source");
  for (const node of [$("source"), $("reading")]) {
    node.addEventListener("change", () => $("source").value.trim() && attempt(form, columnsRead, source));
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(form, async () => {
      await columnsRead().catch((error) => { throw new Refused(error.status, error.message, "source"); });
      const facts = filled(form, ["name", "title", "description", "source", "epsilon", "delta", "unit"]), n = $("n").value.replaceAll(" ", "");
      const asked = rows().filter((row) => field(row, "asked").checked);
      const columns = Object.fromEntries(asked.map((row) => [row.dataset.name, described(row)]));
      await call("/datasets", { ...facts, ...(n ? { n: Number(n) } : {}), columns, read: reading() });
      location.assign(`/data/${encodeURIComponent(facts.name)}/manage`);
    }, located);
  });
}

// ---- grants, and the end

$("grant")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name } = event.target.dataset;
  attempt(event.target, async () => {
    await call(`/datasets/${encodeURIComponent(name)}/grants`, filled(event.target, ["analyst", "epsilon"]));
    location.reload();
  });
});

$("close")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name } = event.target.dataset;
  attempt(event.target, async () => {
    if ($("sure").value.trim() !== name) throw new Refused(0, "The name does not match.", "sure");
    await call(`/datasets/${encodeURIComponent(name)}/close`, {});
    location.reload();
  });
});
