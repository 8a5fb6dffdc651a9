import { execFile } from "node:child_process"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { promisify } from "node:util"
import { projectRoot } from "../local/ProjectRoot.ts"
import type { Stage } from "./stage.ts"
import { ensureAllArrived, subscribeByWebhook } from "./subscribers.ts"
import { openTenant, startWriting } from "./writes.ts"

/**
 * Replaces every process of a release under load: migrates first, then one process after the other. `from` is the folder
 * of the release that runs now.
 */
export const upgrade =
  (from = projectRoot) =>
  async (stage: Stage) => {
    const postgres = await stage.postgres("postgres")
    const settings = { DATABASE_URL: postgres.url, ...(await stage.nats()) }
    const processes = {
      "api-1": ["api"],
      "api-2": ["api"],
      relay: ["worker", "relay"],
      delivery: ["worker", "delivery"]
    }
    type Name = keyof typeof processes
    const names = Object.keys(processes) as ReadonlyArray<Name>
    const running = new Map<Name, Awaited<ReturnType<Stage["service"]>>>()
    for (const name of names) running.set(name, await stage.service(name, processes[name], settings, from))

    const urls = ["api-1", "api-2"].flatMap((name) => running.get(name as Name)?.url ?? [])
    const { call } = await openTenant({ urls, token: await stage.token("owner") })
    /** As a proxy does: other calls take turns too, so that the next one may meet the same api. */
    const callEither: typeof call = (...args) => {
      const retry = () => call(...args)
      return retry().catch(retry).catch(retry).catch(retry)
    }
    const webhook = await subscribeByWebhook(callEither)
    const writing = startWriting(callEither, 20)
    await pause(2000)
    const env = { ...process.env, ...settings, DATA_DIR: stage.folder }
    const migrated = await promisify(execFile)(process.execPath, [join(projectRoot, "dist", "main.js"), "migrate"], {
      env
    })
    await pause(1000)
    for (const name of names) {
      await running.get(name)?.stop()
      await stage.service(name, processes[name], settings)
    }
    await pause(1000)
    await writing.stop()

    const created = await ensureAllArrived(writing, webhook)
    return {
      migrate: migrated.stdout.trim().split("\n").at(-1) ?? "",
      "writes during the upgrade": created.length,
      "events that arrived": webhook.arrivals.size
    }
  }
