/* Leads to what is wrong: the summary has the focus, then the first field that has to be mended. */
const summary = document.getElementById("summary");
if (summary) {
  summary.focus();
}
