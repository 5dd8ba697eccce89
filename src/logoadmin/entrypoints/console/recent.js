/** The records that were opened last in this tab; the search over everything starts with them. */

const KEPT = "logoadmin.recent";
const MOST = 8;

/** @typedef {{kind: KindName, id: number, name: string}} Opened */

/** @returns {Opened[]} the last one first */
export const recent = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");

/** @param {Opened} record */
export function opened(record) {
  const others = recent().filter(({ kind, id }) => kind !== record.kind || id !== record.id);
  sessionStorage.setItem(KEPT, JSON.stringify([record, ...others].slice(0, MOST)));
}

export const forgetRecent = () => sessionStorage.removeItem(KEPT);
