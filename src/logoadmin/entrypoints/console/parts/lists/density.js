/** How close together the rows and cards of lists are. */
import { computed } from "../../vendor/preact.js";
import { preferred } from "../../preferences.js";

export const DENSITIES = /** @type {const} */ (["comfortable", "compact"]);
export const density = computed(() => preferred("density", DENSITIES));
