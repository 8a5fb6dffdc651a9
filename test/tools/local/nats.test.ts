import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type JetStreamManager, type NatsConnection } from "nats"
import { isOutdated } from "../../../src/layers/infra/nats/ServerVersion.ts"
import { fetchNats } from "../../../tools/local/nats/NatsFetch.ts"
import { findNatsProgram } from "../../../tools/local/nats/NatsPrograms.ts"
import { startNats } from "../../../tools/local/nats/NatsServer.ts"
import { captureConsole, pollSchedule, temporaryFolder } from "./temporary.ts"

const start = (folder: string) =>
  Effect.flatMap(findNatsProgram(process.env["NATS_SERVER_BIN"]), (program) =>
    startNats({ folder: join(folder, "nats"), logFile: join(folder, "log"), program })
  )

const withConnection = <A>(url: string, use: (connection: NatsConnection, manager: JetStreamManager) => Promise<A>) =>
  Effect.tryPromise(async () => {
    const connection = await connect({ servers: url, reconnect: false })
    try {
      return await use(connection, await connection.jetstreamManager())
    } finally {
      await connection.close()
    }
  })

const storeMessage = (url: string) =>
  withConnection(url, async (connection, manager) => {
    await manager.streams.add({ name: "kept", subjects: ["kept.>"] })
    await connection.jetstream().publish("kept.one", "7")
  })

const readMessage = (url: string) =>
  withConnection(url, async (_, manager) => (await manager.streams.getMessage("kept", { seq: 1 })).string())

describe("The local NATS server", () => {
  it.scopedLive("keeps its streams and its URL across restarts", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const first = yield* start(folder).pipe(
        Effect.tap(({ url }) => storeMessage(url)),
        Effect.scoped
      )
      const second = yield* start(folder)
      assert.strictEqual(second.url, first.url)
      assert.strictEqual(yield* readMessage(second.url), "7")
    })
  )

  it.scopedLive("is restarted with the same URL and streams after it was killed", () =>
    captureConsole((lines) =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        const { url } = yield* start(folder)
        yield* storeMessage(url)
        process.kill(Number(readFileSync(join(folder, "nats", "nats-server.pid"), "utf8")), "SIGKILL")
        assert.strictEqual(yield* readMessage(url).pipe(Effect.retry(pollSchedule)), "7")
        assert.strictEqual(lines[0], "nats-server stopped (signal SIGKILL); starting again in 0.2 s")
      })
    )
  )

  it.scopedLive("does not kill another process that has the pid of a killed server", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const otherProcess = yield* Effect.acquireRelease(
        Effect.sync(() => spawn("sleep", ["600"])),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      mkdirSync(join(folder, "nats"))
      writeFileSync(join(folder, "nats", "nats-server.pid"), String(otherProcess.pid))
      yield* start(folder)
      assert.isNull(otherProcess.exitCode)
      assert.isNull(otherProcess.signalCode)
    })
  )

  it.scopedLive("is named in the error if NATS_SERVER_BIN cannot be run", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(findNatsProgram("/no/such/nats-server"))
      assert.include(failure.message, "NATS_SERVER_BIN: /no/such/nats-server cannot be run")
    })
  )
})

const aptGet = `#!/bin/sh
case "$*" in
  *Dir::State::lists=*update) : > updated ;;
  *Dir::State::lists=*download*) test -f updated && : > nats-server_2.deb ;;
  *) exit 100 ;;
esac`

const dpkgDeb = `#!/bin/sh
mkdir -p "$3/usr/sbin" && printf '#!/bin/sh\\necho nats-server: v2.9.10\\n' > "$3/usr/sbin/nats-server"`

const putFakeToolsOnPath = (folder: string, tools: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, text] of Object.entries(tools)) {
        writeFileSync(join(folder, name), text)
        chmodSync(join(folder, name), 0o755)
      }
      const before = process.env["PATH"]
      process.env["PATH"] = `${folder}:${before}`
      return before
    }),
    (before) =>
      Effect.sync(() => {
        process.env["PATH"] = before
      })
  )

const goOffline = Effect.acquireRelease(
  Effect.sync(() => vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("offline"))),
  (offline) => Effect.sync(() => offline.mockRestore())
)

describe.runIf(process.platform === "linux")("fetchNats", () => {
  it.scopedLive("downloads package lists if the system has none, and can run twice at the same time", () =>
    Effect.gen(function* () {
      yield* putFakeToolsOnPath(yield* temporaryFolder, { "apt-get": aptGet, "dpkg-deb": dpkgDeb })
      yield* goOffline
      const cache = yield* temporaryFolder
      const both = yield* Effect.all([fetchNats(cache), fetchNats(cache)], { concurrency: "unbounded" })
      assert.deepStrictEqual(both, [join(cache, "nats-server"), join(cache, "nats-server")])
      assert.deepStrictEqual(readdirSync(cache), ["nats-server"])
      const program = yield* findNatsProgram(join(cache, "nats-server"))
      assert.strictEqual(program.version, "2.9.10")
    })
  )

  it.scopedLive("refuses a file of Debian's archive that does not match its checksum", () =>
    Effect.gen(function* () {
      yield* putFakeToolsOnPath(yield* temporaryFolder, { "apt-get": "#!/bin/sh\nexit 100", "dpkg-deb": dpkgDeb })
      const forged = yield* goOffline
      forged.mockImplementation(async () => new Response("forged"))
      const { reasons } = yield* Effect.flip(fetchNats(yield* temporaryFolder))
      assert.match(reasons[0] ?? "", /^Debian's archive: .* does not match its checksum$/)
      assert.match(reasons[1] ?? "", /^release archive: .* does not match its checksum$/)
    })
  )

  it.scopedLive("reports every source that it tried", () =>
    Effect.gen(function* () {
      yield* putFakeToolsOnPath(yield* temporaryFolder, { "apt-get": "#!/bin/sh\necho no lists >&2; exit 100" })
      yield* goOffline
      const { reasons } = yield* Effect.flip(fetchNats(yield* temporaryFolder))
      assert.deepStrictEqual(reasons, ["Debian's archive: offline", "release archive: offline", "apt-get: no lists"])
    })
  )
})

const outdatedServer = "#!/bin/sh\necho nats-server: v2.9.10"

describe("findNatsProgram", () => {
  it.scopedLive("passes over an outdated server on the path", () =>
    Effect.gen(function* () {
      yield* putFakeToolsOnPath(yield* temporaryFolder, { "nats-server": outdatedServer })
      const { version } = yield* findNatsProgram(undefined)
      assert.isFalse(isOutdated(version), version)
    })
  )
})
