/** Reads from standard input the reader's address, the server's and stories, and prints what reader.js observed. */
import { text } from "node:stream/consumers";

import { playAll } from "./harness.js";

const { reader, address, stories } = JSON.parse(await text(process.stdin));
const { open } = await import(reader);
console.log(JSON.stringify(await playAll(open, address, stories)));
