// What all pages share: calls of the API, parts of pages, copying, logging out.
// Texts become nodes by textContent alone; parts of pages come whole from this server, parsed by
// the browser as documents, in which no script runs.

export const $ = (id) => document.getElementById(id);

export class Refused extends Error {
  constructor(status, detail, field = "") {
    super(detail);
    this.status = status;
    this.field = field; // the parameter that it is about
  }
}

/** Call the API; a refusal raises Refused, a connection that breaks raises TypeError. */
export async function call(path, given, { key, method } = {}) {
  const headers = { accept: "application/json" };
  if (given !== undefined) headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  const answer = await fetch(`/api/v1${path}`, {
    method: method ?? (given === undefined ? "GET" : "POST"),
    headers,
    body: given === undefined ? undefined : JSON.stringify(given),
  });
  const text = await answer.text(); // a body that breaks off raises, as it should
  const found = JSON.parse(text);
  if (answer.status === 401 && path !== "/login") location.assign("/login?next=" + encodeURIComponent(location.pathname));
  if (!answer.ok) throw new Refused(answer.status, found.detail, found.name);
  return found;
}

/** Return the part of a page with an id, from this server. */
export function part(id, path, given) {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open(given === undefined ? "GET" : "POST", path);
    request.responseType = "document";
    if (given !== undefined) request.setRequestHeader("content-type", "application/json");
    request.onerror = () => fail(new TypeError("The server cannot be reached."));
    request.onload = () => {
      const found = request.response?.getElementById(id);
      const said = request.response?.querySelector("#refused .bad")?.textContent;
      if (found) done(document.adoptNode(found));
      else if (request.responseURL.includes("/login")) location.assign("/login?next=" + encodeURIComponent(location.pathname));
      else fail(new Refused(request.status, said ?? "Something went wrong."));
    };
    request.send(given === undefined ? null : JSON.stringify(given));
  });
}

/** Put a part in the place of the one with the same id; what was unfolded stays so. */
export function place(found) {
  const old = $(found.id);
  for (const open of old.querySelectorAll("details[open][data-keep]")) {
    const same = found.querySelector(`details[data-keep="${open.dataset.keep}"]`);
    if (same) same.open = true;
  }
  old.replaceWith(found);
  return found;
}

/** How many pixels there are for a picture inside an element. */
export const room = (node) => {
  const style = getComputedStyle(node);
  return Math.round(node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
};

export const element = (name, text, facts = {}) => {
  const made = Object.assign(document.createElement(name), facts);
  made.textContent = text;
  return made;
};

// ---- what is wrong with a form: said at its field, or above the form, until something is changed

const forms = new WeakSet();
let wrongs = 0;

/** Forget what was wrong with a form, or with one of its fields alone. */
export function settled(form, only = null) {
  for (const input of only ? [only] : form.querySelectorAll("[aria-invalid=true]")) {
    const said = document.getElementById(input.dataset.wrong ?? "");
    if (!said) continue;
    input.setAttribute("aria-describedby", input.getAttribute("aria-describedby").replace(said.id, "").trim());
    if (!input.getAttribute("aria-describedby")) input.removeAttribute("aria-describedby");
    input.removeAttribute("aria-invalid");
    said.remove();
  }
  const top = form.querySelector("[data-trouble]");
  if (top) top.textContent = "";
}

/** Say what is wrong: at an input, or above the form where it is about no single one. */
export function complain(form, input, text, { focus = true } = {}) {
  settled(form);
  if (!forms.has(form)) form.addEventListener("input", ({ target }) => settled(form, target));
  forms.add(form);
  const top = form.querySelector("[data-trouble]");
  if (!input) {
    top.textContent = text;
    if (focus) top.scrollIntoView({ block: "nearest" });
    return;
  }
  const said = element("p", text, { className: "bad wrong", id: `wrong-${++wrongs}` });
  said.setAttribute("role", "alert");
  for (const folded of [input.closest("details")]) if (folded) folded.open = true;
  (input.closest("label") ?? input).after(said);
  input.dataset.wrong = said.id;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", `${input.getAttribute("aria-describedby") ?? ""} ${said.id}`.trim());
  if (focus) input.focus();
}

/** Do what a form asks for; what is refused is said at its field. */
export async function attempt(form, act, find = (name) => form.elements.namedItem(name)) {
  settled(form);
  try {
    await act();
  } catch (error) {
    const found = error.field ? find(error.field) : null;
    complain(form, found instanceof Element ? found : null, error.message);
  }
}

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = copy.parentElement.querySelector("pre");
    const words = copy.textContent;
    try {
      await navigator.clipboard.writeText(text.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      copy.textContent = "Selected: press Ctrl-C";
    }
    setTimeout(() => (copy.textContent = words), 1500);
  }
  if (event.target.closest("[data-leave]")) {
    await call("/logout", {});
    location.assign("/login");
  }
});
