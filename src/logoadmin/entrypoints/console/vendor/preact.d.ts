// What `preact.js` exports, and for `make vendor` what it is made of.
export * from "preact";
export * from "preact/hooks";
export * from "@preact/signals";
