// The page of a guard: reads a file or what was pasted, submits it once, and shows what was told.

import { $, Refused, part, place } from "./common.mjs";
import { pendingAt, send } from "./releasing.mjs";

const { name, rows } = $("guard").dataset;
const base = `/guard/${encodeURIComponent(name)}`;
const path = `/guards/${encodeURIComponent(name)}/submissions`;
const usable = !$("submit").disabled;

/** Return the parts of a page that change, with a picture as wide as there is room. */
async function refresh() {
  const told = `${base}/told?wide=${Math.round($("board").clientWidth)}`;
  for (const id of ["left", "board", "past"]) place(await part(id, told));
}

let chosen = ""; // what a file holds, or a baseline: too long to be shown

const given = () => ($("pasted").value.trim() ? $("pasted").value : chosen);

/** Say how many lines there are to be sent. */
function count(from = "") {
  const text = given().trimEnd();
  const lines = text ? text.split(/\r\n|\r|\n/).length : 0;
  const header = lines === Number(rows) + 1 ? ", the first one a header" : "";
  $("counted").textContent = lines ? `${from}${lines} lines${header}; there are ${rows} labels.` : "";
}

/** Take a text that is too long to be shown. */
function choose(text, from) {
  $("pasted").value = "";
  chosen = text;
  count(from);
}

async function submit(body) {
  $("trouble").textContent = "";
  $("submit").disabled = true;
  $("progress").textContent = "Submitting …";
  try {
    const found = await send(path, body, (text) => ($("progress").textContent = text || "Submitting …"));
    $("progress").textContent = `Submission ${found.number}: ${found.leads ? "it takes the lead." : "it does not take the lead."}`;
    $("send").reset();
    choose("", "");
    await refresh();
    $("answer").focus({ preventScroll: true });
    $("answer").scrollIntoView({ block: "nearest" });
  } catch (error) {
    const open = pendingAt(path) && !(error instanceof Refused && error.status < 500);
    $("progress").textContent = "";
    $("trouble").textContent = open ? "The server cannot be reached. Press Submit again; the submission is charged only once." : error.message;
  }
  $("submit").disabled = !usable;
  document.body.dataset.answered = Number(document.body.dataset.answered ?? 0) + 1;
}

$("send").addEventListener("submit", (event) => {
  event.preventDefault();
  if (pendingAt(path)) return submit(null);
  if (!given().trim()) {
    $("trouble").textContent = "Choose a file, or paste the predictions.";
    return $("pasted").focus();
  }
  return submit({ predictions: given() });
});
$("file").addEventListener("change", async () => {
  const [file] = $("file").files;
  choose(file ? await file.text() : "", file ? `${file.name}: ` : "");
});
$("pasted").addEventListener("input", () => count());
$("fill").addEventListener("click", () => {
  const one = $("same").value.trim();
  $("file").value = "";
  choose(one ? Array(Number(rows)).fill(one).join("\n") : "", `${one} in every row: `);
});
$("same").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  $("fill").click();
});

await refresh();
if (pendingAt(path)) await submit(null);
document.body.dataset.ready = "yes";
