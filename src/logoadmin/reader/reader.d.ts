/** Types of reader.js: docs/read.md of logoadmin. Fields that are absent from the index are empty. */

/** A public key of a gallery, as `logoadmin gallery-key show` prints it. */
export interface Key {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
  kid?: string;
}

/** Where the last good state is kept. `set` replaces all bytes at once. */
export interface Store {
  get(name: string): Uint8Array | undefined | null | Promise<Uint8Array | undefined | null>;
  set(name: string, bytes: Uint8Array): unknown;
}

export interface Author {
  author_id: number;
  /** The author's number at the community site. */
  user_id: number;
  username: string;
  created_at: number;
}

export interface Risk {
  risk: "overlay" | "input_styling" | "attribute_exfiltration" | "animation" | "document" | "foreign_document" | "invalid" | (string & {});
  line: number;
  column: number;
}

/** The verdict on CSS. */
export interface Verdict {
  form: "declarations" | "sheet";
  /** Every host that a browser contacts. */
  hosts?: string[];
  /** The imported style sheets. */
  imports?: { url: string }[];
  risks?: Risk[];
  /** The conditions of its own `@-moz-document` rules. */
  documents?: string[];
}

/** A picture of the gallery: paths relative to the folder, the size in pixels, and the ground on which it stands out. */
export interface Picture {
  path: string;
  thumbnail: string;
  width: number;
  height: number;
  ground: "light" | "dark";
}

/** The details of an artwork. */
export interface Details {
  description?: string;
  /** In CommonMark. */
  text?: string;
  homepage?: string;
  source?: string;
  support?: string;
  licence?: string;
  version?: string;
  tags?: string[];
  screenshots?: (({ url: string } | Picture) & { alt?: string })[];
  /** The id that it had elsewhere. */
  origin?: string;
}

export interface Artwork {
  name: string;
  preview_url: string;
  /** The details of the artwork. */
  details?: Details;
  /** The gallery's own picture, if it has one. */
  picture?: Picture;
  /** The part of the site to which it applies. */
  target: string;
  /** Absent if it is long: see `Gallery.css`. */
  custom_css?: string;
  /** Where long CSS is. */
  custom_css_file?: { sha256: string; size: number };
  active: true;
  created_at: number;
  /** Absent if it has not been changed since it was added. */
  updated_at?: number;
  author_ids?: number[];
  /** The authors in their order. */
  authors: Author[];
  css: Verdict;
}

export interface Logo extends Artwork {
  logo_id: number;
}

export interface Theme extends Artwork {
  theme_id: number;
}

/** A record that must not be applied any longer. */
export interface Withdrawn {
  kind: "logo" | "theme";
  id: number;
  /** Unix time in seconds. */
  at: number;
  severity: "removed" | "blocked";
  /** Why it is blocked. */
  reason?: string;
}

export interface File {
  path: string;
  sha256: string;
  size: number;
}

/** The payload of latest.json. */
export interface Latest {
  gallery: string;
  epoch: number;
  version: number;
  /** Unix time in seconds. */
  issued: number;
  expires: number;
  index: File;
  withdrawn: File;
  blocked: Withdrawn[];
  next_keys: Key[];
}

export interface Gallery {
  /** The active logos by id, as copies. */
  logos(filter?: { target?: string }): Logo[];
  themes(filter?: { target?: string }): Theme[];
  /** A copy of a record; undefined if it does not exist or was withdrawn. */
  get(kind: "author", id: number): Author | undefined;
  get(kind: "logo", id: number): Logo | undefined;
  get(kind: "theme", id: number): Theme | undefined;
  /** The CSS of a record; undefined if it was withdrawn. Rejects if long CSS can neither be found nor downloaded. */
  css(record: Logo | Theme | undefined): Promise<string | undefined>;
  /** Calls a function at changes; returns one that stops this. */
  on(event: "change", listener: (version: number) => unknown): () => boolean;
  on(event: "withdrawn", listener: (entries: Withdrawn[]) => unknown): () => boolean;
  /**
   * Looks for news. Returns whether anything is new since the last check that succeeded, or since `open`.
   * Rejects if the gallery cannot be read or is not to be believed; the text names the file and the reason.
   */
  check(): Promise<boolean>;
  /** The payload of the newest latest.json that was verified. */
  readonly latest: Latest;
}

/**
 * Opens a published gallery: at once from the store, or else from the network.
 *
 * @param url Of the folder.
 * @param options `key`, or several; and `store`, which is IndexedDB by default, and required in Node to keep the state.
 */
export function open(url: string | URL, options: { key: Key | readonly Key[]; store?: Store }): Promise<Gallery>;
