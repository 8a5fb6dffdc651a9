import { quantiles } from "../../running/spread.ts"
import { Connection } from "./connection.ts"
import type { Load, LoadResult } from "./orders.ts"

/** A server accepts one connection in each turn of its event loop, so they are opened before there is any load. */
const openingMillis = 1000
/** What is sent first is not measured: queues fill. */
const settlingMillis = 1000
/** How long answers are waited for after the last request was sent. */
const drainMillis = 5000

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Counts what begins and ends within the time that is measured. */
const makeTally = (from: number, to: number) => {
  const accepted: Array<number> = []
  let [sent, unsent, refused, failures, goodput] = [0, 0, 0, 0, 0]
  const isMeasured = (at: number) => at >= from && at < to
  return {
    sent: (at: number) => {
      if (isMeasured(at)) sent++
    },
    unsent: (at: number) => {
      if (isMeasured(at)) unsent++
    },
    answered: (status: number, due: number, at: number) => {
      const isAccepted = status >= 200 && status < 300
      if (isAccepted && isMeasured(at)) goodput++
      if (!isMeasured(due)) return
      if (isAccepted) accepted.push(at - due)
      else if (status === 429 || status === 503) refused++
      else failures++
    },
    result: (generatorShare: number): LoadResult => {
      const seconds = (to - from) / 1000
      const at = quantiles(accepted)
      return {
        sentPerSecond: sent / seconds,
        unsentPerSecond: unsent / seconds,
        acceptedPerSecond: goodput / seconds,
        refusedPerSecond: refused / seconds,
        failures,
        acceptedP50: at(0.5),
        acceptedP99: at(0.99),
        generatorShare
      }
    }
  }
}

const makeSender = ({ connections, port, requests }: Load, tally: ReturnType<typeof makeTally>) => {
  const bytes = requests.map((request) => Buffer.from(request))
  const idle = Array.from({ length: connections }, () => new Connection(port))
  const all = [...idle]
  let next = 0

  /** Sends the next request if a connection is free; `then` is called when it was answered. */
  const send = (due: number, then: () => void = () => {}) => {
    const connection = idle.pop()
    const request = bytes[next++ % bytes.length]
    if (connection === undefined || request === undefined) return tally.unsent(due)
    tally.sent(due)
    connection.send(request, (status) => {
      tally.answered(status, due, performance.now())
      idle.push(connection)
      then()
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

/** Keeps every connection busy. */
const sendClosed = async ({ send }: Sender, connections: number, end: number) => {
  const again = () => {
    if (performance.now() < end) send(performance.now(), again)
  }
  for (let n = 0; n < connections; n++) again()
  await pause(end - performance.now())
}

/** Sends at a constant rate. A request counts from when it was due, however late the machine lets us send it. */
const sendOpen = async ({ send }: Sender, perSecond: number, end: number) => {
  const began = performance.now()
  let count = 0
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond)
    while (count < due) send(began + (count++ * 1000) / perSecond)
    await pause(1)
  }
}

export const generate = async (load: Load): Promise<LoadResult> => {
  const began = performance.now() + openingMillis
  const end = began + settlingMillis + load.seconds * 1000
  const tally = makeTally(began + settlingMillis, end)
  const sender = makeSender(load, tally)
  sender.open()
  await pause(openingMillis)
  const before = process.cpuUsage()
  await (load.perSecond === undefined
    ? sendClosed(sender, load.connections, end)
    : sendOpen(sender, load.perSecond, end))
  const { system, user } = process.cpuUsage(before)
  const share = (system + user) / 1000 / (performance.now() - began)
  while (!sender.isIdle() && performance.now() < end + drainMillis) await pause(10)
  // Whatever is still unanswered fails as its connection closes.
  sender.close()
  return tally.result(share)
}
