// The letter workshop: the letter follows what is written, points move at once, and files are saved before they are taken.
"use strict";

for (const form of document.querySelectorAll("form[data-letter]")) {
  const paper = form.querySelector("[data-paper]");
  const length = form.querySelector("[data-length]");
  const saved = form.querySelector("[data-saved]");
  const copy = form.querySelector("[data-copy-letter]");
  const place = form.getAttribute("action"); // form.action is a button of that name
  const kept = ["sender_name", "sender_organisation", "sender_address", "sender_email"];
  let unsaved = form.hasAttribute("data-unsaved");
  let touched = unsaved; // what was only filled in for the writer may be left without a question
  let asked = 0;
  let timer = 0;

  const say = (pages) => {
    const most = Number(length.dataset.most);
    length.replaceChildren(document.createElement("strong"), " of " + most + " pages" + (pages > most ? ": too long. Untick a point, or move one to the annex" : ""));
    length.firstChild.textContent = pages;
    length.classList.toggle("long", pages > most);
  };
  const follow = (name, usual) => {
    const shown = form.elements[name];
    const hidden = form.elements["usual_" + name];
    if (shown.value.trim() === hidden.value.trim()) shown.value = usual;
    hidden.value = usual;
  };
  const preview = async () => {
    const mine = ++asked;
    const answer = await fetch(form.dataset.preview, { method: "POST", body: new FormData(form) });
    if (!answer.ok || mine !== asked) return;
    const now = await answer.json();
    if (mine !== asked) return;
    paper.innerHTML = now.html; // made by our own template, in which every text is escaped
    copy.dataset.copy = now.text;
    follow("opening", now.opening);
    follow("closing", now.closing);
    say(now.pages);
  };
  const changed = () => {
    unsaved = true;
    saved.textContent = "There are unsaved changes. They are saved before a download.";
    clearTimeout(timer);
    timer = setTimeout(preview, 500);
  };
  const remember = () => {
    const values = kept.map((name) => form.elements[name].value);
    if (values.some(Boolean)) localStorage.setItem("letter-sender", JSON.stringify(values));
  };
  const recall = () => {
    if (kept.some((name) => form.elements[name].value)) return;
    let values = [];
    try { values = JSON.parse(localStorage.getItem("letter-sender") || "[]"); } catch { values = []; }
    if (!values.length) return;
    kept.forEach((name, place) => { form.elements[name].value = values[place] || ""; });
    changed();
  };
  const save = async () => {
    const data = new FormData(form);
    data.set("action", "save");
    const answer = await fetch(place, { method: "POST", body: data, headers: { Accept: "application/json" } });
    const now = await answer.json();
    if (answer.status === 409) {
      unsaved = false;
      location.assign(place + "?version=" + now.kept_version);
      return false;
    }
    if (!answer.ok) return false;
    remember();
    unsaved = false;
    form.elements.shown.value = now.version;
    for (const field of document.querySelectorAll("input[name=based_on]")) field.value = now.version;
    saved.textContent = "Saved as version " + now.version + ". Downloads contain this version.";
    return true;
  };

  form.querySelector("[data-show]").hidden = true;
  form.addEventListener("input", () => {
    touched = true;
    changed();
  });
  form.addEventListener("change", (event) => {
    const point = event.target.closest("[data-point]");
    if (!point) return;
    if (event.target.type === "checkbox") point.classList.toggle("unticked", !event.target.checked);
    if (event.target.name.startsWith("text:")) point.querySelector("[data-snippet]").textContent = event.target.value;
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (!button) return;
    event.preventDefault();
    const point = button.closest("[data-point]");
    const other = button.dataset.move === "-1" ? point.previousElementSibling : point.nextElementSibling;
    if (!other) return;
    if (button.dataset.move === "-1") other.before(point);
    else other.after(point);
    button.focus();
    touched = true;
    changed();
    const points = [...point.parentElement.children];
    saved.textContent = "Moved to place " + (points.indexOf(point) + 1) + " of " + points.length + ". Not saved yet.";
  });
  for (const link of form.querySelectorAll("[data-download]")) {
    link.addEventListener("click", async (event) => {
      if (!unsaved) return;
      event.preventDefault();
      if (await save()) link.click();
    });
  }
  form.addEventListener("submit", () => {
    remember();
    unsaved = false;
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved && touched) event.preventDefault();
  });
  recall();
}
