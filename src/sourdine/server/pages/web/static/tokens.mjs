import { $, call } from "./common.mjs";

$("make").addEventListener("submit", async (event) => {
  event.preventDefault();
  $("trouble").textContent = "";
  try {
    const made = await call("/tokens", { label: $("label").value, days: Number($("days").value) });
    $("token").textContent = made.token;
    $("made").hidden = false;
  } catch (error) {
    $("trouble").textContent = error.message;
  }
});

document.addEventListener("click", async (event) => {
  const sha256 = event.target.dataset?.end;
  if (!sha256) return;
  await call(`/tokens/${sha256}`, undefined, { method: "DELETE" });
  event.target.closest("li").remove();
});
