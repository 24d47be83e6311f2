"""The style sheet, the script and the sign of every page: our own, served beside them."""

from roadstead.explain.graph.svg import STYLE as DRAWING
from roadstead.explain.palette import PALETTE

STYLE = (
    PALETTE
    + """
* { box-sizing: border-box; }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
header { background: var(--box); border-bottom: 1px solid var(--line); padding: .6rem 1.5rem;
  display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; }
header strong { font-size: 1.1rem; }
header small { color: var(--soft); margin-left: auto; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0;
  padding: 0; }
nav a[aria-current] { color: var(--ink); font-weight: bold; text-decoration: none; }
main { padding: .5rem 1.5rem 2rem; }
h1 { font-size: 1.4rem; margin: .75rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
a { color: var(--link); }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .75rem 0; }
input, button { font: inherit; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: 4px; padding: .3rem .6rem; }
input[type=search] { width: 22rem; max-width: 100%; }
input[type=checkbox] { accent-color: var(--focus); width: 1.1rem; height: 1.1rem; margin: 0;
  vertical-align: -.15rem; }
button { background: var(--box); cursor: pointer; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--soft); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--faint); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td { overflow-wrap: break-word; }
td.keep { white-space: nowrap; }
td.wide { min-width: 16rem; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: bold; }
.warn { color: var(--warn); } .soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--box); border: 1px solid var(--faint); padding: .75rem; overflow-x: auto; }
code { overflow-wrap: anywhere; }
.note { color: var(--soft); margin: .25rem 0; }
.because { border-left: 4px solid var(--line); padding-left: .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
ol.next li { margin-bottom: .4rem; }
summary { cursor: pointer; }
@media (max-width: 45rem) {
  header, main { padding-left: .75rem; padding-right: .75rem; }
  header small { margin-left: 0; }
  table.cards, table.cards tbody, table.cards tr, table.cards td,
  table.cards caption { display: block; }
  table.cards thead { position: absolute; left: -99rem; }
  table.cards tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  table.cards td { border: 0; padding: .1rem 0; min-width: 0; }
  table.cards td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
}
@media print {
  nav, form, .skip, .live { display: none; }
  header { border: 0; background: none; padding: 0; }
  main { padding: 0; }
  a { color: inherit; text-decoration: none; }
  .scroll { overflow: visible; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
}
"""
    + DRAWING
)

SCRIPT = """\
"use strict";
// Without this the form is sent by its button; with it, as one types, and again every few seconds.
const form = document.querySelector("form[data-live]");
if (form) {
  const said = document.getElementById("live");
  let asked = 0, typed = 0;
  const address = () => {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) query.set(name, value);
    const text = query.toString();
    return form.getAttribute("action") + (text ? "?" + text : "");
  };
  const refresh = async () => {
    const number = ++asked, where = address();
    try {
      const answer = await fetch(where);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("found");
      if (number !== asked || !answer.ok || !found) return;
      document.getElementById("found").replaceWith(found);
      history.replaceState(null, "", where);
      said.textContent = "live";
    } catch {
      said.textContent = "no answer; this is what was so before";
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(refresh, 150);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  setInterval(() => {
    const used = document.getElementById("found").contains(document.activeElement);
    const paged = new URLSearchParams(location.search).has("page");
    if (!document.hidden && !used && !paged && getSelection().isCollapsed) refresh();
  }, 5000);
  said.textContent = "live";
}
"""

SIGN = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">\
<circle cx="8" cy="3.5" r="2" fill="none" stroke="#0a58ca" stroke-width="1.5"/>\
<path d="M8 5.5V14M4 8.5h8M2 10c0 5 12 5 12 0" fill="none" stroke="#0a58ca" \
stroke-width="1.5"/></svg>
"""
