import { execFile } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { Data, Effect } from "effect"
import { isOutdated } from "../../../src/layers/infra/nats/ServerVersion.ts"
import { withProgress } from "../ConsoleProgress.ts"
import { projectRoot } from "../ProjectRoot.ts"
import { fetchNats } from "./NatsFetch.ts"

export interface NatsProgram {
  readonly path: string
  readonly version: string
}

export class NoNatsServer extends Data.TaggedError("NoNatsServer")<{ readonly tried: ReadonlyArray<string> }> {
  override get message() {
    const sources = "apt-get install nats-server, brew install nats-server, or https://nats.io/download"
    return `No NATS server was found (${this.tried.join("; ")}). Install one: ${sources}.`
  }
}

class NotUsable extends Data.TaggedError("NotUsable")<{ readonly path: string }> {}

const systemFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"]

// Per platform, because a container or another computer may share the project folder.
const cacheFolder = join(projectRoot, ".cache", "nats-server", `${process.platform}-${process.arch}`)

/** A program is usable when it prints its version. */
const readVersion = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      accessSync(path, constants.X_OK)
      const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 10_000 })
      return { path, version: /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? "" } satisfies NatsProgram
    },
    catch: () => new NotUsable({ path })
  })

/** Looks for a program that is not outdated; where there is none, an outdated one does for a single server. */
const searchMachine = (isAccepted: (version: string) => boolean) =>
  Effect.suspend(() => {
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...systemFolders, cacheFolder].filter(
      (name) => name !== ""
    )
    const found = folders.map((folder) =>
      Effect.filterOrFail(
        readVersion(join(folder, "nats-server")),
        ({ version }) => isAccepted(version),
        ({ path }) => new NotUsable({ path })
      )
    )
    return Effect.firstSuccessOf(found)
  })

const fetchProgram = withProgress(
  "Downloading a NATS server (first start only)",
  fetchNats(cacheFolder),
  () => "NATS server downloaded"
).pipe(
  Effect.flatMap(readVersion),
  Effect.catchTag("NotUsable", ({ path }) => Effect.fail(new NoNatsServer({ tried: [`${path} does not run here`] }))),
  Effect.catchTag("FetchFailed", ({ reasons }) => Effect.fail(new NoNatsServer({ tried: reasons })))
)

/** Finds a nats-server on this machine, or downloads one into the project's cache. */
export const findNatsProgram = (configuredPath: string | undefined) =>
  configuredPath !== undefined
    ? Effect.mapError(
        readVersion(configuredPath),
        ({ path }) => new NoNatsServer({ tried: [`NATS_SERVER_BIN: ${path} cannot be run`] })
      )
    : searchMachine((version) => !isOutdated(version)).pipe(
        Effect.orElse(() =>
          Effect.catchAll(fetchProgram, (failure) =>
            Effect.mapError(
              searchMachine(() => true),
              () => failure
            )
          )
        )
      )
