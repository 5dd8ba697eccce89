/**
 * Keeps the list, and the pages that were visited, for times without a network: a service worker. With a network, it asks for each file, so that a new
 * version never mixes with an old one. The gallery itself and the pictures do not pass through it.
 */
const worker = /** @type {any} */ (self);
const SCRIPTS = ["page.js", "page-cards.js", "page-choices.js", "page-elements.js", "page-facets.js", "page-list.js", "reader.js"];
const OF_WORKS = ["page-work.css", "page-work.js", "page-preview.js", "page-sample.js", "page-frame.js"];
const PAGE = ["./", "page.css", "page-face.woff2", "page-face-accented.woff2", ...SCRIPTS, ...OF_WORKS];
/** Pages that are kept once they were visited. */
const VISITED = /^(?:(?:logos|themes|authors)\/\d+|checks)\/$/;
const KEPT = `logoadmin page ${worker.registration.scope}`;
/** How long a slow network may take, if there is a copy. */
const PATIENCE = 4000;

/** @param {string} url @returns {string | undefined} the name of a file of the page */
const nameOf = (url) => {
  const { origin, pathname } = new URL(url);
  const name = (origin + pathname).replace(/index\.html$/, "").replace(worker.registration.scope, "./").replace(/^\.\/(?=.)/, "");
  return PAGE.includes(name) || VISITED.test(name) ? name : undefined;
};

/** @param {any} event @param {string} name */
async function answer(event, name) {
  const files = await caches.open(KEPT);
  const kept = files.match(name);
  const fresh = fetch(event.request.mode === "navigate" ? event.request : new Request(event.request, { cache: "no-cache" })).then(async (response) => {
    if (response.ok && !response.redirected) await files.put(name, response.clone());
    if (response.status === 404) await files.delete(name); // such as the page of a work that was removed
    return response;
  });
  event.waitUntil(fresh.catch(() => undefined));
  const late = new Promise((done) => setTimeout(done, PATIENCE));
  const found = await Promise.race([fresh.catch(() => undefined), kept.then((copy) => copy && late)]);
  return found?.status < 500 ? found : ((await kept) ?? fresh);
}

worker.addEventListener("install", (/** @type {any} */ event) => {
  worker.skipWaiting();
  event.waitUntil(caches.open(KEPT).then((files) => files.addAll(PAGE.map((name) => new Request(name, { cache: "no-cache" })))));
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const name = event.request.method === "GET" && nameOf(event.request.url);
  if (name) event.respondWith(answer(event, name));
});
