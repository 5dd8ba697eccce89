/** The button that leads to the issuer (contract O7). */
import { h, useEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Icon } from "../primitives/icon.js";
import { asksAgain } from "../../session.js";
import { askIssuer, beginning, goToIssuer, isOpenId } from "./issuer.js";

/**
 * @param {object} props
 * @param {import("./ways.js").Issuer} props.issuer
 * @param {boolean} props.isAgain Whether it opens a window of its own, so that nothing here is lost.
 * @param {boolean} props.isMain Whether it is the first way to sign in.
 * @param {import("./attempt.js").Attempt} props.attempt
 */
export function IssuerButton({ issuer, isAgain, isMain, attempt }) {
  /** Made before the click, after which a browser lets no window open that comes later. */
  const prepared = useRef(/** @type {Awaited<ReturnType<typeof beginning>> | undefined} */ (undefined));
  const waiting = useRef(/** @type {AbortController | undefined} */ (undefined));
  const isSafe = globalThis.crypto.subtle !== undefined;
  const prepare = async () => void (prepared.current = await beginning(issuer, true));
  useEffect(() => {
    if (isAgain && isSafe && !issuer.failure) void prepare();
    return () => waiting.current?.abort();
  }, [issuer]);
  if (issuer.failure || !isSafe) return h("p", { class: "remark" }, t(isSafe ? "signIn.issuer.away" : "signIn.issuer.unsafe", { name: issuer.name }));
  if (asksAgain.value && !isOpenId(issuer)) return h("p", { class: "remark" }, t("signIn.issuer.never", { name: issuer.name }));
  const go = () => {
    if (!isAgain) return void attempt.run(() => goToIssuer(issuer), "signIn.issuer.failed");
    const begun = prepared.current;
    if (!begun || attempt.off) return undefined;
    // After the window is closed, a click opens another one.
    waiting.current?.abort();
    const { signal } = (waiting.current = new AbortController());
    return void attempt.wait(() => askIssuer(begun, signal), "signIn.issuer.failed").then(prepare);
  };
  return h("button", { type: "button", class: `button wide ${isMain ? "primary" : "plain"}`, "aria-disabled": attempt.off, onClick: go },
    h(Icon, { name: isAgain ? "ExternalLink" : "ShieldCheck" }),
    t("signIn.issuer", { name: issuer.name }),
  );
}
