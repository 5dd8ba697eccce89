/**
 * Reads a gallery that logoadmin publishes; see docs/read.md. `make reader` removes comments and white space to stay
 * below 4 KiB compressed, and writes the result into the package.
 */

const PATH = /^(\d+|withdrawn)-[0-9a-f]{16}\.json$/;
const KINDS = ["author", "logo", "theme"];

/** A failure whose message names the file and the reason. */
class ReaderError extends Error {}

const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
const base64 = (bytes) => btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
const decoded = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const digest = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const sha256 = async (bytes) => (await digest(bytes)).reduce((hex, byte) => hex + (byte + 256).toString(16).slice(1), "");
const hashOf = (text) => sha256(bytesOf(text));
const attempt = async (act) => {
  try {
    return await act();
  } catch {
    return;
  }
};
const isOver = (seconds) => seconds * 1000 <= Date.now();
const byId = (records, id) => new Map(records.map((record) => [record[id], record]));

async function isSigner({ x }, { payload, signatures }) {
  const thumbprint = base64(await digest(bytesOf(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`)));
  const isGood = async ({ protected: header, signature }) => {
    const { alg, kid, crit } = JSON.parse(textOf(decoded(header)));
    if (alg !== "Ed25519" || crit || base64(decoded(kid)) !== thumbprint) return false;
    const key = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: alg, x }, alg, false, ["verify"]);
    return crypto.subtle.verify(alg, key, decoded(signature), bytesOf(`${header}.${payload}`));
  };
  for (const each of signatures) if (await attempt(() => isGood(each))) return true;
  return false;
}

/** Return the payload of latest.json and the keys to trust from then on. */
async function verified(latest, keys) {
  const jws = JSON.parse(latest);
  const signers = [];
  for (const key of keys) if (await isSigner(key, jws)) signers.push(key);
  if (!signers[0]) throw new ReaderError("latest.json: not signed by a trusted key");
  const found = { blocked: [], next_keys: [], ...JSON.parse(textOf(decoded(jws.payload))) };
  if (![found.epoch, found.version, found.issued, found.expires].every(Number.isSafeInteger)) throw Error("numbers");
  return [found, [...byId([...found.next_keys, ...signers], "x").values()]];
}

function indexedDbStore(name) {
  const run = (mode, act) =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open(`logoadmin ${name}`);
      opening.onupgradeneeded = () => opening.result.createObjectStore("files");
      opening.onerror = reject;
      opening.onsuccess = () => {
        const transaction = opening.result.transaction("files", mode);
        const request = act(transaction.objectStore("files"));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = reject;
        opening.result.close();
      };
    });
  return {
    get: (key) => run("readonly", (files) => files.get(key)),
    set: (key, value) => run("readwrite", (files) => files.put(value, key)),
  };
}

export async function open(url, { key, store }) {
  const base = new URL(`${url}`.replace(/\/*$/, "/"), globalThis.location?.href);
  store ??= indexedDbStore(base);
  const given = [key].flat();
  if (!given.every((each) => each?.x)) throw new ReaderError("key: not a JWK");
  const root = given.map(({ x }) => x).join();
  let state = { root, keys: given };
  let pointer;
  let records = KINDS.map(() => new Map());
  let hidden = new Set();
  let known = new Set();
  let checking;
  // The last downloaded text and its hash: hashing an index takes as long as reading it.
  let hashed = [];
  let changes = 0;
  let told;
  const listeners = { change: new Set(), withdrawn: new Set() };
  const hashOnce = async (text) => (text === hashed[0] ? hashed[1] : hashOf(text));
  const emit = (event, value) => listeners[event].forEach((listener) => Promise.resolve(value).then(listener));

  /**
   * Use a whole state, unless the pointer that was found is older; return whether it was used. If a pointer is rejected,
   * only its blocks in `next.early` apply, and `kept` is the last good one.
   */
  const use = (next, found, least = 0, kept = found) => {
    const { epoch, version, issued, gallery } = pointer ?? found;
    if (gallery !== found.gallery) throw new ReaderError("latest.json: of another gallery");
    if (pointer && (found.epoch - epoch || found.version - version || found.issued - issued) < least) return false;
    const isNew = next.index !== state.index;
    const index = isNew && JSON.parse(next.index);
    const parsed = isNew ? KINDS.map((kind) => byId(index[`${kind}s`], `${kind}_id`)) : records;
    const entries = [...kept.blocked, ...(next.early ?? []), ...(next.withdrawn ? JSON.parse(next.withdrawn).withdrawn : [])];
    const news = new Map(entries.map((entry) => [`${entry.kind} ${entry.id} ${entry.at} ${entry.severity}`, entry]));
    const before = known;
    [state, pointer, records, known] = [next, kept, parsed, new Set(news.keys())];
    hidden = new Set(entries.map(({ kind, id }) => `${kind} ${id}`));
    before.forEach((name) => news.delete(name));
    if (news.size) emit("withdrawn", [...news.values()]);
    if (isNew) emit("change", found.version);
    changes += news.size || isNew;
    return true;
  };

  // A stored text begins with its hash, so that truncated and altered texts are rejected.
  const put = async (name, text) => store.set(name, bytesOf((await hashOnce(text)) + text));
  const take = async (name) => {
    const text = textOf(await store.get(name));
    if ((await hashOf(text.slice(64))) !== text.slice(0, 64)) throw Error(name);
    return text.slice(64);
  };

  /** Use the state that another page stored, if it is newer. */
  const load = () =>
    attempt(async () => {
      const next = JSON.parse(await take("state"));
      if (next.latest === state.latest) return;
      if (next.place) next.index = await take(next.place);
      // Learned keys are only as good as the keys from which they were learned.
      if (next.root !== root) Object.assign(next, { root, keys: given });
      use(next, (await verified(next.latest, next.keys))[0], 1);
    });

  /**
   * Store the state, and its index if it has changed. Indexes have two places, and the stored state names the place of
   * its own, so that a program that ends between two writes leaves a whole state.
   */
  const save = async () => {
    state.checked = Date.now();
    await load();
    await attempt(async () => {
      const { index, ...rest } = state;
      const hash = index && (await hashOnce(index));
      if (hash !== rest.hash) {
        Object.assign(rest, { hash, place: rest.place === "index" ? "other" : "index" });
        await put(rest.place, index);
      }
      await put("state", JSON.stringify(rest));
      Object.assign(state, rest);
    });
  };

  const download = async (path, most, headers) => {
    const stop = new AbortController();
    let timer;
    // In Node 20, a body with a wrong content-encoding stays pending even when aborted.
    const late = new Promise((_, reject) => {
      timer = setTimeout(reject, 20_000 + (most >> 3), Error("too slow"));
    });
    const read = async () => {
      const cache = headers ? "no-cache" : "no-store";
      const response = await fetch(new URL(path, base), { cache, credentials: "omit", headers, signal: stop.signal });
      if (response.status === 304 && headers?.["If-None-Match"]) return [];
      if (!response.ok) throw Error(`HTTP ${response.status}`);
      const reader = response.body.getReader();
      const chunks = [];
      let size = 0;
      for (let part; !(part = await reader.read()).done; chunks.push(part.value)) {
        if (!((size += part.value.length) <= most)) throw Error("too large");
      }
      return [new Uint8Array(await new Blob(chunks).arrayBuffer()), response.headers.get("etag")];
    };
    try {
      return await Promise.race([late, read()]);
    } catch ({ message }) {
      throw new ReaderError(`${path}: ${message}`);
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  };

  const checked = async (path, most, hash) => {
    const [bytes] = await download(path, most);
    if ((await sha256(bytes)) !== hash) throw new ReaderError(`${path}: wrong content`);
    return bytes;
  };

  const file = async ({ path, size, sha256: hash }, held = "") => {
    if ((await hashOnce(held)) === hash) return held;
    if (!PATH.test(path)) throw new ReaderError("latest.json: unexpected path");
    const bytes = await checked(path, size, hash);
    if (bytes.length !== size) throw new ReaderError(`${path}: wrong size`);
    const text = await attempt(() => textOf(bytes));
    if (!(await attempt(() => JSON.parse(text)))) throw new ReaderError(`${path}: malformed`);
    hashed = [text, hash];
    return text;
  };

  const run = async () => {
    await load();
    // A browser's cache makes the request conditional without a preflight.
    const isConditional = state.etag && !isOver(pointer.expires) && !globalThis.indexedDB;
    const [bytes, etag] = await download("latest.json", 8192, isConditional ? { "If-None-Match": state.etag } : {});
    const latest = bytes ? textOf(bytes) : state.latest;
    if (latest !== state.latest) {
      const [found, keys] = await verified(latest, state.keys);
      const isEarly = !isOver(found.issued - 86_400);
      // Its blocks apply even if it has expired or is rejected.
      const news = isEarly ? { early: found.blocked } : { latest, keys, etag, early: [] };
      if ((pointer || !isEarly) && use({ ...state, ...news }, found, 0, isEarly ? pointer : found)) await save();
      if (isEarly) throw new ReaderError("latest.json: issued in the future");
    }
    if (isOver(pointer.expires)) throw new ReaderError("latest.json: expired");
    const withdrawn = await file(pointer.withdrawn, state.withdrawn);
    const index = await file(pointer.index, state.index);
    if (withdrawn !== state.withdrawn || index !== state.index) {
      use({ ...state, withdrawn, index }, pointer);
      await save();
    }
  };

  const raise = (cause) => {
    throw cause instanceof ReaderError ? cause : new ReaderError("latest.json: malformed", { cause });
  };
  const look = () => (checking ??= run().catch(raise).finally(() => (checking = undefined)));
  /** Return whether anything is new since the last successful check, or since opening. */
  const check = async () => {
    const before = told;
    await look();
    told = changes;
    return told > before;
  };

  const get = (kind, id) => {
    const record = !hidden.has(`${kind} ${id}`) && records[KINDS.indexOf(kind)]?.get(id);
    if (!record) return undefined;
    if (kind === "author") return { ...record };
    const css = record.custom_css_file ? {} : { custom_css: "" };
    return { ...css, ...record, authors: (record.author_ids ?? []).map((author) => get("author", author)) };
  };

  const list = (kind, { target } = {}) =>
    [...records[KINDS.indexOf(kind)].keys()]
      .map((id) => get(kind, id))
      .filter((record) => record && (target ?? record.target) === record.target);

  /** Return the content of a file with long CSS, downloading it once. */
  const sheet = async ({ sha256: hash, size }) => {
    const name = `${hash}.css`;
    const held = await attempt(() => store.get(name));
    if ((await attempt(() => sha256(held))) === hash) return textOf(held);
    const bytes = await checked(`css/${name}`, size, hash);
    await attempt(() => store.set(name, bytes));
    return textOf(bytes);
  };

  await load();
  if (state.index === undefined) await look();
  else if (!(Math.abs(Date.now() - state.checked) < 300_000)) look().catch(() => {});
  told = changes;
  return {
    logos: (filter) => list("logo", filter),
    themes: (filter) => list("theme", filter),
    get,
    css: async (record) => {
      const isGone = !record || KINDS.some((kind) => hidden.has(`${kind} ${record[`${kind}_id`]}`));
      if (isGone) return undefined;
      return record.custom_css_file ? sheet(record.custom_css_file) : record.custom_css;
    },
    on: (event, listener) => {
      listeners[event].add(listener);
      return () => listeners[event].delete(listener);
    },
    check,
    get latest() {
      return pointer;
    },
  };
}
