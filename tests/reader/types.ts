/** Programs that use the types of reader.js, which tsc checks, and the source, which must have the same members. */
import * as source from "../../tools/reader/reader.js";
import { type Author, type Gallery, type Key, type Logo, type Store, type Withdrawn, open } from "../../src/logoadmin/reader/reader.js";

const key: Key = { kty: "OKP", crv: "Ed25519", x: "KEY" };
const held = new Map<string, Uint8Array>();
const store: Store = { get: async (name) => held.get(name), set: (name, bytes) => held.set(name, bytes) };

export async function program(): Promise<string[]> {
  const gallery: Gallery = await open(new URL("https://gallery.example/gallery/"), { key: [key], store });
  const stop = gallery.on("withdrawn", (entries: Withdrawn[]) => entries.map(({ kind, id, reason }) => `${kind} ${id} ${reason ?? ""}`));
  gallery.on("change", (version: number) => version + 1);
  stop();
  const author: Author | undefined = gallery.get("author", 1);
  const logo: Logo | undefined = gallery.get("logo", 1);
  // @ts-expect-error There are no such records.
  gallery.get("user", 1);
  // @ts-expect-error A key is required.
  void open("https://gallery.example/gallery/", { store });
  // @ts-expect-error An artwork that was withdrawn has no name.
  gallery.get("theme", 1).name.trim();
  const hashes = gallery.themes({ target: "forum" }).map(({ custom_css_file }) => custom_css_file?.sha256 ?? "");
  const css: string | undefined = await gallery.css(logo);
  const isNew: boolean = await gallery.check();
  return [author?.username ?? "", css ?? "", String(isNew), ...hashes];
}

type Names<T> = { [name in keyof T]: unknown };
// Each name of one is a name of the other.
export const declared: Names<Gallery> = {} as Names<Awaited<ReturnType<typeof source.open>>>;
export const written: Names<Awaited<ReturnType<typeof source.open>>> = {} as Names<Gallery>;
