import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { findClosedPort } from "../../test/support/servers/proxy.ts"
import { startFakeServers } from "./fakeServers.ts"
import { launchService } from "./service.ts"
import { makeStep } from "./steps.ts"
import { walk } from "./walk.ts"

const help = `npm run walkthrough                    goes from an empty database over an issue of a tracker to a paid invoice, with
                                       a PDF in Google Drive, a signed webhook, a mail and the page of the client, on
                                       temporary servers; nothing leaves this machine
npm run walkthrough -- --out <folder>  writes the PDF and the webhook to this folder [.data/walkthrough]`

const printLine = (line: string) => void process.stdout.write(`${line}\n`)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Saves the PDF and the webhook. Returns the name of the PDF. */
const saveOutput = (folder: string, { file, secret, webhook }: Awaited<ReturnType<typeof walk>>) => {
  writeFileSync(join(folder, file.name), file.bytes)
  const { headers, text } = webhook
  writeFileSync(join(folder, "webhook.json"), JSON.stringify({ secret, headers, body: text }, undefined, 2))
  return file.name
}

const waitForStopSignal = () =>
  new Promise<undefined>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(undefined))
  })

/**
 * Runs the walkthrough with a service and fake servers of its own. Returns the PDF's name, or undefined on a stop
 * signal.
 */
const runWalkthrough = async (folder: string) => {
  const step = makeStep(printLine)
  const fakes = await startFakeServers()
  const port = await findClosedPort()
  const url = `http://127.0.0.1:${port}`
  const service = launchService(port, fakes.settingsFor(url))
  const walkThrough = async () => {
    const hint = `database, broker, api and workers are at ${url}`
    await step(
      "service",
      () => service.ready,
      () => hint
    )
    const token = await service.signTokenFor("alice")
    return saveOutput(folder, await walk({ url, token, fakes, step, timeoutSeconds: 60 }))
  }
  try {
    const name = await Promise.race([walkThrough(), waitForStopSignal()])
    await service.stop()
    service.removeFolder()
    return name
  } catch (error) {
    await service.stop()
    const hint = `The logs of the service are in ${service.logFolder}; LOG_LEVEL=debug npm run walkthrough logs more.`
    throw new Error(`${messageOf(error)}\n${hint}`)
  } finally {
    await fakes.stop()
  }
}

const readOptions = () => {
  try {
    return parseArgs({ options: { help: { type: "boolean" }, out: { type: "string" } } }).values
  } catch (error) {
    throw new Error(`${messageOf(error)}\n\n${help}`)
  }
}

const main = async () => {
  const { help: isHelpWanted, out = join(".data", "walkthrough") } = readOptions()
  if (isHelpWanted) return printLine(help)
  mkdirSync(out, { recursive: true })
  const startedAt = Date.now()
  const name = await runWalkthrough(out)
  if (name === undefined) throw new Error("Stopped before the end; all servers are stopped")
  printLine(`\nDone in ${((Date.now() - startedAt) / 1000).toFixed(0)} s. Look at ${join(out, name)}`)
  printLine("and, beside it, webhook.json; tools/walkthrough/walk.ts shows every request.")
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`\n${messageOf(error)}\n`)
    process.exit(1)
  }
)
