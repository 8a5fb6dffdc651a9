import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { onTestFinished } from "vitest"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { SmtpClient, type SmtpMail, type SmtpServer } from "../../../../src/layers/infra/smtp/SmtpClient.ts"
import { Resolver } from "../../../../src/layers/infra/webhook/SsrfGuard.ts"
import { TrustedRoots } from "../../../../src/layers/infra/webhook/WebhookClient.ts"
import { certificate } from "../webhook/certificate.ts"

interface SenderOptions {
  readonly allow?: string
  readonly roots?: ReadonlyArray<string>
  readonly names?: Readonly<Record<string, ReadonlyArray<string>>>
}

export const credentials = { user: "books", password: Redacted.make("secret") }

interface Attempt extends Partial<SmtpServer> {
  readonly port: number
  readonly to?: string
  readonly message?: string
  readonly beforeEnd?: Effect.Effect<boolean>
  readonly timeout?: SmtpMail["timeout"]
}

/** A client that trusts the certificate of the tests, with defaults for everything but the port. */
export const useSmtpClient = ({
  allow = "127.0.0.0/8",
  names = {},
  roots = [certificate.cert]
}: SenderOptions = {}) => {
  const runtime = ManagedRuntime.make(
    SmtpClient.Default.pipe(
      Layer.provide(Layer.effect(Settings, Effect.orDie(readSettings({ DELIVERY_ALLOW: allow })))),
      Layer.provide(Layer.succeed(Resolver, (name: string) => Effect.succeed(names[name] ?? []))),
      Layer.provide(Layer.succeed(TrustedRoots, roots))
    )
  )
  onTestFinished(() => runtime.dispose())
  return {
    findServerError: (host: string, port: number) =>
      runtime.runPromise(Effect.flatMap(SmtpClient, (client) => client.findServerError({ host, port }))),
    send: ({
      beforeEnd = Effect.succeed(true),
      host = "127.0.0.1",
      message = "Subject: Hello\r\n\r\nHello\r\n.\r\n",
      port,
      security = "STARTTLS",
      timeout,
      to = "ada@client.example",
      ...server
    }: Attempt) =>
      runtime.runPromise(
        Effect.flatMap(SmtpClient, (client) =>
          client.send(
            { host, port, security, isTrusted: false, ...server },
            {
              envelope: { from: "books@seller.example", to },
              message: Buffer.from(message),
              ...(timeout === undefined ? {} : { timeout })
            },
            beforeEnd
          )
        )
      )
  }
}
