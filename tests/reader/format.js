/** Reads the test vectors of docs/read.md with reader.js; prints what it observes in each step, by vector. */
import { text } from "node:stream/consumers";

import { open } from "./reader.js";

const { vectors } = JSON.parse(await text(process.stdin));
const url = "https://gallery.example/gallery/";
let step;
Date.now = () => step.now * 1000;
globalThis.fetch = async (address) => {
  const content = step.files[String(address).slice(url.length)];
  if (content === undefined) return new Response("", { status: 404 });
  return new Response(content.base64 === undefined ? content : Buffer.from(content.base64, "base64"));
};

async function observed({ steps }) {
  const contents = new Map();
  const store = { get: async (name) => contents.get(name), set: async (name, bytes) => void contents.set(name, bytes) };
  const seen = [];
  let gallery;
  let withdrawn = [];
  for (step of steps) {
    const found = { fails: false };
    withdrawn = [];
    try {
      if (step.do === "open") {
        gallery = undefined;
        gallery = await open(url, { key: step.keys, store });
        gallery.on("withdrawn", (entries) => withdrawn.push(...entries.map(({ kind, id, severity }) => [kind, id, severity])));
      } else found.new = await gallery.check();
    } catch {
      found.fails = true;
    }
    seen.push({
      ...found,
      version: gallery?.latest.version ?? null,
      logos: gallery?.logos().map((logo) => logo.logo_id) ?? [],
      themes: gallery?.themes().map((theme) => theme.theme_id) ?? [],
      ...(step.do === "open" ? {} : { withdrawn }),
    });
  }
  return seen;
}

const found = {};
for (const vector of vectors) found[vector.name] = await observed(vector);
process.stdout.write(JSON.stringify(found));
