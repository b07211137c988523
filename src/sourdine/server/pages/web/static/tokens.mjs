import { $, attempt, call, part, place } from "./common.mjs";

const listed = async () => place(await part("tokens", "/tokens"));

$("make").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt($("make"), async () => {
    const made = await call("/tokens", { label: $("label").value, days: Number($("days").value) });
    $("token").textContent = made.token;
    $("made").hidden = false;
    await listed();
  });
});

document.addEventListener("click", async (event) => {
  const sha256 = event.target.dataset?.end;
  if (!sha256) return;
  await call(`/tokens/${sha256}`, undefined, { method: "DELETE" });
  await listed();
});
