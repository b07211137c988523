import { $, call, complain, settled } from "./common.mjs";

$("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  settled($("login"));
  try {
    await call("/login", { name: $("name").value, password: $("password").value });
    location.assign($("login").dataset.next);
  } catch (error) {
    complain($("login"), null, error.status === 401 ? "Wrong name or password." : error.message);
    $("password").select();
  }
});
