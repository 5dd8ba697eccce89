/** Reads a gallery that logoadmin publishes: docs/readers.md. */

const PATH = /^((from-)?\d+|withdrawn)-[0-9a-f]{16}\.json$/;
const PINNED = /(?<=["'(\s])(css\/)?[0-9a-f]{64}\.css(?=["')\s]|$)/g;
const KINDS = ["author", "logo", "theme"];

const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
const base64 = (bytes) => btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
const decoded = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
const digest = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
const sha256 = async (bytes) => (await digest(bytes)).reduce((hex, byte) => hex + (byte + 256).toString(16).slice(1), "");
const attempt = async (act) => {
  try {
    return await act();
  } catch {
    return;
  }
};
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
  if (!signers[0]) throw Error("latest.json: not signed by a trusted key");
  const found = { deltas: {}, blocked: [], next_keys: [], ...JSON.parse(textOf(decoded(jws.payload))) };
  if (![found.epoch, found.version, found.issued, found.expires].every(Number.isSafeInteger)) {
    throw Error("latest.json: malformed");
  }
  return [found, [...byId([...found.next_keys, ...signers], "x").values()]];
}

// JSON.stringify keeps the order of names, so the result is canonical.
function patched(index, difference) {
  for (const kind of KINDS) {
    const { set = [], removed = [] } = difference[`${kind}s`] ?? {};
    const id = `${kind}_id`;
    const records = byId(index[`${kind}s`], id);
    removed.forEach((each) => records.delete(each));
    set.forEach((record) => records.set(record[id], record));
    index[`${kind}s`] = [...records.values()].sort((a, b) => a[id] - b[id]);
  }
  return JSON.stringify(index);
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
  const root = given.map(({ x }) => x).join();
  let state = { root, keys: given };
  let pointer;
  let records = KINDS.map(() => new Map());
  let hidden = new Set();
  let known = new Set();
  let checking;
  const listeners = { change: new Set(), withdrawn: new Set() };
  const emit = (event, value) => listeners[event].forEach((listener) => Promise.resolve(value).then(listener));

  /** Use all of a state, or nothing if it is older; return which. */
  const use = (next, found, least = 0) => {
    const { epoch, version, issued, gallery } = pointer ?? found;
    if (gallery !== found.gallery) throw Error("latest.json: of another gallery");
    if (pointer && (found.epoch - epoch || found.version - version || found.issued - issued) < least) return false;
    const isNew = next.index !== state.index;
    const index = isNew && JSON.parse(next.index);
    const parsed = isNew ? KINDS.map((kind) => byId(index[`${kind}s`], `${kind}_id`)) : records;
    const entries = [...found.blocked, ...(next.withdrawn ? JSON.parse(next.withdrawn).withdrawn : [])];
    const news = new Map(entries.map((entry) => [`${entry.kind} ${entry.id} ${entry.at} ${entry.severity}`, entry]));
    const before = known;
    [state, pointer, records, known] = [next, found, parsed, new Set(news.keys())];
    hidden = new Set(entries.map(({ kind, id }) => `${kind} ${id}`));
    before.forEach((name) => news.delete(name));
    if (news.size) emit("withdrawn", [...news.values()]);
    if (isNew) emit("change", found.version);
    return true;
  };

  /** Use what another page stored, if it is newer. */
  const load = () =>
    attempt(async () => {
      const text = textOf(await store.get("state"));
      const next = JSON.parse(text.slice(64));
      if ((await sha256(bytesOf(text.slice(64)))) !== text.slice(0, 64) || next.latest === state.latest) return;
      // Learned keys are as good as those that they were learned from.
      if (next.root !== root) Object.assign(next, { root, keys: given });
      use(next, (await verified(next.latest, next.keys))[0], 1);
    });

  const save = async () => {
    await load();
    const text = JSON.stringify(state);
    const bytes = bytesOf((await sha256(bytesOf(text))) + text);
    await attempt(() => store.set("state", bytes));
  };

  const download = async (path, most, headers) => {
    const response = await fetch(new URL(path, base), {
      cache: headers ? "no-cache" : "no-store",
      credentials: "omit",
      headers,
      signal: AbortSignal.timeout(20_000 + (most >> 3)),
    });
    if (response.status === 304) return [];
    if (!response.ok) throw Error(`${path}: HTTP ${response.status}`);
    const reader = response.body.getReader();
    const chunks = [];
    let size = 0;
    for (let part; !(part = await reader.read()).done; chunks.push(part.value)) {
      size += part.value.length;
      if (!(size <= most)) {
        reader.cancel().catch(() => {});
        throw Error(`${path}: too large`);
      }
    }
    return [new Uint8Array(await new Blob(chunks).arrayBuffer()), response.headers.get("etag")];
  };

  const checked = async (path, most, hash) => {
    const [bytes] = await download(path, most);
    if ((await sha256(bytes)) !== hash) throw Error(`${path}: wrong content`);
    return bytes;
  };

  const file = async ({ path, size, sha256: hash }, held = "") => {
    if ((await sha256(bytesOf(held))) === hash) return held;
    if (!PATH.test(path)) throw Error("latest.json: unexpected path");
    const bytes = await checked(path, size, hash);
    if (bytes.length !== size) throw Error(`${path}: wrong size`);
    return textOf(bytes);
  };

  const readIndex = async ({ deltas, index }, held = "") => {
    const hash = await sha256(bytesOf(held));
    const delta = Object.values(deltas).find(({ from_sha256 }) => from_sha256 === hash);
    const result = delta && (await attempt(async () => patched(JSON.parse(held), JSON.parse(await file(delta)))));
    return file(index, result && (await sha256(bytesOf(result))) === index.sha256 ? result : held);
  };

  const run = async () => {
    await load();
    const before = state.index;
    const now = Date.now() / 1000;
    const raiseIfExpired = ({ expires }) => {
      if (expires <= now) throw Error("latest.json: expired");
    };
    // A browser's cache makes the request conditional without a preflight.
    const isConditional = state.etag && pointer.expires > now && !globalThis.indexedDB;
    const [bytes, etag] = await download("latest.json", 8192, isConditional ? { "If-None-Match": state.etag } : {});
    const latest = bytes ? textOf(bytes) : state.latest;
    if (latest !== state.latest) {
      const [found, keys] = await verified(latest, state.keys);
      raiseIfExpired(found);
      if (use({ ...state, latest, keys, etag }, found)) await save();
    }
    raiseIfExpired(pointer);
    const withdrawn = await file(pointer.withdrawn, state.withdrawn);
    const index = await readIndex(pointer, state.index);
    if (withdrawn !== state.withdrawn || index !== state.index) {
      use({ ...state, withdrawn, index }, pointer);
      await save();
    }
    return index !== before;
  };

  const check = () => (checking ??= run().finally(() => (checking = undefined)));

  const get = (kind, id) => {
    const record = !hidden.has(`${kind} ${id}`) && records[KINDS.indexOf(kind)]?.get(id);
    if (!record) return undefined;
    if (kind === "author") return { ...record };
    return { custom_css: "", ...record, authors: (record.author_ids ?? []).map((author) => get("author", author)) };
  };

  const list = (kind, { target } = {}) =>
    [...records[KINDS.indexOf(kind)].keys()]
      .map((id) => get(kind, id))
      .filter((record) => record && (target ?? record.target) === record.target);

  const sheet = async (name) => {
    const held = await attempt(() => store.get(name));
    if ((await attempt(() => sha256(held))) === name.slice(0, 64)) return textOf(held);
    const bytes = await checked(`css/${name}`, 2 ** 23, name.slice(0, 64));
    await attempt(() => store.set(name, bytes));
    return textOf(bytes);
  };

  const inlined = async (css, budget, hashes) => {
    let result = "";
    let end = 0;
    for (const { 0: path, index } of css.matchAll(PINNED)) {
      if (hashes && !hashes.includes(path.slice(-68, -4))) continue;
      const imported = bytesOf(await inlined(await sheet(path.slice(-68)), budget));
      if ((budget.left -= imported.length + 1024) < 0) throw Error("too many imports");
      result += `${css.slice(end, index)}data:text/css;charset=utf-8;base64,${base64(imported)}`;
      end = index + path.length;
    }
    return result + css.slice(end);
  };

  await load();
  if (state.index === undefined) await check();
  return {
    logos: (filter) => list("logo", filter),
    themes: (filter) => list("theme", filter),
    get,
    css: async (kind, id) => {
      const record = get(kind, id);
      return record && inlined(record.custom_css, { left: 2 ** 24 }, record.css?.imports?.map((each) => each.sha256) ?? []);
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
