// What `diff.js` exports, and for `make vendor` what it is made of.
export { diffArrays } from "diff/libesm/diff/array.js";
