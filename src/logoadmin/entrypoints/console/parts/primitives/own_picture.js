/** Pictures that the gallery keeps: judged by the path alone, so that a change of `public_url` loses none (contract P2). */

/** As the service judges it, see `picture_of` there. */
const NAMED = /^(?<folder>(?:.*\/)?pictures\/)(?<picture>[0-9a-f]{64})(?:-320)?\.webp$/s;

/** @param {string} url @returns {{picture: string, thumbnail: string} | undefined} its hash, and the URL of the smaller one */
export function ownPicture(url) {
  if (!URL.canParse(url)) return undefined;
  const found = new URL(url);
  const { folder, picture = "" } = NAMED.exec(found.pathname)?.groups ?? {};
  if (folder === undefined) return undefined;
  found.pathname = `${folder}${picture}-320.webp`;
  return { picture, thumbnail: found.href };
}
