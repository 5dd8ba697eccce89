/** Uploads a file with progress, which `fetch` does not report. */
import { timer } from "./network.js";

/**
 * @param {URL} url
 * @param {import("./client.js").Request} request
 * @param {number} limit Milliseconds without progress.
 * @returns {Promise<Response>} as `fetch` has it
 * @throws {import("./network.js").TimedOut}
 * @throws {TypeError} if no response arrives, as with `fetch`
 */
export function uploaded(url, { method, headers, body, signal: outer, progress }, limit) {
  const { signal, progress: continues, end } = timer(limit, outer);
  /** @type {Promise<Response>} */
  const response = new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.responseType = "blob";
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => {
      continues();
      progress?.(loaded, total);
    };
    request.onload = () => done(new Response(request.response, { status: request.status, headers: headersOf(request) }));
    request.onerror = () => failed(new TypeError("no answer"));
    request.onabort = () => failed(signal.reason);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    if (signal.aborted) failed(signal.reason);
    else request.send(body ?? null);
  });
  return response.finally(end);
}

/** @param {XMLHttpRequest} request @returns {[string, string][]} */
function headersOf(request) {
  return [...request.getAllResponseHeaders().matchAll(/^(.+?): (.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
}
