import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { NatsSender } from "../../../../src/layers/infra/nats/NatsSender.ts"
import { projectRoot } from "../../../../tools/local/ProjectRoot.ts"
import { makeProgramFolder } from "../../../support/servers/programFolder.ts"
import { pollSchedule, temporaryFolder, until } from "../../../tools/local/temporary.ts"
import { accountOf, connectAsService, makeSender, passwordOf, startServerIn } from "./consumerBroker.ts"

const [tenant, integration] = ["tnt_1", "int_a"] as const

const exampleFolder = Effect.acquireRelease(Effect.sync(makeProgramFolder), (folder) =>
  Effect.sync(() => folder.remove())
).pipe(
  Effect.tap((folder) =>
    folder.write("consumer.ts", readFileSync(join(projectRoot, "examples/natsConsumer.ts"), "utf8"))
  )
)

/** Runs the example and collects its output. */
const runExample = (file: string, NATS_URL: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const env = { ...process.env, NATS_URL, INTEGRATION: integration, NATS_PASSWORD: passwordOf(integration) }
      const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] })
      const lines: Array<string> = []
      createInterface(child.stdout).on("line", (line) => lines.push(line))
      return { child, lines }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

const deliver = (id: string, redeliveryRound = 0) =>
  Effect.flatMap(NatsSender, ({ send }) =>
    send({ tenant, integration, type: "client.created", id, body: `{"id":"${id}"}`, redeliveryRound })
  ).pipe(Effect.repeat({ until: ({ delivered }) => delivered, schedule: pollSchedule }))

const countUnacknowledged = (url: string) =>
  Effect.flatMap(connectAsService(url), (service) =>
    Effect.promise(async () => {
      const { consumers } = await service.jetstreamManager()
      const { num_ack_pending, num_pending } = await consumers.info("contracting-integrations", integration)
      return num_ack_pending + num_pending
    })
  )

describe("The example consumer examples/natsConsumer.ts", () => {
  it.scopedLive("compiles without errors", () =>
    Effect.gen(function* () {
      const folder = yield* exampleFolder
      assert.deepStrictEqual(yield* Effect.promise(folder.typeErrors), [])
    })
  )

  it.scopedLive("prints each event once, acknowledges it, and exits on SIGTERM", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const { url } = yield* startServerIn(folder, [accountOf(integration)])
      const withSender = yield* makeSender(url)
      yield* withSender(deliver("evt_1"))
      const file = yield* Effect.map(exampleFolder, (folder) => folder.build("consumer.ts"))
      const { child, lines } = yield* runExample(file, url)
      yield* until(() => lines.length === 1)
      yield* withSender(Effect.all([deliver("evt_1", 1), deliver("evt_2")]))
      yield* until(() => lines.length === 2)
      assert.deepStrictEqual(lines, ['{"id":"evt_1"}', '{"id":"evt_2"}'])
      assert.strictEqual(yield* countUnacknowledged(url), 0)
      child.kill("SIGTERM")
      yield* until(() => child.exitCode !== null)
      assert.strictEqual(child.exitCode, 0)
    })
  )
})
