/** Uses reader.js in Node as programs do, with the files of standard input; fails if it behaves otherwise. */
import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

import { open } from "./reader.js";

const { key, one, two, sheets, details, now } = JSON.parse(await text(process.stdin));
const url = "https://gallery.example/gallery";
let files = one;
let requests = [];
Date.now = () => now * 1000;
globalThis.fetch = async (address) => {
  const path = String(address).slice(url.length + 1);
  requests.push(path);
  return path in files ? new Response(Buffer.from(files[path], "base64")) : new Response("", { status: 404 });
};

const memoryStore = (contents = new Map()) => ({
  contents,
  get: async (name) => contents.get(name),
  set: async (name, bytes) => void contents.set(name, bytes),
});

/** Begin with other files and without requests. */
function serve(served) {
  files = served;
  requests = [];
}

const cases = {
  async "records come with their authors, as copies, and by target"() {
    const gallery = await open(url, { key, store: memoryStore() });
    const ids = (records) => records.map((record) => record.logo_id);
    assert.deepEqual(ids(gallery.logos()), [1, 2]);
    assert.deepEqual(ids(gallery.logos({ target: "wiki" })), [2]);
    assert.deepEqual(gallery.themes({ target: "elsewhere" }), []);
    const logo = gallery.get("logo", 1);
    assert.deepEqual([logo.authors[0].username, logo.custom_css, logo.author_ids], ["Ann", "", [1]]);
    logo.name = "changed";
    assert.equal(gallery.get("logo", 1).name, "logo 1");
    assert.deepEqual(gallery.logos().map((each) => each.details), [details, undefined]);
    const unknown = [["logo", 99], ["logo", "1"], ["user", 1], ["__proto__", 1]];
    for (const [kind, id] of unknown) assert.equal(gallery.get(kind, id), undefined);
    assert.equal(gallery.latest.version, 1);
  },

  async "simultaneous checks share one"() {
    const gallery = await open(url, { key, store: memoryStore() });
    serve(two);
    assert.deepEqual(await Promise.all([gallery.check(), gallery.check(), gallery.check()]), [true, true, true]);
    assert.equal(requests.filter((path) => path === "latest.json").length, 1);
    assert.equal(await gallery.check(), false);
  },

  async "listeners are called for news, until they are removed, and cannot break a check"() {
    const gallery = await open(url, { key, store: memoryStore() });
    const heard = [];
    const broken = new Promise((resolve) => process.once("unhandledRejection", resolve));
    gallery.on("change", () => {
      throw Error("the listener's own");
    });
    gallery.on("change", (version) => heard.push(version));
    gallery.on("withdrawn", (entries) => heard.push(...entries.map(({ id }) => id)));
    gallery.on("change", () => heard.push("removed"))();
    serve(two);
    await gallery.check();
    assert.deepEqual(heard, [2, 2]);
    assert.equal((await broken).message, "the listener's own");
  },

  async "two pages with one store: the later one learns, and the earlier one does not put it back"() {
    const store = memoryStore();
    const [page, other] = [await open(url, { key, store }), await open(url, { key, store })];
    serve(two);
    await page.check();
    const newest = store.contents.get("state");
    serve(one);
    assert.equal(await other.check(), true); // the news that the first one stored
    assert.equal(await other.check(), false);
    assert.equal(other.latest.version, 2);
    assert.equal(store.contents.get("state"), newest);
    assert.equal((await open(url, { key, store })).latest.version, 2);
  },

  async "a program that ends at any write starts with a whole state"() {
    for (const writes of [0, 1, 2, 3]) {
      serve(one);
      const store = memoryStore();
      const gallery = await open(url, { key, store });
      serve(two);
      let left = writes;
      let isChecked = false;
      await new Promise((resolve, reject) => {
        const ending = (name, bytes) => (left-- > 0 ? store.set(name, bytes) : new Promise(() => resolve()));
        const ended = open(url, { key, store: { ...store, set: ending } }).then((opened) => opened.check());
        ended.then(() => resolve((isChecked = true)), reject);
      });
      serve({});
      const again = await open(url, { key, store });
      // After the first write, the pointer blocks logo 2, and the index is still the one before.
      const logos = again.logos().map((logo) => logo.logo_id);
      assert.deepEqual([again.latest.version, logos], [[1, [1, 2]], [2, [1]], [2, [1]], [2, [1, 3]]][writes]);
      assert.equal(gallery.latest.version, 1);
      assert.equal(isChecked, writes > 2);
    }
  },

  async "what has not changed is not written"() {
    const written = [];
    const store = memoryStore();
    const { set } = store;
    store.set = (name, bytes) => set(name, bytes, written.push(name));
    const gallery = await open(url, { key, store });
    written.length = 0;
    assert.equal(await gallery.check(), false);
    assert.deepEqual(written, []);
    serve(two);
    await gallery.check();
    assert.deepEqual(written, ["state", "other", "state"]);
  },

  async "a check reports the news of background checks and failed ones, once"() {
    const store = memoryStore();
    await open(url, { key, store });
    serve(two);
    const { now } = Date;
    Date.now = () => now() + 600_000;
    const gallery = await open(url, { key, store });
    await new Promise((resolve) => gallery.on("change", resolve));
    assert.deepEqual([await gallery.check(), await gallery.check()], [true, false]);
    Date.now = now;
    serve(one);
    const other = await open(url, { key, store: memoryStore() });
    serve({ "latest.json": two["latest.json"] });
    await assert.rejects(other.check(), /HTTP 404/); // what it blocks is gone
    assert.deepEqual(other.logos().map((logo) => logo.logo_id), [1]);
    assert.equal(await open(url, { key, store: memoryStore() }).catch(({ message }) => message.slice(-8)), "HTTP 404");
    serve(two);
    assert.deepEqual([await other.check(), await other.check()], [true, false]);
  },

  async "errors name the file and the reason"() {
    await assert.rejects(open(url, {}), /^Error: key: not a JWK$/);
    const gallery = await open(url, { key, store: memoryStore() });
    const failing = (error) => assert.rejects(gallery.check(), new RegExp(`^Error: latest\\.json: ${error}$`));
    const { fetch } = globalThis;
    globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    await failing("Failed to fetch").finally(() => (globalThis.fetch = fetch));
    for (const content of ["", "null", "[]", '{"payload":"e30"}']) {
      serve({ "latest.json": Buffer.from(content).toString("base64") });
      await failing("malformed");
    }
  },

  async "long CSS is downloaded once, and none of a withdrawn record is returned"() {
    const store = memoryStore();
    const gallery = await open(url, { key, store });
    serve({ ...one, ...sheets });
    const theme = gallery.get("theme", 1);
    assert.equal(theme.custom_css, undefined);
    const css = await gallery.css(theme);
    assert.equal(css, "h2 { content: '\u00e9' } ".repeat(100));
    serve({});
    assert.equal(await gallery.css(theme), css);
    const short = await Promise.all([gallery.get("logo", 1), gallery.get("theme", 2), undefined].map(gallery.css));
    assert.deepEqual(short, ["", "h1 {}", undefined]);
    for (const name of store.contents.keys()) if (name !== "state") store.contents.set(name, new Uint8Array([0]));
    await assert.rejects(gallery.css(theme), /HTTP 404/);
    serve(Object.fromEntries(Object.keys(sheets).map((path) => [path, "AAAA"])));
    await assert.rejects(gallery.css(theme), /wrong content/);
    const withdrawn = gallery.get("logo", 2);
    serve(two);
    await gallery.check();
    assert.equal(await gallery.css(withdrawn), undefined);
  },
};

for (const [name, run] of Object.entries(cases)) {
  serve(one);
  await run().catch((error) => {
    throw Error(name, { cause: error });
  });
}
process.stdout.write(JSON.stringify(Object.keys(cases)));
