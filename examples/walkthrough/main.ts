import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { findClosedPort } from "../../test/support/servers/proxy.ts"
import { launchService } from "./service.ts"
import { startStandIns } from "./standIns.ts"
import { makeStep } from "./steps.ts"
import { walk } from "./walk.ts"

const help = `npm run walkthrough                    goes from an empty database to a branded PDF in a drive and a signed webhook,
                                       on servers of its own that it ends again; nothing leaves this machine
npm run walkthrough -- --out <folder>  leaves the PDF and the webhook there, instead of in .data/walkthrough`

const say = (line: string) => void process.stdout.write(`${line}\n`)

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** What arrived, for somebody to look at. */
const leave = (folder: string, { file, secret, webhook }: Awaited<ReturnType<typeof walk>>) => {
  writeFileSync(join(folder, file.name), file.bytes)
  const { headers, text } = webhook
  writeFileSync(join(folder, "webhook.json"), JSON.stringify({ secret, headers, body: text }, undefined, 2))
  return file.name
}

const stopAsked = () =>
  new Promise<undefined>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(undefined))
  })

/** Walks with a service and stand-ins of its own, unless it is stopped; tells what the PDF is called. */
const run = async (out: string) => {
  const step = makeStep(say)
  const standIns = await startStandIns()
  const port = await findClosedPort()
  const url = `http://127.0.0.1:${port}`
  const service = launchService(port, standIns.settingsFor(url))
  const go = async () => {
    const where = `database, broker, api and workers are at ${url}`
    await step(
      "service",
      () => service.ready,
      () => where
    )
    const token = await service.tokenFor("alice")
    return leave(out, await walk({ url, token, standIns, step, seconds: 60 }))
  }
  try {
    const name = await Promise.race([go(), stopAsked()])
    await service.stop()
    service.forget()
    return name
  } catch (error) {
    await service.stop()
    const where = `What the service wrote is in ${service.logs}; LOG_LEVEL=debug npm run walkthrough tells more.`
    throw new Error(`${wordsOf(error)}\n${where}`)
  } finally {
    await standIns.stop()
  }
}

const optionsGiven = () => {
  try {
    return parseArgs({ options: { help: { type: "boolean" }, out: { type: "string" } } }).values
  } catch (error) {
    throw new Error(`${wordsOf(error)}\n\n${help}`)
  }
}

const main = async () => {
  const { help: isHelpWanted, out = join(".data", "walkthrough") } = optionsGiven()
  if (isHelpWanted) return say(help)
  mkdirSync(out, { recursive: true })
  const began = Date.now()
  const name = await run(out)
  if (name === undefined) throw new Error("Stopped before the end; everything that was started is ended too")
  say(`\nDone in ${((Date.now() - began) / 1000).toFixed(0)} s. Look at ${join(out, name)}`)
  say("and, beside it, webhook.json; examples/walkthrough/walk.ts shows every request.")
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`\n${wordsOf(error)}\n`)
    process.exit(1)
  }
)
