// What `csv.js` exports, and for `make vendor` what it is made of.
export { parse, unparse } from "papaparse";
