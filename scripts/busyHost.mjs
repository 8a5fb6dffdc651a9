import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

/** Hundredths of a second that the host of a virtual Linux machine has given to others while this one had work. */
const readStolenTime = () => {
  try {
    return Number(readFileSync("/proc/stat", "utf8").split(/\s+/)[8])
  } catch {
    return 0
  }
}

/** Measures, from now on, how much of the CPU time the host keeps for others, in percent. */
export const watchHost = () => {
  const [startedAt, before] = [performance.now(), readStolenTime()]
  return () => {
    const seconds = (performance.now() - startedAt) / 1000
    return Math.round((readStolenTime() - before) / (seconds * availableParallelism()))
  }
}

/** Above it, tests that wait for a condition can fail for it. */
const busyPercent = 5

export const describeHost = (stolenPercent) =>
  stolenPercent < busyPercent
    ? ""
    : `The host kept ${stolenPercent} % of the CPU time for others: a test may have failed for that.\n`

/** A busy host lets few tests fail. More are broken. */
const maxRepeatedFiles = 3

export const isWorthRepeating = (stolenPercent, failedFiles) =>
  stolenPercent >= busyPercent && failedFiles.length > 0 && failedFiles.length <= maxRepeatedFiles
