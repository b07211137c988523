// The owner's pages of guards: labels under guard, teams, the end.

import { $, Refused, attempt, call } from "./common.mjs";
import { filled } from "./owner.mjs";

const NUMBERS = ["blocks", "submissions"];
const TERMS = ["name", "source", "column", "text", "loss", "scale", "step", "blocks", "error", "confidence"];

/** Return what is filled in, with whole numbers as numbers. */
function facts(form, names) {
  const found = Object.entries(filled(form, names));
  return Object.fromEntries(found.map(([name, text]) => [name, NUMBERS.includes(name) && /^\d+$/.test(text) ? Number(text) : text]));
}

const made = $("new-guard");
if (made) {
  $("loss").addEventListener("input", () => ($("scaled").hidden = $("loss").value !== "absolute"));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(made, async () => {
      const { scale, ...said } = facts(made, TERMS);
      const guard = await call("/guards", said.loss === "absolute" && scale ? { ...said, scale } : said);
      location.assign(`/guard/${encodeURIComponent(guard.name)}/teams`);
    });
  });
}

$("let")?.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(event.target, async () => {
    await call(`/guards/${encodeURIComponent(event.target.dataset.name)}/grants`, facts(event.target, ["team", "submissions"]));
    location.reload();
  });
});

$("end")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name } = event.target.dataset;
  attempt(event.target, async () => {
    if ($("sure").value.trim() !== name) throw new Refused(0, "The name does not match.", "sure");
    await call(`/guards/${encodeURIComponent(name)}/close`, {});
    location.reload();
  });
});
