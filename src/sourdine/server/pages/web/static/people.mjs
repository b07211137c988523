// The owner's page of people: somebody new, with a password that is shown once.

import { $, attempt, call, part, place } from "./common.mjs";

$("add-person").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  attempt(form, async () => {
    const { name, role, password, own_password } = form.elements;
    const chosen = password.value ? { password: password.value } : {};
    const made = await call("/people", { name: name.value.trim(), role: role.value, own_password: own_password.value, ...chosen });
    $("added").textContent = `${made.name} (${made.role})`;
    $("new-password").textContent = made.password ?? "";
    $("once").hidden = $("shown").hidden = !made.password;
    $("made").hidden = false;
    form.reset();
    place(await part("people", "/people"));
  });
});
