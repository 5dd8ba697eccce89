/** One user, or a new one: who they are, what they may do, their password and sessions, and what they did. */
import { h } from "../vendor/preact.js";
import { call } from "../client.js";
import { fieldsOf } from "../form.js";
import { say } from "../notices.js";
import { listOf } from "../records.js";
import { may, me } from "../session.js";
import { FIRST_ROLE, allWords, beyondMe } from "../scopes.js";
import { enumeration, t } from "../texts.js";
import { Avatar, NameDoubts } from "../parts/people/person.js";
import { Link } from "../parts/primitives/basics.js";
import { useLists } from "../parts/primitives/hooks.js";
import { InviteAgain, Once, showOnce, Suspend, Suspended } from "../parts/people/access.js";
import { generatedPassword, isGenerated, PasswordForm } from "../parts/people/user_fields.js";
import { RecordHistory } from "../parts/history/change_list.js";
import { RecordPage } from "../parts/record/record_page.js";
import { ScopeEffect } from "../parts/people/scopes.js";
import { UserSessions } from "../parts/people/sessions.js";
import { UserSecurity } from "../parts/factors/factors.js";

/** @typedef {Records["user"]} User */
const WRITE = "users:write";

/** @param {{params: Record<string, string>}} props */
export default function UserPage({ params }) {
  const recordId = params.user_id;
  // Names of users may look alike.
  useLists("role", "user");
  const page = h(RecordPage, {
    key: "page",
    kind: "user",
    recordId,
    list: "users",
    newTitle: t("users.new"),
    ...(recordId === undefined ? { write: create, propose, made } : { fields: ownFields }),
    picture: (user) => h(Avatar, { user, size: "middle" }),
    states: (user) => user.active === false && h("span", { class: "state" }, t("user.suspended")),
    actions: (editing) => [
      h(InviteAgain, { key: "link", user: editing.record.value, reason: blocked(editing.record.value) || undefined }),
      h(Suspend, { key: "suspend", editing, reason: blocked(editing.record.value) || undefined }),
    ],
    state: (editing) => h(Suspended, { editing, reason: blocked(editing.record.value) || undefined }),
    blocked,
    explain,
    preview: (form) => h(RoleChange, { form, user: recordId === undefined ? undefined : Number(recordId) }),
    ...(recordId !== undefined && {
      beside: (/** @type {User} */ user) => h(More, { user }),
      children: (/** @type {User} */ user) => h(RecordHistory, { kind: "user", recordId: user.user_id, since: user }),
    }),
  });
  return [page, h(Once, { key: "once" })];
}

/** The generated password of the user who is being created; it is shown once more after saving. */
let handOver = "";

/** @param {string} name @param {string} password */
const showPassword = (name, password) => showOnce({ title: t("handOver.title", { name }), text: t("handOver.text"), label: t("field.password"), secret: password });

/** @param {User} user */
function made({ username }) {
  if (handOver) showPassword(username, handOver);
  handOver = "";
}

/** From here on there are ids for people without a number at the site (contract H3). */
const OWN_IDS = 2_000_000_000;
const LAST_ID = 2_147_483_647;

/** @param {AbortSignal} signal @returns {Promise<Partial<User> & {password: string}>} a password, and an id that no user has, where that can be known */
async function propose(signal) {
  const password = generatedPassword();
  if (!may("users:read")) return { password };
  const { data } = await call("get", "/api/users", { query: { order: "desc", limit: 1 }, signal });
  const next = Math.max(OWN_IDS, ...data.map((user) => user.user_id)) + 1;
  return next > LAST_ID ? { password } : { user_id: next, password };
}

/** A suspension has words of its own. @param {import("../form.js").Interface} described */
const ownFields = (described) => fieldsOf(described, "amend_user", "user").filter(({ name }) => name !== "active");

/** @param {any} user */
async function create(user) {
  handOver = isGenerated(user.password) ? user.password : "";
  return call("post", "/api/users", { body: user });
}

/** @param {number} roleId @returns {readonly string[]} what a role allows, as far as is known */
const scopeOf = (roleId) => listOf("role").value.records?.find((role) => role.role_id === roleId)?.scope ?? [];

/** @param {User | undefined} user @returns {string} */
function blocked(user) {
  if (user?.user_id === undefined || !may(WRITE)) return "";
  const beyond = beyondMe(scopeOf(user.role_id));
  return beyond.length ? t("user.beyond", { name: user.username, what: enumeration(allWords(beyond)) }) : "";
}

/** @param {Failure} failure @param {User} user */
function explain(failure, user) {
  if (failure.kind === "conflict" && failure.detail.includes("*")) return t("last.admin", { name: user.username ?? "" });
  if (failure.kind === "forbidden" && may(WRITE)) return t("user.escalation", { name: user.username ?? "" });
  return undefined;
}

/** What another role gives and takes. @param {{form: FormState, user: number | undefined}} props */
function RoleChange({ form, user }) {
  const known = listOf("role").value.records;
  const before = Number(form.base.value["role_id"] ?? FIRST_ROLE);
  const after = Number(form.values.value["role_id"] ?? FIRST_ROLE);
  if (user === undefined || before === after || !known) return null;
  const somebody = /** @type {User} */ ({ user_id: user, username: String(form.base.value["username"]) });
  return h(ScopeEffect, { before: scopeOf(before), after: scopeOf(after), users: [somebody] });
}

/** What is not in the form. @param {{user: User}} props */
function More({ user }) {
  const own = user.user_id === me.value?.user_id;
  const scope = own ? undefined : WRITE;
  const reason = blocked(user) || undefined;
  const changed = (/** @type {string} */ password) => {
    say(t(own ? "password.done.own" : "password.done", { name: user.username }));
    if (!own && isGenerated(password)) showPassword(user.username, password);
  };
  return [
    h(NameDoubts, { key: "name", record: user }),
    !(own && (me.value?.by_link || !me.value?.can_step_up)) && h("section", { key: "password", class: "section" },
      h("h2", null, t("field.password")),
      h(PasswordForm, { user, scope, reason, own, done: changed }),
    ),
    h("section", { key: "sessions", class: "section" }, h("h2", null, t("sessions.heading")), own ? h("p", null, h(Link, { to: "account" }, t("user.sessions.own"))) : h(UserSessions, { user, reason })),
    h(UserSecurity, { key: "security", user, reason }),
    h("section", { key: "did", class: "section" },
      h("h2", null, t("user.did")),
      h("p", null, h(Link, { to: `history?who=${user.user_id}` }, t("user.did.link", { name: user.username }))),
    ),
  ];
}
