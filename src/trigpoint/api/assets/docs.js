"use strict";
// Sends what a form describes and shows the answer. The key stays in this page.
for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const shown = form.querySelector("pre");
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const input of form.querySelectorAll("input[data-in]")) {
      if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.append(input.name, input.value);
    }
    const headers = {};
    const key = document.getElementById("key").value;
    if (key) headers["Authorization"] = `Bearer ${key}`;
    const body = form.querySelector("textarea")?.value;
    if (body) headers["Content-Type"] = "application/json";
    const address = query.size ? `${path}?${query}` : path;
    shown.textContent = "…";
    try {
      const answer = await fetch(address, { method: form.dataset.method, headers, body: body || undefined });
      const text = await answer.text();
      const lines = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
      let pretty = text;
      try { pretty = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it is */ }
      shown.textContent = `${answer.status} ${answer.statusText}\n${lines}\n\n${pretty}`;
    } catch (problem) {
      shown.textContent = String(problem);
    }
  });
}
