/** Types that many modules use, so that none has to import them: those of the interface, and those of the console's own modules. */
import type { components } from "logoadmin/api";

declare global {
  type Schemas = components["schemas"];
  /** A record before or after a change, whatever its kind. */
  type Snapshot = Record<string, any> | null;
  type Act = Schemas["Act"];
  type Answer<T = any> = import("./client.js").Answer<T>;
  type ArtworkKind = "logo" | "theme";
  type Change = Schemas["Change"] & { before: Snapshot; after: Snapshot };
  type Editing = import("./parts/record/editing.js").Editing;
  type Failure = import("./client.js").Failure;
  type Field = import("./form.js").Field;
  type FormState = import("./form.js").FormState;
  type IconName = import("./parts/primitives/basics.js").IconName;
  type KindName = import("./records.js").KindName;
  type Problem = import("./client.js").Problem;
  type Proposal = Schemas["Proposal"];
  type ProposalSummary = Schemas["ProposalSummary"];
  type ProposedChange = Proposal["changes"][number];
  type Records = import("./records.js").Records;
  type ListSelection = import("./parts/lists/selection.js").Selection;
  type Signal<T> = import("./vendor/preact.js").Signal<T>;
  type TextKey = import("./texts.js").TextKey;
  type Verdict = Schemas["Verdict"];
  type WidgetProps = import("./parts/primitives/fields.js").WidgetProps;
}
