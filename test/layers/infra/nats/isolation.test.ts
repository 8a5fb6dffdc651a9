import { Effect, Exit, Scope } from "effect"
import type { JetStreamManager, NatsConnection } from "nats"
import { assert, describe, it } from "vitest"
import { NatsSender } from "../../../../src/layers/infra/nats/NatsSender.ts"
import { useFixture } from "../../../support/fixtures/useFixture.ts"
import { pollSchedule, temporaryFolder, until } from "../../../tools/local/temporary.ts"
import { type Attack, attacks, eavesdroppingSubjects, mine, other, secretBody, tenant } from "./attacks.ts"
import {
  accountOf,
  connectAsConsumer,
  connectAsService,
  makeSender,
  pullMessages,
  startServerIn
} from "./consumerBroker.ts"

const stream = "contracting-integrations"
const unrestricted = "int_unrestricted"

/** Another user with the imports of the attacker's account, but without its list of permitted subjects. */
const accountWithoutPermissions = accountOf(mine)
  .replace(`${mine} {`, `${unrestricted} {`)
  .replace(`user: "${mine}"`, `user: "${unrestricted}"`)
  .replace(`"password of ${mine}"`, `"password of ${unrestricted}"`)
  .replace(/permissions: \{[^}]*\}/, "")

const start = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const { url } = yield* startServerIn(folder, [accountOf(mine), accountOf(other), accountWithoutPermissions])
  const withSender = yield* makeSender(url)
  const service = yield* connectAsService(url)
  const users = {
    service,
    restricted: yield* connectAsConsumer(url, mine),
    unrestricted: yield* connectAsConsumer(url, unrestricted),
    other: yield* connectAsConsumer(url, other)
  }
  const manager = yield* Effect.promise(() => service.jetstreamManager())
  return { users, manager, withSender }
})

const at = useFixture(async () => {
  const scope = Effect.runSync(Scope.make())
  const started = await Effect.runPromise(Scope.extend(start, scope))
  return { ...started, stop: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
})

const events = [
  { tenant, integration: mine, type: "client.created", id: "evt_1", body: "mine" },
  { tenant, integration: other, type: "client.created", id: "evt_2", body: secretBody },
  { tenant, integration: other, type: "client.created", id: "evt_3", body: `${secretBody}, second message` }
]

const sendAll = Effect.gen(function* () {
  const { send } = yield* NatsSender
  for (const event of events)
    yield* Effect.repeat(send(event), { until: ({ delivered }) => delivered, schedule: pollSchedule })
})

const sendAgain = Effect.flatMap(NatsSender, ({ send }) =>
  Effect.forEach(events, (event) => send({ ...event, redeliveryRound: 1 }))
)

const readConsumers = async (manager: JetStreamManager) => {
  const found = await manager.consumers.list(stream).next()
  return found.map(({ config, name, num_ack_pending, num_pending }) => ({
    name,
    filter: config.filter_subject,
    num_ack_pending,
    num_pending
  }))
}

const readState = async () => {
  const { manager } = at()
  const streams = await manager.streams.list().next()
  return {
    streams: streams.map(({ config, state }) => ({ config, messages: state.messages, last: state.last_seq })),
    consumers: streams.some(({ config }) => config.name === stream) ? await readConsumers(manager) : []
  }
}

type State = Awaited<ReturnType<typeof readState>>

/** One message for the attacker and two for the other integration; each consumer has pulled and not acknowledged one. */
const prepare = async () => {
  const { manager, users, withSender } = at()
  for await (const { config } of manager.streams.list()) await manager.streams.delete(config.name)
  await Effect.runPromise(withSender(sendAll))
  for (const integration of [mine, other]) {
    const consumer = await users.service.jetstream().consumers.get(stream, integration)
    await consumer.next()
  }
  return readState()
}

/** The prepared state, as long as no attack has changed it. */
let prepared: State | undefined

const toPayload = (payload: unknown) =>
  payload === undefined ? "" : typeof payload === "string" ? payload : JSON.stringify(payload)

/** Collects the messages of a subject, as far as the user may subscribe to it. */
const subscribe = (user: NatsConnection, subject: string) => {
  const received: Array<string> = []
  const subscription = user.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) received.push(message.string())
    }
  })
  return { received, unsubscribe: () => subscription.unsubscribe() }
}

/**
 * Returns once the server has handled what the user published before. Consumers handle acknowledgements in order, and
 * reply to a progress report without any other effect.
 */
const awaitProcessing = (user: NatsConnection) =>
  user.request(`$JS.ACK.${stream}.${mine}.1.1.1.1.0`, "+WPI", { timeout: 1000 }).catch(() => undefined)

const execute = async (user: NatsConnection, { payload, reply, subject }: Attack, prefix: string) => {
  const target = subject.replace(/^API/, prefix)
  if (reply !== undefined) {
    user.publish(target, toPayload(payload), { reply })
    return ""
  }
  const response = user.request(target, toPayload(payload), { timeout: 300 })
  return response.then((message) => message.string()).catch(() => "")
}

const isEqual = (one: unknown, two: unknown) => JSON.stringify(one) === JSON.stringify(two)

/** The attacker may pull and acknowledge its own messages. */
const withoutOwnCounts = ({ consumers, streams }: State) => ({
  streams,
  consumers: consumers.map(({ name, filter, ...counts }) => ({ name, filter, ...(name === mine ? {} : counts) }))
})

/** Tells whether an attack reveals anything about the other integration or the stream, or changes their state. */
const attempt = async (user: NatsConnection, attack: Attack, prefix: string) => {
  const before = prepared ?? (await prepare())
  prepared = undefined
  const { received, unsubscribe } = subscribe(user, "_INBOX.spy")
  const response = await execute(user, attack, prefix)
  await awaitProcessing(user)
  const after = await readState()
  await user.flush()
  unsubscribe()
  if (isEqual(before, after)) prepared = after
  const text = [response, ...received].join("\n")
  return {
    revealsData: [secretBody, other, `"${stream}"`].some((word) => text.includes(word)),
    changesState: !isEqual(withoutOwnCounts(before), withoutOwnCounts(after))
  }
}

const noEffect = { revealsData: false, changesState: false }

const namedAttacks = attacks.map((attack) => [attack.name, attack] as const)

describe.each([
  ["with the permissions of the example", "restricted"],
  ["without restricted permissions", "unrestricted"]
] as const)("A NATS user of one integration %s", (_, name) => {
  it.each(namedAttacks)("cannot %s", async (_, attack) => {
    assert.deepStrictEqual(await attempt(at().users[name], attack, "contracting.api"), noEffect)
    assert.deepStrictEqual(await attempt(at().users[name], attack, "$JS.API"), noEffect)
  })

  it.each(eavesdroppingSubjects)("receives no message of another integration on %s", async (subject) => {
    const user = at().users[name]
    const { received, unsubscribe } = subscribe(user, subject)
    await user.flush()
    prepared = undefined
    await prepare()
    assert.lengthOf(await Effect.runPromise(pullMessages(at().users.other, other, 1)), 1)
    await user.flush()
    unsubscribe()
    assert.notInclude(received.join("\n"), secretBody)
  })
})

/** Shows that the attacks are valid, and that `attempt` sees their effect. */
describe("The NATS user of the service", () => {
  it.each(namedAttacks.filter(([, { isRejectedForAll }]) => !isRejectedForAll))("can %s", async (_, attack) => {
    assert.notDeepEqual(await attempt(at().users.service, attack, "$JS.API"), noEffect)
  })

  it("receives every message on >", async () => {
    prepared = undefined
    await prepare()
    const { received, unsubscribe } = subscribe(at().users.service, ">")
    await at().users.service.flush()
    await Effect.runPromise(at().withSender(sendAgain))
    await Effect.runPromise(until(() => received.includes(secretBody)))
    unsubscribe()
  })
})
