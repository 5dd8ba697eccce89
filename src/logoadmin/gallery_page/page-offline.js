/**
 * A service worker that keeps the list and visited pages for offline use. With a network, it requests each file, so that a new version never mixes with
 * an old one. It does not handle the gallery's data and pictures.
 */
const worker = /** @type {any} */ (self);
const SCRIPTS = ["page.js", "page-cards.js", "page-choices.js", "page-elements.js", "page-facets.js", "page-list.js", "reader.js"];
const OF_WORKS = ["page-work.css", "page-work.js", "page-preview.js", "page-sample.js", "page-frame.js"];
const PAGE = ["./", "page.css", "page-face.woff2", "page-face-accented.woff2", ...SCRIPTS, ...OF_WORKS];
/** Pages that are kept after a visit. */
const VISITED = /^(?:(?:logos|themes|authors)\/\d+|checks)\/$/;
const CACHE = `logoadmin page ${worker.registration.scope}`;
/** Milliseconds to wait for a slow network, if there is a copy. */
const TIMEOUT = 4000;

/** @param {string} url @returns {string | undefined} the name of a file of the page */
const nameOf = (url) => {
  const { origin, pathname } = new URL(url);
  const name = (origin + pathname).replace(/index\.html$/, "").replace(worker.registration.scope, "./").replace(/^\.\/(?=.)/, "");
  return PAGE.includes(name) || VISITED.test(name) ? name : undefined;
};

/** @param {any} event @param {string} name */
async function answer(event, name) {
  const files = await caches.open(CACHE);
  const stored = files.match(name);
  const fresh = fetch(event.request.mode === "navigate" ? event.request : new Request(event.request, { cache: "no-cache" })).then(async (response) => {
    if (response.ok && !response.redirected) await files.put(name, response.clone());
    if (response.status === 404) await files.delete(name); // such as the page of a removed work
    return response;
  });
  event.waitUntil(fresh.catch(() => undefined));
  const late = new Promise((done) => setTimeout(done, TIMEOUT));
  const found = await Promise.race([fresh.catch(() => undefined), stored.then((copy) => copy && late)]);
  return found?.status < 500 ? found : ((await stored) ?? fresh);
}

worker.addEventListener("install", (/** @type {any} */ event) => {
  worker.skipWaiting();
  event.waitUntil(caches.open(CACHE).then((files) => files.addAll(PAGE.map((name) => new Request(name, { cache: "no-cache" })))));
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const name = event.request.method === "GET" && nameOf(event.request.url);
  if (name) event.respondWith(answer(event, name));
});
