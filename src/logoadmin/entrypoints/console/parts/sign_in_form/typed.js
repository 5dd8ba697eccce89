/** The first password, from the sign-in to its change, which follows at once; a reload forgets it. */
export const typed = { password: "" };
