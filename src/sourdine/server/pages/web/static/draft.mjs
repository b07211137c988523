// The editor of a draft: a form of what is asked, examined by the server while it is written.

import { $, call, element, part, place } from "./common.mjs";
import { fillForm, gathered, more, problemsShown, rowsChanged, tagged } from "./survey_form.mjs";

const form = $("draft");
const path = () => `/surveys/${encodeURIComponent(form.dataset.name)}`;
const people = () => Number(form.elements.n.value.replace(/\s/g, "")) || 0;
let turn = 0, timer, problems = [], pressed = false;

/** Let the server examine what is written; the last answer wins. */
async function examine() {
  const mine = ++turn, n = Math.min(Math.max(people(), 50), 100000);
  try {
    const found = await part("consequence", "/survey-check", { document: gathered(form), n });
    if (mine !== turn) return;
    problems = JSON.parse(place(found).dataset.problems);
    problemsShown(form, problems, pressed);
  } catch (error) {
    if (mine === turn) $("trouble").textContent = error.message;
  }
  document.body.dataset.examined = turn;
}

function soon(ms = 350) {
  clearTimeout(timer);
  timer = setTimeout(examine, ms);
}

/** Save, and return whether nothing is wrong; what is wrong is said where it is. */
async function save() {
  pressed = true;
  $("trouble").replaceChildren();
  const written = gathered(form), known = form.dataset.name;
  const saved = known ? await call(path(), { document: written }, { method: "PUT" }) : await call("/surveys", { document: written });
  form.dataset.name = saved.name;
  form.elements.name.readOnly = true;
  if (!known) history.replaceState(null, "", path());
  problems = saved.problems;
  problemsShown(form, problems, pressed);
  return problems.length === 0;
}

/** List what is wrong; each leads to its field. */
function listed() {
  const items = problems.map((one) => {
    const node = document.querySelector("[aria-invalid=true]"), item = element("li", ""), link = element("button", `${one.field || "the survey"} ${one.said}`, { type: "button" });
    link.addEventListener("click", () => (form.querySelector(`[data-at="${CSS.escape(one.field)}"]`) ?? node)?.focus());
    item.append(link);
    return item;
  });
  const list = element("ul", "");
  list.append(...items);
  $("trouble").replaceChildren(element("span", `Problems to fix before opening: ${problems.length}.`), list);
}

async function attempt(act, doing) {
  $("progress").textContent = doing;
  try {
    await act();
  } catch (error) {
    $("progress").textContent = "";
    $("trouble").textContent = error.message;
  }
  document.body.dataset.pressed = Number(document.body.dataset.pressed ?? 0) + 1;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    const right = await save();
    $("progress").textContent = "Saved.";
    if (!right) listed();
  }, "Saving …");
});

$("preview").addEventListener("click", () => attempt(async () => {
  const right = await save();
  $("progress").textContent = right ? "Saved. The preview sends nothing." : "Saved.";
  if (right) window.open(`${path()}/preview`, "_blank", "noopener");
  else listed();
}, "Saving …"));

$("open").addEventListener("click", () => attempt(async () => {
  if (!(await save())) {
    $("progress").textContent = "Saved, but not opened.";
    return listed();
  }
  const tickets = form.elements.mode.value === "tickets" ? Number(form.elements.tickets.value) : 0;
  if (form.elements.mode.value === "tickets" && !(Number.isInteger(tickets) && tickets > 0)) throw new Error("Enter the number of tickets.");
  const opened = await call(`${path()}/open`, { tickets, public: form.elements.public.checked });
  if (opened.links.length) shown(opened);
  else location.assign(path());
}, "Opening …"));

/** Show the tickets, which no server knows any more. */
function shown({ name, links }) {
  form.hidden = true;
  document.querySelector("h1").textContent = name;
  $("state").textContent = "It is open.";
  $("discard")?.remove();
  $("tickets").hidden = false;
  $("links").replaceChildren(...links.map((link) => element("li", link)));
  const file = new Blob([links.join("\n") + "\n"], { type: "text/plain" });
  Object.assign($("save-tickets"), { href: URL.createObjectURL(file), download: `${name}-tickets.txt` });
  $("onward").href = path();
  $("tickets").focus();
}
$("print").addEventListener("click", () => print());

$("discard")?.addEventListener("click", async ({ target }) => {
  if (!target.dataset.asked) {
    target.dataset.asked = "yes";
    target.textContent = "Discard permanently";
    return;
  }
  await call(path(), undefined, { method: "DELETE" });
  location.assign("/surveys");
});

// ---- a file

$("file").addEventListener("change", async ({ target }) => {
  $("toml").value = (await target.files[0]?.text()) ?? "";
});

$("fill").addEventListener("click", async () => {
  $("paste-trouble").textContent = "";
  try {
    const { document: read } = await call("/survey-check", { toml: $("toml").value });
    if (form.dataset.name) read.name = form.dataset.name;
    fillForm(form, read);
    pressed = true;
    document.querySelector(".paste").open = false;
    form.querySelector("[data-field=title] input").focus();
    soon(0);
  } catch (error) {
    $("paste-trouble").textContent = error.message;
  }
});

// ---- what is typed

form.addEventListener("input", ({ target }) => {
  if (target.id === "slider") form.elements.epsilon.value = Number((10 ** Number(target.value)).toPrecision(2));
  if (target.name === "epsilon" && Number(target.value) > 0) $("slider").value = Math.log10(Number(target.value));
  if (target.closest("#languages")) tagged(form, target);
  if (target.name === "mode") $("how-many").hidden = form.elements.mode.value !== "tickets";
  if (target.closest(".question")) rowsChanged(form);
  if (!target.closest(".paste")) soon();
});
form.addEventListener("change", ({ target }) => {
  for (const node of [target.closest("[data-part]"), target.closest("[data-field]")]) if (node) node.dataset.touched = "yes";
});
form.addEventListener("click", ({ target }) => {
  if (target.matches("[data-up], [data-drop], [data-more], [data-less], #more")) soon(0);
});
$("more").addEventListener("click", () => more(form).querySelector("input").focus());

const known = JSON.parse(form.dataset.document);
fillForm(form, known);
if (!Object.keys(known.questions ?? {}).length) more(form);
if (known.name) await examine();
document.body.dataset.ready = "yes";
