/* Draws the chart of the frame, and says how high it is. A classic script: the frame has an origin of its own, whose
   modules the server would have to allow. */
"use strict";

const ERRORS = 1;

(async () => {
  const chart = document.getElementById("chart");
  const spec = JSON.parse(document.getElementById("spec").textContent);
  try {
    const tooltip = { theme: document.body.className };
    await window.vegaEmbed(chart, spec, { actions: false, renderer: "svg", logLevel: ERRORS, tooltip });
  } catch (error) {
    chart.textContent = String(error);
  }
  const height = Math.ceil(document.documentElement.scrollHeight);
  window.parent.postMessage({ exploreHeight: height }, "*");
})();
