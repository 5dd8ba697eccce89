/** Reads from standard input the server's address and stories, and prints the observations of reader.js. */
import { text } from "node:stream/consumers";

import { playAll } from "./harness.js";
import { open } from "./reader.js";

const { address, stories } = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await playAll(open, address, stories)));
