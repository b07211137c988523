// The owner's pages: register, grant, close.

import { $, call } from "./common.mjs";

export const filled = (form, names) =>
  Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]).filter(([, value]) => value !== ""));

export async function attempt(trouble, act) {
  trouble.textContent = "";
  try {
    await act();
  } catch (error) {
    trouble.textContent = error.message;
  }
}

// ---- a new data set

const number = (text) => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

function described(row) {
  const value = (name) => row.querySelector(`[name=${name}]`).value.trim();
  const text = value("text") ? { text: value("text") } : {};
  if (value("kind") === "choice") return { keys: value("keys").split(",").map((key) => key.trim()).filter(Boolean), ...text };
  const bounds = value("bounds") === "find" ? "find" : [number(value("low")), number(value("high"))];
  const step = value("step") ? { step: value("step") } : {};
  return { bounds, ...step, ...text };
}

function arrange(row) {
  const kind = row.querySelector("[name=kind]").value, typed = row.querySelector("[name=bounds]").value === "typed";
  for (const node of row.querySelectorAll("[data-kind]")) {
    node.hidden = node.dataset.kind !== kind || ("typed" in node.dataset && !typed);
  }
}

function more() {
  const row = document.importNode($("column").content, true).firstElementChild;
  row.addEventListener("input", () => arrange(row));
  row.querySelector("[data-drop]").addEventListener("click", () => row.remove());
  $("columns").append(row);
  arrange(row);
  return row;
}

const reading = () =>
  Object.fromEntries([...$("reading").querySelectorAll("[name]")].map((one) => [one.name, one.value]).filter(([, value]) => value !== ""));

const form = $("register");
if (form) {
  more();
  $("more").addEventListener("click", () => more().querySelector("input").focus());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt($("trouble"), async () => {
      const facts = filled(form, ["name", "source", "epsilon", "delta", "unit"]), n = $("n").value.replaceAll(" ", "");
      const rows = [...$("columns").children].filter((row) => row.querySelector("[name=column]").value.trim());
      const columns = Object.fromEntries(rows.map((row) => [row.querySelector("[name=column]").value.trim(), described(row)]));
      await call("/datasets", { ...facts, ...(n ? { n: Number(n) } : {}), columns, read: reading() });
      location.assign(`/data/${encodeURIComponent(facts.name)}/manage`);
    });
  });
}

// ---- grants, and the end

$("grant")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name } = event.target.dataset;
  attempt($("trouble"), async () => {
    await call(`/datasets/${encodeURIComponent(name)}/grants`, filled(event.target, ["analyst", "epsilon"]));
    location.reload();
  });
});

$("close")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name } = event.target.dataset;
  attempt($("close-trouble"), async () => {
    if ($("sure").value.trim() !== name) throw new Error("This is not its name.");
    await call(`/datasets/${encodeURIComponent(name)}/close`, {});
    location.reload();
  });
});
