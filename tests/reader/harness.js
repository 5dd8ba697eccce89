/** Plays the stories of vectors.py with reader.js, in Node, in a page or in a service worker. */

const kept = { now: Date.now, setTimeout: globalThis.setTimeout.bind(globalThis) };

function memoryStore(isBroken) {
  const files = new Map();
  const act = (result) => {
    if (isBroken) throw Error("this store is broken");
    return result;
  };
  return { files, get: async (name) => act(files.get(name)), set: (name, bytes) => act(files.set(name, bytes)) };
}

/** Alter the stored state as a crash or another program might. */
function spoil(files, how) {
  for (const [name, bytes] of files) {
    if (how === "rubbish") files.set(name, new Uint8Array([1, 2, 3, 255]));
    if (how === "truncated") files.set(name, bytes.slice(0, bytes.length / 2));
    if (how === "altered") files.set(name, new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll("logo 1", "logo X")));
    if (how === "missing" && name !== "state") files.delete(name);
  }
}

async function play(open, address, story) {
  const url = `${address}/${story.name.replaceAll(" ", "-")}`;
  // The reader's own deadlines: the platform has shorter times.
  const limit = (/** @type {number} */ time) => (story.seconds && time >= 20_000 ? story.seconds * 1000 : time);
  globalThis.setTimeout = (act, time, ...rest) => kept.setTimeout(act, limit(time), ...rest);
  const memory = memoryStore(story.brokenStore);
  const usesIndexedDb = globalThis.indexedDB && !story.brokenStore && !story.steps.some((step) => step.spoil);
  const seen = [];
  let events = [];
  let gallery;
  for (const [number, step] of story.steps.entries()) {
    Date.now = () => step.now * 1000;
    await fetch(url, { method: "POST", body: String(number) });
    if (step.spoil) spoil(memory.files, step.spoil);
    const found = { version: null, logos: [], themes: [], changed: null, error: "" };
    events = [];
    try {
      if (step.opens) {
        gallery = undefined;
        const key = step.keys.length === 1 ? step.keys[0] : step.keys;
        gallery = await open(url, { key, store: usesIndexedDb ? undefined : memory });
        gallery.on("withdrawn", (entries) => events.push(...entries));
        if (step.checks) {
          await gallery.check().catch(() => {}); // the one in the background
          events = [];
        }
      } else found.changed = await gallery.check();
    } catch (error) {
      found.error = error instanceof Error || error instanceof DOMException ? error.message : String(error);
    }
    if (gallery) {
      found.version = gallery.latest.version;
      found.logos = gallery.logos().map((logo) => logo.logo_id);
      found.themes = gallery.themes().map((theme) => theme.theme_id);
    }
    seen.push({ ...found, withdrawn: events.map(({ kind, id, severity }) => [kind, id, severity]) });
  }
  return seen;
}

/** Return the observations of each step, by story. */
export async function playAll(open, address, stories) {
  try {
    const found = {};
    for (const story of stories) found[story.name] = await play(open, address, story);
    return found;
  } finally {
    Date.now = kept.now;
    globalThis.setTimeout = kept.setTimeout;
  }
}
