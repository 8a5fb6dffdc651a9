import { assert } from "vitest"

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (nan|[+-]inf|[+-]?[\d.]+(?:e[+-]?\d+)?)$/i
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"(?:,|$)/g

/** Parses the Prometheus text format and fails on any other line. */
export const parseMetrics = (text: string): ReadonlyArray<Sample> => {
  assert.isTrue(text.endsWith("\n"))
  return text.split("\n").flatMap((row) => {
    if (row === "" || /^# (HELP|TYPE) [a-zA-Z_:][\w:]* \S.*$/.test(row)) return []
    const [, name = "", labels = "", value = ""] = line.exec(row) ?? assert.fail(`no sample: ${row}`)
    const named = Object.fromEntries([...labels.matchAll(label)].map(([, key, content]) => [key, content]))
    return [{ name, labels: named, value: Number(value) }]
  })
}
