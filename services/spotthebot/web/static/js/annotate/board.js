/** The leaderboard below the thanks: it comes when it is there, and its absence hides nothing else. */

const place = document.querySelector("[data-board]");

try {
  const answer = await fetch(place.dataset.board);
  if (answer.ok) place.innerHTML = await answer.text(); // the server escapes all texts in it
} catch {
  place.replaceChildren(); // the link below leads to it
}
