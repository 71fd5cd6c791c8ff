// Sends the form at each change, and puts what comes back in place without moving the reader.
"use strict";

const shown = new Set(["#choice", "#shown"]);
let asked = 0;

async function show(address) {
  const mine = ++asked;
  const answer = await fetch(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== asked) return;
  if (![...shown].every((part) => page.querySelector(part))) {
    location.assign(address);
    return;
  }
  const focused = document.activeElement?.id;
  const open = [...document.querySelectorAll("details[open]")].map((part) => part.id);
  for (const part of shown) document.querySelector(part).replaceWith(page.querySelector(part));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  document.title = page.title;
  document.getElementById("status").textContent = page.title;
  if (focused) document.getElementById(focused)?.focus();
  history.replaceState(null, "", address);
}

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.id !== "choice") return;
  const fields = new URLSearchParams(new FormData(form));
  show(`./?${fields}`).catch(() => form.submit());
});
