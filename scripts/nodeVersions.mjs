/** The versions of Node.js that the project supports. */
export const supportedMajors = [20, 22, 24, 26]

export const commands = ["start", "test"]

const requireKnown = (option, values, known) => {
  const unknown = values.find((value) => !known.includes(value))
  if (unknown !== undefined) throw new Error(`--${option} must be one of ${known.join(", ")}, not ${unknown}`)
  return values.length === 0 ? known : known.filter((value) => values.includes(value))
}

/** The versions and commands to check: those that the options name, or all. */
export const chooseChecks = ({ only = [], command = [] }) => ({
  majors: requireKnown("only", only.map(Number), supportedMajors),
  commands: requireKnown("command", command, commands)
})

/** The npm package that contains Node.js for a platform. */
export const nodePackageOf = (platform, arch) => `node-${platform === "win32" ? "win" : platform}-${arch}`

/** The version of npm that comes with a release of Node.js, as its changelog tells, newest entry first. */
export const bundledNpmOf = (changelog) => {
  const version = /upgrade npm to (\d+\.\d+\.\d+)/i.exec(changelog)?.[1]
  if (version === undefined) throw new Error("The changelog of Node.js names no version of npm")
  return version
}

/** The distinct warnings of Node.js in a text, without process ids. */
export const warningsIn = (text) => [
  ...new Set([...text.matchAll(/\(node:\d+\) (.*Warning: [^"\n\\]*)/g)].map(([, warning]) => warning.trim()))
]

/** The last line of `npm test`: how many tests passed and failed. */
export const testCountsIn = (text) => [...text.matchAll(/^\d+ passed, \d+ failed$/gm)].at(-1)?.[0]

export const formatTable = (rows) => {
  const headings = Object.keys(rows[0] ?? {})
  const lines = [headings, ...rows.map((row) => headings.map((heading) => String(row[heading])))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const toLine = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`
  const [first, ...others] = lines.map(toLine)
  return [first, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...others].join("\n")
}
