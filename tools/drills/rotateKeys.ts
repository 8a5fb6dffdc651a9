import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { projectRoot } from "../local/ProjectRoot.ts"
import { ensure, type Stage } from "./stage.ts"
import { ensureAllArrived, subscribeByWebhook } from "./subscribers.ts"
import { openTenant, startWriting } from "./writes.ts"

const makeKey = () => randomBytes(32).toString("base64")

/** Changes SECRETS_KEY in the documented steps, with two apis of which one is always ready, under load. */
export const rotateKeys = async (stage: Stage) => {
  const postgres = await stage.postgres("postgres")
  const common = { DATABASE_URL: postgres.url, ...(await stage.nats()) }
  const [older, newer] = [makeKey(), makeKey()]
  const processes = { "api-1": ["api"], "api-2": ["api"], workers: ["worker", "relay", "delivery"] }
  type Name = keyof typeof processes
  const running = new Map<Name, Awaited<ReturnType<Stage["service"]>>>()

  /** Restarts one process after the other with these keys. */
  const restartAll = async (keys: ReadonlyArray<string>) => {
    for (const name of Object.keys(processes) as ReadonlyArray<Name>) {
      await running.get(name)?.stop()
      running.set(name, await stage.service(name, processes[name], { ...common, SECRETS_KEY: keys.join(",") }))
    }
  }

  await restartAll([older])
  const url = () => [...running].filter(([name]) => name !== "workers").map(([, { url }]) => url)
  const { call } = await openTenant({ urls: url(), token: await stage.token("owner") })
  /** The other api answers while one restarts. */
  const callEither: typeof call = async (...args) => call(...args).catch(() => call(...args))
  const webhook = await subscribeByWebhook(callEither)
  const writing = startWriting(callEither, 10)
  await pause(1000)
  await restartAll([older, newer])
  await restartAll([newer, older])
  const env = { ...process.env, ...common, DATA_DIR: stage.folder, SECRETS_KEY: `${newer},${older}` }
  const main = join(projectRoot, "dist", "main.js")
  const { stdout } = await promisify(execFile)(process.execPath, [main, "reseal"], { env })
  await restartAll([newer])
  await pause(1000)
  await writing.stop()

  const created = await ensureAllArrived(writing, webhook)
  const refused = await promisify(execFile)(process.execPath, [main, "reseal"], { env: { ...env, SECRETS_KEY: older } })
    .then(() => "accepted")
    .catch((error: { readonly stderr?: string }) => error.stderr ?? "")
  ensure(refused.includes("SECRETS_KEY lacks a key"), `a process with the old key alone was not refused: ${refused}`)
  return {
    "writes during the change": created.length,
    "webhooks with a valid signature": webhook.arrivals.size,
    reseal: stdout.trim().split("\n").at(-1) ?? "",
    "a process with the old key alone": "refused"
  }
}
