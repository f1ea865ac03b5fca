// "/" goes to the search box, unless somebody is typing. On a narrow screen the menu shows where one is.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const search = document.getElementById("search");
  if (!search) return;
  event.preventDefault();
  search.focus();
  search.select();
});
document.querySelector(".menu [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
