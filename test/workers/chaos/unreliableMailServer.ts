import { startMailServer } from "../../support/servers/mailServer.ts"

const answer = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

const pickRandom = <A>(items: ReadonlyArray<A>) => items[Math.floor(Math.random() * items.length)]

/** What the server does with a message. It keeps a message before it drops the connection after it. */
const behaviours = ["ACCEPT", "ACCEPT", "ACCEPT", "DELAY", "DEFER", "DROP_BEFORE", "DROP_AFTER"] as const

/** A mail server that defers, delays and drops at random. It counts the messages that it has kept, by recipient. */
export const startUnreliableMailServer = async () => {
  const received = new Map<string, number>()
  let isReliable = false
  const behave = () => (isReliable ? "ACCEPT" : (pickRandom(behaviours) ?? "ACCEPT"))

  const started = await startMailServer({
    hideSTARTTLS: true,
    onRcptTo: (_, __, done) => done(!isReliable && Math.random() < 0.1 ? answer(451, "greylisted") : null),
    onData: (stream, session, done) => {
      const behaviour = behave()
      const drop = () => started.disconnect(session.id)
      if (behaviour === "DROP_BEFORE") {
        stream.resume()
        return drop()
      }
      stream.resume()
      stream.on("end", () => {
        if (behaviour === "DEFER") return done(answer(451, "try later"))
        const [recipient] = session.envelope.rcptTo
        const address = recipient?.address ?? ""
        received.set(address, (received.get(address) ?? 0) + 1)
        if (behaviour === "DROP_AFTER") return drop()
        setTimeout(() => done(null), behaviour === "DELAY" ? 300 : 0)
      })
    }
  })
  return {
    ...started,
    received,
    behaveFromNowOn: () => {
      isReliable = true
    }
  }
}
