// A few small comforts. Every page works without them.
"use strict";

for (const box of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(box.dataset.events);
  source.addEventListener("progress", (event) => {
    const now = JSON.parse(event.data);
    const badge = document.querySelector(".title-row .status");
    badge.className = "status " + now.status;
    badge.textContent = now.status[0].toUpperCase() + now.status.slice(1);
    box.querySelector("progress").value = now.percent;
    box.querySelector("[data-percent]").textContent = now.percent + " %";
    const detail = box.querySelector("[data-detail]");
    if (detail.textContent !== now.detail) detail.textContent = now.detail;
    for (const step of box.querySelectorAll("[data-phase]")) {
      const number = Number(step.dataset.phase);
      step.className = number < now.phase_number ? "done" : number === now.phase_number ? "now" : "later";
      if (number === now.phase_number) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    }
    // pages go by too fast to be read aloud: a screen reader hears each phase once
    const phase = box.querySelector("[aria-current]");
    const said = box.querySelector("[data-said]");
    if (phase && said.textContent !== phase.textContent) said.textContent = phase.textContent;
  });
  source.addEventListener("done", () => {
    source.close();
    location.reload();
  });
}

for (const box of document.querySelectorAll("[data-reading]")) {
  const look = async () => {
    try {
      const answer = await fetch(box.dataset.reading, { headers: { Accept: "application/json" } });
      const now = await answer.json();
      if (!now.running) return location.reload();
      const bar = box.querySelector("progress");
      bar.max = now.total || 1;
      bar.value = now.done;
      box.querySelector("[data-count]").textContent = Math.floor(now.done) + " of " + now.total;
      box.querySelector("[data-name]").textContent = now.name;
      box.querySelector("[data-place]").textContent = now.place;
    } catch { /* the server is busy or away for a moment: ask again */ }
    setTimeout(look, 700);
  };
  setTimeout(look, 300);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const before = button.textContent;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 1500);
  });
}

for (const form of document.querySelectorAll("form[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}

for (const part of document.querySelectorAll("[data-refresh]")) {
  const again = () => {
    const writing = document.activeElement && document.activeElement.closest("form");
    if (!writing) location.reload();
    else setTimeout(again, 2000);
  };
  setTimeout(again, Number(part.dataset.refresh));
}

for (const part of document.querySelectorAll("[data-latest]")) {
  part.scrollLeft = part.scrollWidth; // on a narrow screen, the present before the past
}

for (const form of document.querySelectorAll("form[data-files]")) {
  const input = form.querySelector("input[type=file]");
  const box = form.querySelector("[data-drop]");
  const list = form.querySelector("[data-file-list]");
  const button = form.querySelector("button");
  let chosen = [];

  const show = () => {
    list.replaceChildren(...chosen.map(({ path, file }) => {
      const item = document.createElement("li");
      const name = document.createElement("span");
      name.textContent = path + " (" + Math.max(1, Math.round(file.size / 1024)) + " KB)";
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.value = 0;
      bar.hidden = true;
      bar.setAttribute("aria-label", path);
      item.append(name, bar);
      return item;
    }));
    input.required = chosen.length === 0;
  };
  const add = (path, file) => {
    if (!chosen.some((one) => one.path === path && one.file.size === file.size)) chosen.push({ path, file });
  };
  const walk = async (entry, path) => {
    if (entry.isFile) add(path + entry.name, await new Promise((done, fail) => entry.file(done, fail)));
    if (!entry.isDirectory) return;
    const reader = entry.createReader();
    for (;;) {
      const inside = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!inside.length) return;
      for (const one of inside) await walk(one, path + entry.name + "/");
    }
  };
  const fail = (text) => {
    let shown = document.getElementById("problem");
    if (!shown) {
      shown = document.createElement("div");
      shown.id = "problem";
      shown.className = "problem";
      shown.setAttribute("role", "alert");
      form.before(shown);
    }
    shown.textContent = text;
    shown.scrollIntoView();
    button.disabled = false;
  };

  form.querySelector("[data-drop-hint]").hidden = false;
  input.addEventListener("change", () => {
    for (const file of input.files) add(file.webkitRelativePath || file.name, file);
    show();
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    box.addEventListener(kind, (event) => {
      event.preventDefault();
      box.classList.toggle("over", kind === "dragover");
    });
  }
  box.addEventListener("drop", async (event) => {
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
    const files = [...event.dataTransfer.files];
    if (entries.some(Boolean)) for (const entry of entries.filter(Boolean)) await walk(entry, "");
    else for (const file of files) add(file.name, file);
    show();
  });
  form.addEventListener("submit", (event) => {
    if (!chosen.length) return;
    event.preventDefault();
    const data = new FormData(form);
    data.delete("files");
    for (const { path, file } of chosen) data.append("files", file, path);
    const bars = [...list.querySelectorAll("progress")];
    for (const bar of bars) bar.hidden = false;
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (now) => {
      let sent = now.loaded; // the files go one after the other
      chosen.forEach(({ file }, number) => {
        bars[number].value = file.size ? Math.min(1, Math.max(0, sent / file.size)) : 1;
        sent -= file.size;
      });
    });
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { answer = {}; }
      if (request.status === 200 && answer.place) location.assign(answer.place);
      else fail(answer.problem || "The documents could not be submitted (" + request.status + ").");
    });
    request.addEventListener("error", () => fail("The connection was lost. Try again."));
    button.disabled = true;
    request.send(data);
  });
}
