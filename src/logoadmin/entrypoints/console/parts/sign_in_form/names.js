/** Names as people type them to sign in. */
import { say } from "../../notices.js";
import { Refused } from "../../session.js";
import { t } from "../../texts.js";

/**
 * Try a name as it was typed; where it is refused, without the blanks around it, then as other keyboards compose it.
 *
 * @param {string} typed
 * @param {(name: string) => Promise<void>} act
 * @param {(words: string) => void} [tell] that the name is another one than was typed
 */
export async function withName(typed, act, tell = say) {
  const name = typed.trim();
  const names = [...new Set([typed, name, name.normalize("NFC"), name.normalize("NFD")])];
  for (const [at, each] of names.entries()) {
    try {
      await act(each);
      if (each !== typed) tell(t("signIn.corrected", { name: each }));
      return;
    } catch (error) {
      if (at === names.length - 1 || !(error instanceof Refused && error.status === 401)) throw error;
    }
  }
}
