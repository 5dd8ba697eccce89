/**
 * The details of an artwork (contract S1) as fields of their own: `details.tags` of a form is the member `tags` of the
 * record's `details`. So forms, differences and merges treat each member like any other field.
 */
const PREFIX = "details.";

/**
 * @template {Record<string, any> | null | undefined} R
 * @param {R} record
 * @returns {R} with its details as fields of their own
 */
export function flat(record) {
  if (!record || !("details" in record)) return record;
  const { details, ...others } = record;
  return /** @type {R} */ ({ ...others, ...Object.fromEntries(Object.entries(details ?? {}).map(([name, value]) => [PREFIX + name, value])) });
}

/** @param {Record<string, any>} values @returns {Record<string, any>} as the interface wants them, with members of the details in an object */
export function nested(values) {
  const all = Object.entries(values);
  const members = all.filter(([name]) => name.startsWith(PREFIX)).map(([name, value]) => [name.slice(PREFIX.length), value]);
  const others = all.filter(([name]) => !name.startsWith(PREFIX));
  return Object.fromEntries(members.length > 0 ? [...others, ["details", Object.fromEntries(members)]] : others);
}

/** @param {Record<string, any>} record @param {any} patch Of its details. @returns {Record<string, any>} with the members that the patch has (RFC 7396) */
export function withDetails(record, patch) {
  const { details, ...others } = record;
  const kept = Object.entries(patch === null ? {} : { ...details, ...patch }).filter(([, value]) => value !== null && value?.length !== 0);
  return kept.length > 0 ? { ...others, details: Object.fromEntries(kept) } : others;
}
