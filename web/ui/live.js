// Reloads a page's content when something happened. Pages are whole without it.
"use strict";

(() => {
  const main = document.querySelector("main[data-after]");
  if (!main || !window.EventSource) return;
  const sign = document.getElementById("live");
  const kinds = main.dataset.kinds.split(" ");
  let after = main.dataset.after;
  let source = null;
  let timer = null;
  let loading = false;

  // Whoever types or reads an opened part is not disturbed.
  const busy = () => {
    const active = document.activeElement;
    return active && main.contains(active) && active.matches("input, select, textarea");
  };

  async function reload() {
    timer = null;
    if (loading || busy()) return later();
    loading = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok && !answer.redirected) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.querySelector("main[data-after]");
        if (fresh) {
          const open = [...main.querySelectorAll("details")].map((part) => part.open);
          main.replaceChildren(...fresh.childNodes);
          [...main.querySelectorAll("details")].forEach((part, i) => {
            if (i < open.length) part.open = open[i];
          });
        }
      }
    } catch {
      // The daemon is away; EventSource tries again and the next event reloads.
    } finally {
      loading = false;
    }
  }

  // Events come in bursts: at most one reload a second.
  function later() {
    if (timer === null) timer = setTimeout(reload, 1000);
  }

  function connect() {
    source = new EventSource("/api/v1/events?after=" + encodeURIComponent(after));
    source.onopen = () => { sign.hidden = false; };
    source.onerror = () => { sign.hidden = true; };
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        if (event.lastEventId) after = event.lastEventId;
        later();
      });
    }
  }

  function disconnect() {
    if (source) source.close();
    source = null;
    sign.hidden = true;
  }

  // A browser has six connections to a host: hidden tabs give theirs back.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) disconnect();
    else if (!source) { connect(); }
  });
  window.addEventListener("pagehide", disconnect);
  if (!document.hidden) connect();
})();
