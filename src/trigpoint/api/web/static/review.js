// The document beside its finding on a wide screen, findings by keyboard, and everything unfolded for print.
"use strict";

const review = document.querySelector("[data-review]");
const pane = review.querySelector("[data-pane]");
const body = pane.querySelector("[data-pane-body]");
const wide = matchMedia("(min-width: 72rem)");
let opener = null;
let wanted = 0;

const findings = () => [...review.querySelectorAll("[data-finding]")].filter((one) => one.checkVisibility());
const current = () => review.querySelector("[data-finding].current");

const choose = (finding) => {
  for (const one of review.querySelectorAll(".current")) one.classList.remove("current");
  if (!finding) return;
  finding.classList.add("current");
  history.replaceState(null, "", "#" + finding.id);
};

const show = async (link) => {
  const asked = ++wanted; // the latest click counts, whichever answer comes first
  choose(link.closest("[data-finding]"));
  pane.hidden = false;
  review.classList.add("split");
  body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const part = page.querySelector("[data-evidence-part]") || page.querySelector("main");
    if (asked !== wanted) return;
    body.replaceChildren(document.adoptNode(part));
    const heading = body.querySelector("h1");
    if (heading) { // the page has its own first heading
      const lower = document.createElement("h2");
      const open = document.createElement("a");
      open.href = link.href;
      open.textContent = heading.textContent;
      lower.append(open);
      heading.replaceWith(lower);
    }
    const sheet = body.querySelector("[data-top]");
    body.scrollTop = 0;
    if (sheet) {
      const image = sheet.querySelector("img");
      const place = () => {
        const mark = sheet.offsetTop - body.offsetTop + image.clientHeight * Number(sheet.dataset.top);
        if (mark > body.clientHeight * 0.8) body.scrollTop = mark - body.clientHeight / 3;
      };
      if (image.complete) place();
      else image.addEventListener("load", place, { once: true });
    }
  } catch {
    location.assign(link.href);
  } finally {
    body.removeAttribute("aria-busy");
  }
  const finding = current();
  if (finding) finding.scrollIntoView({ block: "nearest" });
};

const close = () => {
  pane.hidden = true;
  review.classList.remove("split");
  if (opener) opener.focus();
};

const step = (by) => {
  const all = findings();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  choose(next);
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  const link = next.querySelector("figcaption [data-evidence]");
  if (link && wide.matches) show(link);
};

review.addEventListener("click", (event) => {
  const link = event.target.closest("[data-evidence]");
  if (!link || !wide.matches || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  opener = link;
  show(link);
});
pane.addEventListener("click", (event) => {
  const back = event.target.closest("[data-back]");
  const way = event.target.closest("[data-pane-step]");
  if (event.target.closest("[data-pane-close]")) close();
  if (way) step(Number(way.dataset.paneStep));
  if (!back) return;
  event.preventDefault();
  const target = document.getElementById(new URL(back.href).hash.slice(1));
  if (target) reveal(target);
});
document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || event.shiftKey) return;
  if (event.key === "Escape" && !pane.hidden) close();
  const busy = event.target.closest("input, select, textarea, summary, .table, [data-pane-body]");
  if (busy || !["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  event.preventDefault();
  step(event.key === "ArrowRight" ? 1 : -1);
});

const reveal = (target) => {
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
  if (target.matches("[data-finding]")) choose(target);
};
const follow = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) reveal(target);
};
addEventListener("hashchange", follow);
follow();

for (const image of review.querySelectorAll(".strip-of img")) {
  const quoteInstead = () => { // the file is not here: its words are
    const quote = document.createElement("blockquote");
    quote.textContent = image.alt;
    image.closest("a").replaceWith(quote);
  };
  image.addEventListener("error", quoteInstead);
  if (image.complete && !image.naturalWidth && image.currentSrc) quoteInstead();
}

addEventListener("beforeprint", () => {
  for (const part of review.querySelectorAll("details:not(.menu, .says, .asks)")) {
    if (part.open) continue;
    part.open = true;
    part.dataset.folded = "";
  }
});
addEventListener("afterprint", () => {
  for (const part of review.querySelectorAll("details[data-folded]")) {
    part.open = false;
    delete part.dataset.folded;
  }
});
