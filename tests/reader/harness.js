/** Plays the stories of vectors.py with reader.js, in Node, in a page or in a service worker. */

const kept = { now: Date.now, timeout: AbortSignal.timeout.bind(AbortSignal) };

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
  const bytes = files.get("state");
  if (how === "rubbish") files.set("state", new Uint8Array([1, 2, 3, 255]));
  if (how === "truncated") files.set("state", bytes.slice(0, bytes.length / 2));
  if (how === "altered") {
    const text = new TextDecoder().decode(bytes);
    files.set("state", new TextEncoder().encode(text.replace("logo 1", "logo X")));
  }
}

async function play(open, address, story) {
  const url = `${address}/${story.name.replaceAll(" ", "-")}`;
  // The time that the reader chooses must be valid.
  AbortSignal.timeout = (time) => kept.timeout(time) && kept.timeout(story.seconds ? story.seconds * 1000 : time);
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
    AbortSignal.timeout = kept.timeout;
  }
}
