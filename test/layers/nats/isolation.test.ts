import { setTimeout as pause } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import type { JetStreamManager, NatsConnection } from "nats"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { NatsSender } from "../../../src/layers/nats/NatsSender.ts"
import { patiently, temporaryFolder, until } from "../local/temporary.ts"
import { type Attack, attacks, listened, mine, other, secret, tenant } from "./attacks.ts"
import { accountOf, asConsumer, asService, pulled, senderAt, startIn } from "./consumerBroker.ts"

const unlisted = "int_unlisted"

/** The account of the attacker's integration once more, for a user whom no list of subjects holds back. */
const withoutPermissions = accountOf(mine)
  .replace(`${mine} {`, `${unlisted} {`)
  .replace(`user: "${mine}"`, `user: "${unlisted}"`)
  .replace(`"password of ${mine}"`, `"password of ${unlisted}"`)
  .replace(/permissions: \{[^}]*\}/, "")

const started = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const { url } = yield* startIn(folder, [accountOf(mine), accountOf(other), withoutPermissions])
  const using = yield* senderAt(url)
  const service = yield* asService(url)
  const users = {
    service,
    mine: yield* asConsumer(url, mine),
    unlisted: yield* asConsumer(url, unlisted),
    other: yield* asConsumer(url, other)
  }
  const manager = yield* Effect.promise(() => service.jetstreamManager())
  return { users, manager, using }
})

let scope: Scope.CloseableScope
let world: Effect.Effect.Success<typeof started>
beforeAll(async () => {
  scope = Effect.runSync(Scope.make())
  world = await Effect.runPromise(Scope.extend(started, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const events = [
  { tenant, integration: mine, type: "client.created", id: "evt_1", body: "mine" },
  { tenant, integration: other, type: "client.created", id: "evt_2", body: secret },
  { tenant, integration: other, type: "client.created", id: "evt_3", body: `${secret}, once more` }
]

const sendAll = Effect.gen(function* () {
  const sender = yield* NatsSender
  for (const event of events) {
    const sent = sender.send(event)
    yield* Effect.repeat(sent, { until: ({ delivered }) => delivered, schedule: patiently })
  }
})

const sendAgain = Effect.flatMap(NatsSender, ({ send }) =>
  Effect.forEach(events, (event) => send({ ...event, redeliveryRound: 1 }))
)

/** One event for the attacker and two for the other, who has pulled the first and not acknowledged it yet. */
const prepare = async () => {
  for await (const { config } of world.manager.streams.list()) await world.manager.streams.delete(config.name)
  await Effect.runPromise(world.using(sendAll))
  const jetstream = world.users.service.jetstream()
  for (const integration of [mine, other]) {
    const consumer = await jetstream.consumers.get("contracting-integrations", integration)
    await consumer.next()
  }
}

const consumersOf = async (manager: JetStreamManager) => {
  const found = await manager.consumers.list("contracting-integrations").next()
  return found.map(({ config, name, num_ack_pending, num_pending }) => ({
    name,
    filter: config.filter_subject,
    // The attacker may pull and acknowledge its own.
    ...(name === mine ? {} : { num_ack_pending, num_pending })
  }))
}

const kept = async () => {
  const { manager } = world
  const streams = await manager.streams.list().next()
  return {
    streams: streams.map(({ config, state }) => ({ config, messages: state.messages, last: state.last_seq })),
    consumers: streams.some(({ config }) => config.name === "contracting-integrations")
      ? await consumersOf(manager)
      : []
  }
}

const asText = (payload: unknown) =>
  payload === undefined ? "" : typeof payload === "string" ? payload : JSON.stringify(payload)

/** Listens as well as it may. */
const overhear = (user: NatsConnection, subject: string) => {
  const heard: Array<string> = []
  const listening = user.subscribe(subject, {
    callback: (refused, message) => {
      if (refused === null) heard.push(message.string())
    }
  })
  return { heard, end: () => listening.unsubscribe() }
}

/** What the attacker hears back, in answer or in an inbox it listens on. */
const tried = async (user: NatsConnection, { payload, reply, subject }: Attack, prefix: string) => {
  const { end, heard } = overhear(user, "_INBOX.spy")
  const target = subject.replace(/^API/, prefix)
  if (reply === undefined) {
    const answer = user.request(target, asText(payload), { timeout: 300 })
    heard.push(await answer.then((message) => message.string()).catch(() => ""))
  } else user.publish(target, asText(payload), { reply })
  await user.flush()
  await pause(30)
  end()
  return heard.join("\n")
}

/** Whether anything of the other's or of the stream was heard, or anything is other than before. */
const comesOf = async (user: NatsConnection, attack: Attack, prefix: string) => {
  await prepare()
  const before = await kept()
  const heard = await tried(user, attack, prefix)
  const after = await kept()
  const learnt = [secret, other, '"contracting-integrations"'].some((word) => heard.includes(word))
  return { learnt, changed: !same(before, after) }
}

const same = (one: unknown, two: unknown) => JSON.stringify(one) === JSON.stringify(two)

const nothing = { learnt: false, changed: false }

describe.each(["mine", "unlisted"] as const)("the consumer of another integration, as user %s", (name) => {
  it.each(attacks)("cannot $attack", async (attack) => {
    assert.deepStrictEqual(await comesOf(world.users[name], attack, "contracting.api"), nothing)
    assert.deepStrictEqual(await comesOf(world.users[name], attack, "$JS.API"), nothing)
  })

  it.each(listened)("overhears nothing on %s", async (subject) => {
    const { end, heard } = overhear(world.users[name], subject)
    await world.users[name].flush()
    await prepare()
    assert.lengthOf(await Effect.runPromise(pulled(world.users.other, other, 1)), 1)
    await pause(30)
    end()
    assert.notInclude(heard.join("\n"), secret)
  })
})

describe("the same, tried by the service itself", () => {
  // Whoever asks: the stream answers nobody past its leader, and takes no acknowledgement that is itself an answer.
  const effective = attacks.filter(({ attack }) => !/past the|into the other's acknowledgement/.test(attack))

  it.each(effective)("does $attack, so that it was worth trying", async (attack) => {
    assert.notDeepEqual(await comesOf(world.users.service, attack, "$JS.API"), nothing)
  })

  it("overhears everything on >", async () => {
    await prepare()
    const { end, heard } = overhear(world.users.service, ">")
    await world.users.service.flush()
    await Effect.runPromise(world.using(sendAgain))
    await Effect.runPromise(until(() => heard.includes(secret)))
    end()
  })
})
