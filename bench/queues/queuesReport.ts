import { type Column, markdown } from "../markdown.ts"
import { median } from "../median.ts"
import { ratioOf, toldRatio } from "../running/ratio.ts"
import type { Finding } from "./scene.ts"

const boundOf = ({ bound }: Finding) => ("min" in bound ? `≥ ${bound.min}` : `≤ ${bound.max}`)

const columns: ReadonlyArray<Column<Finding>> = [
  { title: "queues", words: true, cell: ({ what }) => what },
  { title: "of", words: true, cell: ({ unit }) => unit },
  { title: "with", cell: ({ ones }) => median(ones).toFixed(0) },
  { title: "without", cell: ({ others }) => median(others).toFixed(0) },
  { title: "ratio", cell: ({ ones, others }) => toldRatio(ratioOf(ones, others)) },
  { title: "bound", cell: boundOf }
]

export const queuesTable = (findings: ReadonlyArray<Finding>) => markdown(columns, findings)

/** What is not as it should be. A ratio that is no number keeps no bound. */
export const brokenIn = (finding: Finding): ReadonlyArray<string> => {
  const { bound, ones, others, what } = finding
  const { middle } = ratioOf(ones, others)
  const isKept = "min" in bound ? middle >= bound.min : middle <= bound.max
  return isKept ? [] : [`${what}: ${middle.toFixed(2)} is not ${boundOf(finding)}`]
}
