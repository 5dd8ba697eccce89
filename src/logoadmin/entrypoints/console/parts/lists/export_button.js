/** A button that writes what a list shows into a CSV file. */
import { h, useState } from "../../vendor/preact.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { lazy } from "../primitives/lazy.js";

const CsvExport = lazy(withTexts(() => import("../csv/csv_export.js").then((module) => module.CsvExport)));

/**
 * @typedef {object} Props
 * @property {import("../../records.js").KindName} kind
 * @property {Record<string, unknown>} [filters] Those that the service applies.
 * @property {(records: any[]) => any[]} choose The remaining records as the list shows them: filtered and in its order.
 * @property {number | undefined} count How many that will be, as far as is known.
 */

/** @param {Props} props */
export function ExportButton(props) {
  const [isOpen, setOpen] = useState(false);
  return [
    h(Button, { key: "button", icon: "Download", reason: props.count === 0 ? t("csv.none") : undefined, busy: isOpen, onClick: () => setOpen(true) }, t("csv.export")),
    isOpen && h(CsvExport, { key: "export", ...props, close: () => setOpen(false) }),
  ];
}
