import { type Api, connectApi } from "../api.ts"
import type { Measurements, VictimCommand } from "./commands.ts"
import { startMeasurement } from "./measurement.ts"
import { openReceiver, type Receiver } from "./receiver.ts"
import { prepareVictim, type VictimData, waitUntilPrompt } from "./victimData.ts"

const connections = 64

interface Victim {
  readonly api: Api
  readonly receiver: Receiver
  readonly data: VictimData
  readonly nextInvoice: () => string
}

let victim: Victim | undefined
let stopMeasurement: (() => Promise<Measurements>) | undefined

const prepare = async ({ baseUrl, invoiceCount, token }: Extract<VictimCommand, { command: "prepare" }>) => {
  const api = connectApi(baseUrl, token, connections)
  const receiver = await openReceiver()
  const victimData = await prepareVictim(api, receiver, invoiceCount)
  let nextIndex = 0
  victim = {
    api,
    receiver,
    data: victimData,
    nextInvoice: () => victimData.invoices[nextIndex++ % victimData.invoices.length] ?? ""
  }
}

const beginMeasurement = () => {
  if (victim === undefined) throw new Error("The victim is not prepared")
  stopMeasurement = startMeasurement(victim.api, victim.data, victim.receiver, victim.nextInvoice)
}

const waitUntilVictimPrompt = async () => {
  if (victim !== undefined) await waitUntilPrompt(victim.api, victim.receiver, victim.data)
}

const handleCommand = (command: VictimCommand) => {
  switch (command.command) {
    case "prepare":
      return prepare(command)
    case "waitUntilPrompt":
      return waitUntilVictimPrompt()
    case "startMeasurement":
      return beginMeasurement()
    case "stopMeasurement":
      return stopMeasurement?.()
  }
}

process.on("message", async (command: VictimCommand) => {
  try {
    process.send?.({ result: { value: await handleCommand(command) } })
  } catch (error) {
    process.send?.({ result: { error: error instanceof Error ? error.message : String(error) } })
  }
})
process.on("disconnect", () => process.exit())
