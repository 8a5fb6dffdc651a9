import net from "node:net"
import { Effect, Layer, ManagedRuntime } from "effect"
import { onTestFinished, vi } from "vitest"
import type { ValidationError } from "../../../src/domain/Errors.ts"
import { readSettings, Settings } from "../../../src/layers/config/Settings.ts"
import { Resolver, SsrfGuard } from "../../../src/layers/webhook/SsrfGuard.ts"
import { TrustedRoots } from "../../../src/layers/webhook/WebhookClient.ts"
import {
  generateSigningSecret,
  type WebhookDelivery,
  WebhookSender
} from "../../../src/layers/webhook/WebhookSender.ts"

/** What each name resolves to at each look; the last answer is given for ever after. */
type Names = Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>

const resolverOf = (names: Names) => {
  const looks = new Map<string, number>()
  return (name: string) =>
    Effect.sync(() => {
      const look = looks.get(name) ?? 0
      looks.set(name, look + 1)
      const answers = names[name] ?? []
      return answers[Math.min(look, answers.length - 1)] ?? []
    })
}

interface Surroundings {
  readonly allow?: string
  readonly names?: Names
  readonly resolve?: (name: string) => Effect.Effect<ReadonlyArray<string>>
  readonly roots?: ReadonlyArray<string>
}

const layerIn = ({ allow = "", names = {}, resolve, roots }: Surroundings) =>
  Layer.merge(SsrfGuard.Default, WebhookSender.Default).pipe(
    Layer.provide(Layer.effect(Settings, Effect.orDie(readSettings({ DELIVERY_ALLOW: allow })))),
    Layer.provide(Layer.succeed(Resolver, resolve ?? resolverOf(names))),
    Layer.provide(Layer.succeed(TrustedRoots, roots))
  )

/** Targets and the sender, in surroundings of a test's own. Told only where to send, it makes up the rest. */
export const webhooksIn = (surroundings: Surroundings) => {
  const runtime = ManagedRuntime.make(layerIn(surroundings))
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

/** The same for one test, which needs not think of the end. */
export const webhooksFor = (surroundings: Surroundings) => {
  const webhooks = webhooksIn(surroundings)
  onTestFinished(webhooks.stop)
  return webhooks
}

/** Counts every connection this process tries to make from now on, wherever it leads. */
export const countDials = () => {
  const spy = vi.spyOn(net.Socket.prototype, "connect")
  onTestFinished(() => spy.mockRestore())
  return () => spy.mock.calls.length
}
