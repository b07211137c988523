import { $, element, part, place } from "./common.mjs";

$("look").addEventListener("click", async (event) => {
  $("check").replaceChildren(element("p", "Checking …", { className: "soft" }));
  try {
    place(await part("check", `/data/${encodeURIComponent(event.target.dataset.name)}/check`));
  } catch (error) {
    $("check").replaceChildren(element("p", error.message, { className: "bad" }));
  }
});
