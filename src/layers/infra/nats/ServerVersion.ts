/**
 * In a cluster of 2.9.10, a leader that had frozen for some seconds acknowledged messages that no subscriber had received.
 * 2.10.27 and 2.15.1 lost none. See docs/operations.md.
 */
export const minServerVersion = "2.10.0"

const partsOf = (version: string) => version.split(".").map(Number)

/** Whether a version such as `2.9.10` is older than the oldest that is safe in a cluster. */
export const isOutdated = (version: string) => {
  const [[major = 0, minor = 0], [minMajor = 0, minMinor = 0]] = [partsOf(version), partsOf(minServerVersion)]
  return major < minMajor || (major === minMajor && minor < minMinor)
}
