import net from "node:net"
import { Effect, Layer, ManagedRuntime } from "effect"
import { onTestFinished, vi } from "vitest"
import type { ValidationError } from "../../../../src/domain/Errors.ts"
import { readSettings, Settings } from "../../../../src/layers/infra/config/Settings.ts"
import { Resolver, SsrfGuard } from "../../../../src/layers/infra/webhook/SsrfGuard.ts"
import { TrustedRoots } from "../../../../src/layers/infra/webhook/WebhookClient.ts"
import {
  generateSigningSecret,
  type WebhookDelivery,
  WebhookSender
} from "../../../../src/layers/infra/webhook/WebhookSender.ts"

/** The addresses of each name at each lookup; the last entry repeats. */
type Names = Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>

const resolverOf = (names: Names) => {
  const lookups = new Map<string, number>()
  return (name: string) =>
    Effect.sync(() => {
      const lookup = lookups.get(name) ?? 0
      lookups.set(name, lookup + 1)
      const results = names[name] ?? []
      return results[Math.min(lookup, results.length - 1)] ?? []
    })
}

interface ClientOptions {
  readonly allow?: string
  readonly names?: Names
  readonly resolve?: (name: string) => Effect.Effect<ReadonlyArray<string>>
  readonly roots?: ReadonlyArray<string>
}

const makeLayer = ({ allow = "", names = {}, resolve, roots }: ClientOptions) =>
  Layer.merge(SsrfGuard.Default, WebhookSender.Default).pipe(
    Layer.provide(Layer.effect(Settings, Effect.orDie(readSettings({ DELIVERY_ALLOW: allow })))),
    Layer.provide(Layer.succeed(Resolver, resolve ?? resolverOf(names))),
    Layer.provide(Layer.succeed(TrustedRoots, roots))
  )

/** The URL check and the sender, with defaults for all fields of a delivery except its URL. */
export const makeWebhookClient = (options: ClientOptions) => {
  const runtime = ManagedRuntime.make(makeLayer(options))
  return {
    check: (url: string): Promise<ValidationError | undefined> =>
      runtime.runPromise(
        Effect.flatMap(SsrfGuard, ({ requireAllowedUrl: check }) => check(url)).pipe(
          Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })
        )
      ),
    send: (attempt: Partial<WebhookDelivery> & { readonly url: string }) =>
      runtime.runPromise(
        Effect.flatMap(WebhookSender, ({ send }) =>
          send({
            tenant: "tnt_1",
            id: "evt_1",
            body: Buffer.from("{}"),
            secrets: [generateSigningSecret()],
            now: Date.now(),
            ...attempt
          })
        )
      ),
    stop: () => runtime.dispose()
  }
}

/** A client that stops with the test. */
export const useWebhookClient = (options: ClientOptions) => {
  const client = makeWebhookClient(options)
  onTestFinished(client.stop)
  return client
}

/** Counts the connections that this process tries to open from now on. */
export const countConnectionAttempts = () => {
  const spy = vi.spyOn(net.Socket.prototype, "connect")
  onTestFinished(() => spy.mockRestore())
  return () => spy.mock.calls.length
}
