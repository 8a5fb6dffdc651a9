import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { type Cause, Duration, Effect, Exit, Option, Runtime } from "effect"
import { parseAddress } from "../config/AddressRange.ts"
import { findHostError, SsrfGuard, UrlRejected } from "../webhook/SsrfGuard.ts"
import { selectAddresses, TrustedRoots } from "../webhook/WebhookClient.ts"
import { SmtpFailure, type SmtpResult, toFailedResult, toTimeoutResult } from "./SmtpResult.ts"
import { authenticate, openSession, type SmtpCredentials, type SmtpEnvelope, transmit } from "./SmtpSession.ts"

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS: from the first byte. STARTTLS: required before anything else. */
  readonly security: "TLS" | "STARTTLS"
  readonly credentials?: SmtpCredentials | undefined
  /** The operator chose the server, so it may have any address. */
  readonly isTrusted: boolean
}

export interface SmtpMail {
  readonly envelope: SmtpEnvelope
  readonly message: Uint8Array
  /** Shorter than the default if the caller has used up some of the time. */
  readonly timeout?: Duration.DurationInput
}

/** Below the lease of a claim, so that no other worker sends the same mail meanwhile. */
export const smtpTimeout = Duration.seconds(25)

const connectTimeoutMs = 4_500
const greetingTimeoutMs = 10_000
const idleTimeoutMs = 20_000

const isLoopback = (address: string) => parseAddress(address)?.range() === "loopback"

/** The caller's hook declined: the message must not be sent. */
class Declined extends Error {
  override readonly message = "The message is not to be sent any more"
}

const make = Effect.gen(function* () {
  const guard = yield* SsrfGuard
  const roots = yield* TrustedRoots

  const lookUp = (host: string) =>
    Effect.tryPromise({
      try: async () => (await lookup(host, { all: true })).map(({ address }) => address),
      catch: () => new UrlRejected({ reason: `must have a host that resolves: DNS has no address for ${host}` })
    })

  /** The addresses of a server. A connection goes to these, not to the name: another lookup could return others. */
  const resolveServer = ({
    host,
    isTrusted,
    port
  }: Pick<SmtpServer, "host" | "isTrusted" | "port">): Effect.Effect<ReadonlyArray<string>, UrlRejected> => {
    if (isTrusted) return lookUp(host)
    const reason = findHostError(host)
    return reason === undefined
      ? guard.resolveAllowed({ protocol: "smtps:", hostname: host, port: String(port) })
      : Effect.fail(new UrlRejected({ reason }))
  }

  const sessionOptions = ({ host, port, security }: SmtpServer, address: string) => ({
    host: address,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secure: security === "TLS",
    // A server without TLS is for development: it must be this machine, and the operator must allow it.
    requireTLS: !(isLoopback(address) && guard.isAllowlisted(address)),
    tls: { minVersion: "TLSv1.2" as const, ...(roots === undefined ? {} : { ca: [...roots] }) },
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: greetingTimeoutMs,
    socketTimeout: idleTimeoutMs,
    logger: false
  })

  const connect = (server: SmtpServer) =>
    resolveServer(server).pipe(
      Effect.mapError((cause) => new SmtpFailure({ stage: "CONNECT", cause })),
      Effect.flatMap((addresses) =>
        Effect.firstSuccessOf(selectAddresses(addresses).map((address) => openSession(sessionOptions(server, address))))
      )
    )

  /** Whether the server may have got the whole message. */
  interface Progress {
    isComplete: boolean
  }

  /** Ends the message only if the hook agrees. A failure of the hook fails the call, because it is not the server's. */
  const sendOver = (server: SmtpServer, mail: SmtpMail, beforeEnd: Effect.Effect<boolean>, progress: Progress) =>
    Effect.gen(function* () {
      const run = Runtime.runPromiseExit(yield* Effect.runtime<never>())
      let defect: Cause.Cause<never> | undefined
      const hook = async () => {
        const exit = await run(beforeEnd)
        if (Exit.isFailure(exit)) defect = exit.cause
        if (Exit.isFailure(exit) || !exit.value) throw new Declined()
        progress.isComplete = true
      }
      const connection = yield* connect(server)
      if (server.credentials !== undefined) yield* authenticate(connection, server.credentials)
      const response = yield* Effect.catchAll(transmit(connection, mail.envelope, mail.message, hook), (failure) =>
        defect === undefined ? Effect.fail(failure) : Effect.failCause(defect)
      )
      if (!progress.isComplete) {
        const cause = new Error("The server answered before the end of the message")
        return yield* Effect.fail(new SmtpFailure({ stage: "DATA", cause }))
      }
      connection.quit()
      return { outcome: "SENT", status: Number(response.slice(0, 3)), response } as const
    }).pipe(Effect.scoped)

  return {
    /** The error of a server that mails must not go to. Every connection repeats the check. */
    findServerError: (server: Pick<SmtpServer, "host" | "port">) =>
      Effect.match(resolveServer({ ...server, isTrusted: false }), {
        onFailure: ({ reason }): string | undefined => reason,
        onSuccess: () => undefined
      }),

    /**
     * Sends one message to one recipient over one connection. `beforeEnd` runs when all of the message but its last line
     * is sent; with false the message is abandoned, and the server discards it.
     */
    send: (server: SmtpServer, mail: SmtpMail, beforeEnd: Effect.Effect<boolean>): Effect.Effect<SmtpResult> =>
      Effect.suspend(() => {
        const progress: Progress = { isComplete: false }
        const timeout = Duration.decode(mail.timeout ?? smtpTimeout)
        return sendOver(server, mail, beforeEnd, progress).pipe(
          Effect.catchAll((failure) => Effect.succeed(toFailedResult(failure, server.host, progress.isComplete))),
          Effect.timeoutOption(timeout),
          Effect.map(
            Option.getOrElse(() => toTimeoutResult(server.host, Duration.toSeconds(timeout), progress.isComplete))
          )
        )
      })
  }
})

/** Sends mails over SMTP with TLS, and only to servers that the address policy of webhooks allows. */
export class SmtpClient extends Effect.Service<SmtpClient>()("layers/SmtpClient", {
  dependencies: [SsrfGuard.Default],
  effect: make
}) {}
