import { open } from "./reader.js";

const key = { kty: "OKP", crv: "Ed25519", x: "KEY" };
let opened;
const gallery = () => (opened ??= open("https://gallery.example/gallery/", { key }).catch((error) => {
  opened = undefined; // the next message tries again
  throw error;
}));

// An alarm outlives the worker, and creating it again at each start would start its period again.
chrome.alarms.get("check").then((alarm) => alarm ?? chrome.alarms.create("check", { periodInMinutes: 5 }));
chrome.alarms.onAlarm.addListener(async () => (await gallery()).check());
chrome.runtime.onMessage.addListener(({ theme }, sender, reply) => {
  gallery().then((found) => found.css(found.get("theme", theme))).then((css) => reply({ css: css ?? "" }), () => reply({}));
  return true; // the reply follows
});
