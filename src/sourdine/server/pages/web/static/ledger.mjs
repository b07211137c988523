import { $, element, part, place } from "./common.mjs";

$("look").addEventListener("click", async (event) => {
  $("check").replaceChildren(element("p", "Checking …", { className: "soft" }));
  try {
    place(await part("check", event.target.dataset.at));
  } catch (error) {
    $("check").replaceChildren(element("p", error.message, { className: "bad" }));
  }
});
