// The arrow keys lead to the conversation before and after; without this script the links do.

const LINKS = { ArrowLeft: "prev", ArrowRight: "next" };

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const inside = event.target instanceof Element
    && event.target.closest("input, select, textarea, summary, [role=region], dialog");
  if (inside) return;
  const rel = LINKS[event.key];
  if (rel) document.querySelector(`nav a[rel=${rel}]`)?.click();
});
