/** The fields of a user: password, avatar and role. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { theInterface, wordsOf } from "../../form.js";
import { describe, sayDone } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { listOf } from "../../records.js";
import { guard } from "../../router.js";
import { allWords, beyondMe } from "../../scopes.js";
import { me } from "../../session.js";
import { enumeration, t, withTexts } from "../../texts.js";
import { Button, Copy, Form, lazy, pictureUrl } from "../primitives/basics.js";
import { useOffer, useRun } from "../primitives/hooks.js";
import { About, Select, Text, TextField, useText, widgets } from "../primitives/fields.js";
import { Avatar } from "./person.js";

const LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** Passwords that were generated on this page. @type {Set<string>} */
const generated = new Set();

/** @param {string} password @returns {boolean} whether nobody chose it, so nobody knows it yet */
export const isGenerated = (password) => generated.has(password);

/** @returns {string} four groups of five, none of whose letters looks like another: more than 110 random bits */
export function generatedPassword() {
  // What is beyond a multiple of the letters that fits into a byte would make some more likely.
  const fair = 256 - (256 % LETTERS.length);
  let text = "";
  while (text.length < 20) {
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < fair) text += LETTERS[byte % LETTERS.length] ?? "";
  }
  const password = text.replace(/(.{5})(?=.)/g, "$1-");
  generated.add(password);
  return password;
}

/**
 * @param {object} props
 * @param {{user_id: number, username: string}} props.user
 * @param {string} [props.scope] What one must hold; nothing for oneself.
 * @param {string} [props.reason] Why one may not.
 * @param {boolean} [props.own] Whether it is one's own, for which the current one is asked (contract O5).
 * @param {string} [props.current] The current one, if it was typed a moment ago.
 * @param {(password: string) => void} props.done
 */
export function PasswordForm({ user, scope, reason, own = false, current = "", done }) {
  const { text: password, refuse: setProblem } = useText();
  const [isAsked, setAsked] = useState(own && current === "");
  const { text: known, refuse: setRefused } = useText(current);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const typed = useRef("");
  typed.current = password.value;
  useEffect(() => guard(() => typed.current !== ""), []);
  const offer = useOffer();
  const failed = (/** @type {Failure} */ failure) => {
    const problems = failure.kind === "invalid" ? failure.problems : [];
    const ofCurrent = problems.find(({ loc }) => loc.includes("current_password"));
    const ofNew = problems.find((each) => each !== ofCurrent);
    if (ofNew) refuse(wordsOf(ofNew));
    if (ofCurrent) refuseCurrent(wordsOf(ofCurrent));
    else if (ofNew) return;
    else if (failure.detail === "Incorrect password") refuseCurrent(t("password.current.wrong"));
    else if (failure.repeat || failure.kind === "wait") offer.make(failure, form.current && (() => form.current?.requestSubmit()));
    else refuse(describe(failure));
  };
  const { busy, run } = useRun({ failed });
  const set = () => {
    setProblem("");
    setRefused("");
    offer.withdraw();
    const sent = typed.current;
    const body = { password: sent, ...(known.value && { current_password: known.value }) };
    return run(
      () => call("put", "/api/users/{user_id}/password", { path: { user_id: user.user_id }, body }),
      () => {
        if (typed.current === sent) password.set("");
        known.set("");
        done(sent);
      },
    );
  };
  /** @param {string} text */
  const refuse = (text) => {
    setProblem(text);
    document.getElementById(id)?.focus();
  };
  /** @param {string} text */
  const refuseCurrent = (text) => {
    setAsked(true);
    setRefused(text);
  };
  useEffect(() => {
    if (known.problem) field.current?.select();
  }, [known.problem]);
  const send = async () => {
    const body = (await theInterface())["set_password"]?.properties?.["password"];
    const length = [...typed.current].length;
    if (length < (body?.minLength ?? 1)) refuse(t("problem.missing"));
    else if (length > (body?.maxLength ?? 256)) refuse(t("problem.long", { n: body?.maxLength ?? 256, over: length - (body?.maxLength ?? 256) }));
    else if (!busy) await set();
  };
  return h(Form, { element: form, send },
    // For password managers, that keep it under this name.
    h("input", { type: "text", name: "username", autocomplete: "username", value: user.username, readOnly: true, hidden: true }),
    isAsked &&
      h(TextField, { label: t("password.current"), ...known, hint: known.problem || me.value?.must_change_password ? undefined : t("password.current.hint"), field, name: "current-password", type: "password", autocomplete: "current-password" }),
    h("div", { class: "field" },
      h("label", { class: "label", for: id }, t("password.new")),
      h(PasswordInput, { id, name: "new-password", ...password, invalid: password.problem !== "", describedBy: `${id}-about` }),
      h(About, { id: `${id}-about`, problem: password.problem, hint: t(own ? "password.hint.own" : "password.hint") }),
    ),
    h("div", { class: "cluster form-actions" },
      h(Button, { type: "submit", tone: "primary", scope, reason, busy: busy !== "", idle: password.value === "" }, t(own ? "password.set.own" : "password.set")),
    ),
  );
}

/** A new password in a form of a record. @param {WidgetProps} props */
function PasswordField({ form, field, id, describedBy, disabled }) {
  return h(PasswordInput, {
    id,
    name: field.name,
    value: String(form.values.value[field.name] ?? ""),
    set: (text) => form.set(field.name, text),
    invalid: Boolean(form.problems.value[field.name]),
    describedBy,
    disabled,
  });
}

widgets.password = PasswordField;

/** @param {{id: string, name: string, value: string, set: (text: string) => void, invalid: boolean, describedBy: string, disabled?: boolean}} props */
function PasswordInput({ id, name, value, set, invalid, describedBy, disabled = false }) {
  const [shown, setShown] = useState(isGenerated(value));
  const makeUp = () => {
    set(generatedPassword());
    setShown(true);
  };
  return h("div", { class: "cluster input-row" },
    h("input", {
      id,
      class: "input mono",
      name,
      type: shown ? "text" : "password",
      autocomplete: "new-password",
      spellcheck: false,
      autocapitalize: "none",
      value,
      disabled,
      "aria-invalid": invalid,
      "aria-describedby": describedBy,
      onInput: (event) => set(event.currentTarget.value),
    }),
    h(Button, { icon: shown ? "EyeOff" : "Eye", isPressed: shown, idle: disabled, onClick: () => setShown(!shown) }, t("password.show")),
    h(Button, { icon: "WandSparkles", idle: disabled, onClick: makeUp }, t("password.makeUp")),
    shown && value && h(Copy, { text: value }),
  );
}

/** @typedef {import("./person.js").Somebody} Somebody */

/** One's own avatar, where it comes from, and its end, which takes no right. @param {{user: Somebody, changed: () => void}} props */
export function AvatarCard({ user, changed }) {
  const { busy, run } = useRun();
  const remove = () => call("delete", "/api/users/{user_id}/avatar", { path: { user_id: user.user_id } });
  const removed = (/** @type {Answer} */ { requestId }) => {
    sayDone(t("avatar.removed", { name: user.username }), [requestId], changed);
    changed();
  };
  return h("div", { class: "avatar-card" },
    h(Avatar, { user, size: "large" }),
    h("div", { class: "stack avatar-about" },
      !pictureUrl(user.avatar ?? "") && h("p", { class: "hint" }, user.avatar ? h("bdi", null, user.avatar) : t("avatar.none")),
      user.avatar && h(Button, { busy: busy !== "", onClick: () => void run(remove, removed) }, t("avatar.remove")),
    ),
  );
}

const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource)));

/** The avatar in a form: as it is typed, so it looks. @param {WidgetProps} props */
function AvatarField(props) {
  const { form, field, disabled } = props;
  const { [field.name]: avatar, username } = form.values.value;
  const remove = (/** @type {MouseEvent} */ { currentTarget }) => {
    /** @type {HTMLElement} */ (currentTarget).closest(".avatar-field")?.querySelector("input")?.focus();
    form.set(field.name, null);
  };
  return h("div", { class: "avatar-field" },
    h(Avatar, { user: { user_id: 0, username: String(username ?? ""), avatar: avatar ? String(avatar) : null }, size: "middle" }),
    h(Text, props),
    h(PictureSource, { value: avatar, set: (/** @type {string} */ url) => form.set(field.name, url), disabled }),
    Boolean(avatar) && !disabled && h(Button, { onClick: remove }, t("avatar.remove")),
  );
}

widgets.avatar = AvatarField;

/** @param {WidgetProps} props */
function RoleField(props) {
  const { form, field, id, describedBy, disabled } = props;
  const { records, failure } = listOf("role").value;
  const value = Number(form.values.value[field.name]);
  const roles = records ?? [];
  const chosen = roles.find((role) => role.role_id === value);
  const closed = roles.filter((role) => beyondMe(role.scope).length > 0);
  return h("div", { class: "role-field" },
    h(Select, { ...props, read: Number, disabled: disabled || !records, describedBy: `${id}-allows ${describedBy}` },
      !chosen && h("option", { value: String(value) }, t("role.number", { number: String(value) })),
      roles.map((role) =>
        h("option", { key: role.role_id, value: String(role.role_id), disabled: closed.includes(role) && role !== chosen }, nameOf("role", role)),
      ),
    ),
    h("p", { id: `${id}-allows`, class: "hint" },
      chosen && t(chosen.scope.length ? "role.allows" : "role.allows.nothing", { what: enumeration(allWords(chosen.scope)) }),
      !records && failure && t("role.unknown"),
      closed.length > 0 && !disabled && h("span", { class: "line" }, t("role.closed", { names: enumeration(closed.map(({ name }) => name)) })),
    ),
  );
}

widgets.role = RoleField;
