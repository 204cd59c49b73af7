"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const by = (id) => document.getElementById(id);

  const filters = by("filters");
  if (filters) {
    const choices = all("select", filters);
    const words = by("filter-text");
    const items = all("#found > li");
    const texts = new Map();
    const textOf = (item) => {
      if (!texts.has(item)) texts.set(item, item.textContent.toLowerCase());
      return texts.get(item);
    };

    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of items) {
        const fits =
          choices.every((choice) => !choice.value || item.dataset[choice.name] === choice.value) &&
          wanted.every((word) => textOf(item).includes(word));
        item.hidden = !fits;
        shown += fits;
      }
      by("filter-count").textContent = shown === items.length ? `${shown} findings` : `${shown} of ${items.length} findings`;
      by("filter-none").hidden = shown > 0;
    };

    words.addEventListener("input", apply);
    choices.forEach((choice) => choice.addEventListener("change", apply));
    by("filter-reset").addEventListener("click", () => {
      words.value = "";
      choices.forEach((choice) => (choice.value = ""));
      apply();
      words.focus();
    });
    filters.hidden = false;
    apply();
  }

  for (const button of all("button[data-branches]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const open = button.dataset.branches === "open";
      all("details", by(button.getAttribute("aria-controls"))).forEach((branch) => (branch.open = open));
    });
  }

  const reveal = () => {
    const target = location.hash.length > 1 && by(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let above = target.parentElement; above; above = above.parentElement) {
      if (above.tagName === "DETAILS") above.open = true;
    }
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
