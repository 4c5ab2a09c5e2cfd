"use strict";
// Keys, filters, copying, and on a live page the news. The page answers without it; it changes no text, only where it stands.
(() => {
  document.documentElement.className = "js";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);
  const place = () => { try { return decodeURIComponent(location.hash.slice(1)); } catch { return ""; } };
  let at = null;
  let cameFrom = null;

  function show() {
    const id = place();
    all(".drawer.open").forEach((drawer) => drawer.classList.remove("open"));
    const drawer = id && byId(id);
    if (drawer && drawer.classList.contains("drawer")) {
      drawer.classList.add("open");
      drawer.focus({ preventScroll: true });
    }
  }

  function close() {
    if (!document.querySelector(".drawer.open")) return;
    history.pushState(null, "", location.pathname + location.search);
    show();
    if (at) at.querySelector("a").focus();
    else if (cameFrom && cameFrom.isConnected) cameFrom.focus();
  }

  const shown = (row) => !row.hidden && row.offsetParent !== null;

  function step(by) {
    const rows = all("tr.req").filter((row) => !["proven", "waived"].includes(row.dataset.state) && shown(row));
    if (!rows.length) return;
    const now = rows.indexOf(at);
    if (at) at.classList.remove("at");
    at = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : (now + by + rows.length) % rows.length];
    at.classList.add("at");
    at.querySelector("a").focus();
    at.scrollIntoView({ block: "nearest" });
  }

  const KEY = "agent-fox seen " + document.title;
  const seen = () => { try { return JSON.parse(localStorage.getItem(KEY) || "{}"); } catch { return {}; } };

  function filter() {
    const text = byId("search").value.trim().toLowerCase();
    const spec = byId("spec").value;
    const state = byId("state").value;
    const known = byId("changed").checked ? seen() : null;
    let count = 0;
    const isOn = text || spec || state || known;
    for (const row of all("tr.req")) {
      const isOpen = !["proven", "waived"].includes(row.dataset.state);
      const fits = (!spec || row.dataset.spec === spec) && (!state || row.dataset.state === state || (state === "open" && isOpen))
        && (!text || row.textContent.toLowerCase().includes(text)) && (!known || known[row.id] !== row.dataset.seen);
      row.hidden = !fits;
      count += fits;
    }
    for (const block of all(".heat-spec")) {
      block.hidden = isOn && !all("tr.req:not([hidden])", block).length;
      if (isOn) all("details.folded", block).forEach((fold) => { fold.open = true; });
    }
    byId("match-count").textContent = isOn ? `${count} shown` : "";
  }

  function remember() {
    try { localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(all("tr.req").map((row) => [row.id, row.dataset.seen])))); }
    catch { return; }
    filter();
  }

  async function copy(button) {
    const code = button.previousElementSibling;
    try { await navigator.clipboard.writeText(code.textContent); }
    catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (!document.execCommand("copy")) return;
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  }

  function begin(root) {
    all(".copy", root).forEach((button) => { button.hidden = false; });
    const filters = byId("filters");
    filters.hidden = false;
    filters.oninput = filter;
    filters.onsubmit = (event) => event.preventDefault();
    byId("seen").onclick = remember;
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copy");
    if (button) copy(button);
    const link = event.target.closest("a[href^='#']");
    if (link && !link.closest(".drawer")) cameFrom = link;
    if (event.target.closest("a.close")) { event.preventDefault(); close(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { byId("help").open ? byId("help").close() : close(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = { j: () => step(1), k: () => step(-1), "?": () => byId("help").showModal(),
      g: () => byId("plan").scrollIntoView(), "/": () => { byId("search").focus(); } }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  addEventListener("hashchange", show);
  begin(document);
  show();

  if (!document.body.dataset.live) return;

  // Only what differs is put in place of what stands, so that scroll, open parts and the open drawer stay.
  const SECTIONS = ["banner", "needs", "heat", "plan", "time", "cost"];
  const keep = (node) => { const twin = node.cloneNode(true); all("[open]", twin).forEach((part) => part.removeAttribute("open"));
    all(".at, .open", twin).forEach((part) => part.classList.remove("at", "open")); all("[hidden]", twin).forEach((part) => { part.hidden = false; }); return twin.textContent; };

  function replace(old, fresh) {
    const opened = all("details[open]", old).map((part) => part.querySelector("summary").textContent);
    const left = all(".scroll", old).map((part) => part.scrollLeft);
    const values = all("input, select", old).map((part) => (part.type === "checkbox" ? part.checked : part.value));
    old.replaceWith(fresh);
    all("details", fresh).forEach((part) => { if (opened.includes(part.querySelector("summary").textContent)) part.open = true; });
    all(".scroll", fresh).forEach((part, number) => { part.scrollLeft = left[number] || 0; });
    all("input, select", fresh).forEach((part, number) => { if (part.type === "checkbox") part.checked = values[number]; else if (values[number] !== undefined) part.value = values[number]; });
  }

  async function renew() {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim());
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = fresh.title;
    const active = document.activeElement && document.activeElement.id;
    for (const id of SECTIONS) {
      const old = byId(id), now = fresh.getElementById(id);
      if (old && now && (old.className !== now.className || keep(old) !== keep(now))) replace(old, document.adoptNode(now));
    }
    const drawers = byId("drawers");
    for (const now of all(".drawer", fresh)) {
      const old = byId(now.id);
      if (!old) drawers.append(document.adoptNode(now));
      else if (keep(old) !== keep(now)) { const top = old.scrollTop; replace(old, document.adoptNode(now)); byId(now.id).scrollTop = top; }
    }
    byId("model").textContent = fresh.getElementById("model").textContent;
    at = at && byId(at.id);
    begin(document);
    filter();
    const open = place() && byId(place());
    if (open && open.classList.contains("drawer")) open.classList.add("open");
    if (active && byId(active)) byId(active).focus({ preventScroll: true });
  }

  let isBusy = false, isAgain = false;
  async function news() {
    if (isBusy) { isAgain = true; return; }
    isBusy = true;
    try { do { isAgain = false; await renew(); } while (isAgain); } catch (error) { lost(error.message); } finally { isBusy = false; }
  }
  const lost = (why) => { const sign = byId("live"); if (sign) sign.textContent = `not current: ${why}`; };
  const source = new EventSource("events");
  source.onopen = news; // what changed before it was listened to is not sent
  source.onmessage = news;
  source.onerror = () => lost("no answer from agent-fox view");
})();
