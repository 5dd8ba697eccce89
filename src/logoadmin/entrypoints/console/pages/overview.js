/** Where one begins: what somebody should look at, what readers have now, and what happened lately. */
import { h, useEffect } from "../vendor/preact.js";
import { readPage } from "../parts/history/changes.js";
import { returned } from "../client.js";
import { readStates } from "../reader_states.js";
import { queue, reviews, waiting } from "../proposals.js";
import { KINDS, listOf, maySee, readList } from "../records.js";
import { may } from "../session.js";
import { t, withTexts } from "../texts.js";
import { Link, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Attention, GALLERY } from "../parts/overview/attention.js";
import { ChangeList } from "../parts/history/change_list.js";
import { Welcome } from "../parts/overview/welcome.js";
import { lazy } from "../parts/primitives/lazy.js";
import { useRead } from "../parts/primitives/use_read.js";

/** @typedef {import("../records.js").KindName} KindName */

const LATEST = 8;
/** Of those that wait. */
const QUEUE = 5;
const Submissions = lazy(withTexts(() => import("../parts/proposals/submission_list.js").then((module) => module.SubmissionList), "proposals"), () => h(Skeleton, {}));
const Published = lazy(withTexts(() => import("../parts/overview/published.js").then((module) => module.Published), "publication"), () => h(Skeleton, {}));

export default function Overview() {
  const kinds = /** @type {KindName[]} */ (Object.keys(KINDS)).filter(maySee);
  useEffect(() => {
    for (const kind of kinds) void readList(kind);
    void readStates();
  }, [returned.value, kinds.join()]);
  // What waits comes first, also where nothing was applied yet.
  const isEmpty = GALLERY.every((kind) => listOf(kind).value.records?.length === 0) && (!reviews() || queue.value.proposals?.length === 0);
  return h("div", { class: "view" },
    h(ViewHead, { title: t(isEmpty ? "welcome.title" : "overview.title") }),
    isEmpty ? h(Welcome, {}) : h(Everything, {}),
  );
}

function Everything() {
  return h("div", { class: "overview" },
    h("div", { class: "overview-part" },
      waiting() > 0 && h(Section, { title: h(Link, { to: "submissions" }, t("attention.submissions", { n: waiting() })) }, h(Submissions, { proposals: queue.value.proposals?.slice(0, QUEUE), label: t("submissions.title"), hasState: false })),
      h(Section, { title: t("overview.attention") }, h(Attention, {})),
      (may("logos:write") || may("themes:write")) && h(Section, { title: t("overview.published") }, h(Published, {})),
    ),
    may("changes:read") && h(Section, { title: t("overview.latest") }, h(Latest, {})),
  );
}

/** @param {{title: any, children?: any}} props */
function Section({ title, children }) {
  return h("section", { class: "stack loose" }, h("h2", null, title), children);
}

function Latest() {
  const { data, failure, again } = useRead((signal) => readPage({}, 0, { size: 2 * LATEST, signal }));
  if (!data) return failure ? h(Unread, { failure, again }) : h(Skeleton, {});
  return [
    h(ChangeList, { key: "list", entries: data.entries.slice(0, LATEST), undone: again, label: t("overview.latest") }),
    h(Link, { key: "all", to: "history" }, t("overview.history")),
  ];
}
