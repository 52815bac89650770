// A few small comforts. Every page works without them.
"use strict";

for (const box of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(box.dataset.events);
  source.addEventListener("progress", (event) => {
    const now = JSON.parse(event.data);
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
  });
  source.addEventListener("done", () => {
    source.close();
    location.reload();
  });
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
