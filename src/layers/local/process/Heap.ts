/**
 * Room for a process that answers requests, in MiB. With less, what a request needs outlives its time among the young,
 * and the old are gone through every few seconds, in which nobody is answered: at 300 webhooks/s on two cores that made
 * the slowest hundredth take five times as long. The package's script `api` says the same.
 */
export const roomyHeap = ["--min-semi-space-size=32", "--max-semi-space-size=32", "--initial-old-space-size=256"]
