/* Charts to explore: a frame takes the place of the picture, and gives it back. */

/** Let the links to charts open them in the page. */
export function explore(page, texts) {
  page.addEventListener("click", (event) => {
    const link = event.target.closest("[data-explore]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    toggle(link, document.getElementById(link.dataset.explore), texts);
  });
  window.addEventListener("message", (event) => {
    const frame = [...page.querySelectorAll(".chart iframe")].find((each) => each.contentWindow === event.source);
    const height = Number(event.data?.exploreHeight);
    if (frame && height > 0) {
      frame.height = Math.min(height, 4000);
    }
  });
}

function toggle(link, chart, texts) {
  const picture = chart.querySelector("picture");
  const open = chart.querySelector("iframe");
  const label = link.firstChild;
  if (open) {
    open.remove();
    picture.hidden = false;
    label.textContent = texts.explore;
    return;
  }
  const address = new URL(link.href);
  address.searchParams.set("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  address.searchParams.set("width", matchMedia("(max-width: 760px)").matches ? "narrow" : "wide");
  address.searchParams.set("heading", "false");
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = chart.querySelector("img").alt;
  frame.width = picture.offsetWidth;
  frame.height = picture.offsetHeight;
  frame.src = address;
  picture.hidden = true;
  chart.append(frame);
  label.textContent = texts.close;
}
