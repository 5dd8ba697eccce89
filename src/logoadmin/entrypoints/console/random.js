/** @returns {string} 128 random bits as hexadecimal; crypto.randomUUID exists on pages with TLS only */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
