/** A service worker that plays stories: it has neither a document nor localStorage. */
import { playAll } from "./harness.js";
import { open } from "./reader.js";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("message", ({ data, ports: [port] }) => {
  playAll(open, data.address, data.stories).then(
    (found) => port.postMessage({ found, scope: self.constructor.name, document: typeof document }),
    (error) => port.postMessage({ error: String(error) }),
  );
});
