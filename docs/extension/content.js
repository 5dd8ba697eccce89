const style = document.createElement("style");
document.documentElement.append(style);
async function apply() {
  const { css } = await chrome.runtime.sendMessage({ theme: 1 });
  if (css !== undefined) style.textContent = css; // empty for a theme that was withdrawn
}
apply();
setInterval(apply, 60_000);
