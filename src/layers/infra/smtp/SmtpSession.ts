import { Readable } from "node:stream"
import { Effect, Redacted } from "effect"
import SMTPConnection, { type SMTPConnectionOptions } from "nodemailer/lib/smtp-connection"
import { SmtpFailure, type SmtpStage } from "./SmtpResult.ts"

export interface SmtpCredentials {
  readonly user: string
  readonly password: Redacted.Redacted
}

export interface SmtpEnvelope {
  readonly from: string
  readonly to: string
}

type Callback<A> = (error: unknown, value?: A) => void

/**
 * Runs one step of a session. The library reports a lost connection by an event, and not always by the callback of the
 * step. An interruption closes the connection.
 */
const runStep = <A>(connection: SMTPConnection, stage: SmtpStage, start: (done: Callback<A>) => void) =>
  Effect.async<A | undefined, SmtpFailure>((resume) => {
    const settle = (result: Effect.Effect<A | undefined, SmtpFailure>) => {
      connection.off("error", fail)
      connection.off("end", end)
      resume(result)
    }
    const fail = (cause: unknown) => settle(Effect.fail(new SmtpFailure({ stage, cause })))
    const end = () => fail(Object.assign(new Error("The connection is closed"), { code: "ECONNECTION" }))
    connection.once("error", fail)
    connection.once("end", end)
    start((error, value) => (error ? fail(error) : settle(Effect.succeed(value))))
    return Effect.sync(() => connection.close())
  })

/** Opens a session up to EHLO, over TLS as the options require. The scope closes it. */
export const openSession = (options: SMTPConnectionOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const connection = new SMTPConnection(options)
      // Errors after the last step concern nobody; without a listener they would end the process.
      return connection.on("error", () => {})
    }),
    (connection) => Effect.sync(() => connection.close())
  ).pipe(Effect.tap((connection) => runStep<void>(connection, "CONNECT", (done) => connection.connect(done))))

export const authenticate = (connection: SMTPConnection, { password, user }: SmtpCredentials) =>
  runStep<boolean>(connection, "AUTH", (done) => connection.login({ user, pass: Redacted.value(password) }, done))

/** The message as a stream that ends only after `beforeEnd`. The end of the stream makes the library send the final dot. */
const streamMessage = (message: Uint8Array, beforeEnd: () => Promise<void>) =>
  Readable.from(
    (async function* () {
      yield message
      await beforeEnd()
    })(),
    { objectMode: false }
  )

/** Sends the message up to its last line, awaits `beforeEnd`, and then ends it. Returns the response of the server. */
export const transmit = (
  connection: SMTPConnection,
  envelope: SmtpEnvelope,
  message: Uint8Array,
  beforeEnd: () => Promise<void>
) =>
  Effect.map(
    runStep<{ readonly response: string }>(connection, "MAIL", (done) =>
      connection.send({ ...envelope, size: message.length }, streamMessage(message, beforeEnd), done)
    ),
    (sent) => sent?.response ?? ""
  )
