import { cpus } from "node:os"
import { connections } from "./load.ts"
import type { Result } from "./measure.ts"

const titles = [
  "row",
  "server",
  "requests/s",
  "p50 ms",
  "p99 ms",
  "non-2xx",
  "× fastify",
  "× bare",
  "CPU ms/request",
  "MiB"
]

const ratio = (results: ReadonlyArray<Result>, { perSecond, row }: Result, server: string) => {
  const other = results.find((result) => result.row === row && result.server === server)
  return other === undefined ? "" : (perSecond / other.perSecond).toFixed(2)
}

const known = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? "?" : value.toFixed(digits)

const cells = (results: ReadonlyArray<Result>) =>
  results.map((result) => [
    result.row,
    result.server,
    result.perSecond.toFixed(0),
    result.p50.toFixed(1),
    result.p99.toFixed(1),
    String(result.failures),
    ratio(results, result, "fastify"),
    ratio(results, result, "bare"),
    known(result.cpuMillis, 3),
    known(result.memory, 0)
  ])

/** One table in Markdown, to be pasted as it is: words to the left, numbers to the right. */
export const table = (results: ReadonlyArray<Result>) => {
  const lines = [titles, ...cells(results)]
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const lineOf = (line: ReadonlyArray<string>) =>
    `| ${line.map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(" | ")} |`
  const rule = `|${widths.map((width, column) => (column < 2 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`
  const [head = [], ...rest] = lines.map(lineOf)
  return [head, rule, ...rest].join("\n")
}

export const machine = (postgres: string) =>
  `${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, ${postgres}; ${connections} connections; load generator, database and the servers share the cores`

/** The rows that are worth nothing, because a server refused or failed to answer some of their requests. */
export const failed = (results: ReadonlyArray<Result>) =>
  results
    .filter(({ failures }) => failures > 0)
    .map(({ failures, row, server }) => `${row}: ${server} failed ${failures} requests`)
