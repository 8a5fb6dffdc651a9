import { makeQuantile } from "../../support/latencySummary.ts"
import { Connection } from "./connection.ts"
import type { Load, LoadResult } from "./load.ts"

/** A server accepts one connection per turn of its event loop, so all are opened before the load starts. */
const connectMillis = 1000
/** Not measured: queues fill up first. */
const rampUpMillis = 1000
const drainMillis = 5000

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Counts requests and responses within the measured time. */
const makeCounters = (from: number, to: number) => {
  const acceptedLatencies: Array<number> = []
  let [sent, unsent, rejected, failures, accepted] = [0, 0, 0, 0, 0]
  const isMeasured = (at: number) => at >= from && at < to
  return {
    recordSent: (at: number) => {
      if (isMeasured(at)) sent++
    },
    recordUnsent: (at: number) => {
      if (isMeasured(at)) unsent++
    },
    recordResponse: (status: number, dueAt: number, at: number) => {
      const isAccepted = status >= 200 && status < 300
      if (isAccepted && isMeasured(at)) accepted++
      if (!isMeasured(dueAt)) return
      if (isAccepted) acceptedLatencies.push(at - dueAt)
      else if (status === 429 || status === 503) rejected++
      else failures++
    },
    summarize: (generatorShare: number): LoadResult => {
      const seconds = (to - from) / 1000
      const at = makeQuantile(acceptedLatencies)
      return {
        sentPerSecond: sent / seconds,
        unsentPerSecond: unsent / seconds,
        acceptedPerSecond: accepted / seconds,
        rejectedPerSecond: rejected / seconds,
        failures,
        acceptedP50: at(0.5),
        acceptedP99: at(0.99),
        generatorCpuShare: generatorShare
      }
    }
  }
}

const makeSender = ({ connections, port, requests }: Load, counters: ReturnType<typeof makeCounters>) => {
  const encodedRequests = requests.map((request) => Buffer.from(request))
  const idle = Array.from({ length: connections }, () => new Connection(port))
  const all = [...idle]
  let next = 0

  /** Sends the next request if a connection is free. */
  const send = (dueAt: number, onResponse: () => void = () => {}) => {
    const connection = idle.pop()
    const request = encodedRequests[next++ % encodedRequests.length]
    if (connection === undefined || request === undefined) return counters.recordUnsent(dueAt)
    counters.recordSent(dueAt)
    connection.send(request, (status) => {
      counters.recordResponse(status, dueAt, performance.now())
      idle.push(connection)
      onResponse()
    })
  }
  return {
    send,
    open: () => {
      for (const connection of all) connection.open()
    },
    isIdle: () => idle.length === all.length,
    close: () => {
      for (const connection of all) connection.close()
    }
  }
}

type Sender = ReturnType<typeof makeSender>

/** Closed loop: keeps every connection busy. */
const sendClosed = async ({ send }: Sender, connections: number, end: number) => {
  const sendNext = () => {
    if (performance.now() < end) send(performance.now(), sendNext)
  }
  for (let n = 0; n < connections; n++) sendNext()
  await sleep(end - performance.now())
}

/**
 * Open loop: sends at a constant rate. Latency counts from when a request was due, even if it is sent late, and one that
 * was due before the end is sent also by a generator that stood still then.
 */
const sendOpen = async ({ send }: Sender, perSecond: number, end: number) => {
  const startedAt = performance.now()
  let count = 0
  for (let now = startedAt; now < end; await sleep(1)) {
    now = Math.min(performance.now(), end)
    const dueCount = Math.ceil(((now - startedAt) / 1000) * perSecond)
    while (count < dueCount) send(startedAt + (count++ * 1000) / perSecond)
  }
}

export const generateLoad = async (load: Load): Promise<LoadResult> => {
  const startedAt = performance.now() + connectMillis
  const end = startedAt + rampUpMillis + load.seconds * 1000
  const counters = makeCounters(startedAt + rampUpMillis, end)
  const sender = makeSender(load, counters)
  sender.open()
  await sleep(connectMillis)
  const cpuBefore = process.cpuUsage()
  await (load.perSecond === undefined
    ? sendClosed(sender, load.connections, end)
    : sendOpen(sender, load.perSecond, end))
  const { system, user } = process.cpuUsage(cpuBefore)
  const cpuShare = (system + user) / 1000 / (performance.now() - startedAt)
  while (!sender.isIdle() && performance.now() < end + drainMillis) await sleep(10)
  // Requests without a response fail when their connection closes.
  sender.close()
  return counters.summarize(cpuShare)
}
