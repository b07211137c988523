// An open survey: what people answer, again and again; and its end.

import { $, call, part, place } from "./common.mjs";

const { name } = $("watch").dataset;
const EVERY = 3000;
let going = true;

async function look() {
  if (going && !document.hidden) {
    try {
      place(await part("results", `/surveys/${encodeURIComponent(name)}/part`));
    } catch {
      // looked at again in a moment
    }
  }
  if ($("results").dataset.state === "open") setTimeout(look, EVERY);
}

if ($("results").dataset.state === "open") setTimeout(look, EVERY);

$("pause")?.addEventListener("click", ({ target }) => {
  going = !going;
  target.textContent = going ? "Pause" : "Go on";
  target.setAttribute("aria-pressed", String(!going));
});

$("close")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  $("close-trouble").textContent = "";
  try {
    if ($("sure").value.trim() !== name) throw new Error("The name does not match.");
    await call(`/surveys/${encodeURIComponent(name)}/close`, {});
    location.reload();
  } catch (error) {
    $("close-trouble").textContent = error.message;
  }
});
