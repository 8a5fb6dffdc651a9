import { type Api, connectApi } from "../api.ts"
import { beginMeasuring } from "./measure.ts"
import type { Figures, Order } from "./orders.ts"
import { type Belongings, prepareVictim, settleVictim } from "./prepare.ts"
import { openReceiver, type Receiver } from "./receiver.ts"

const connections = 64

interface Victim {
  readonly api: Api
  readonly receiver: Receiver
  readonly own: Belongings
  readonly nextInvoice: () => string
}

let victim: Victim | undefined
let end: (() => Promise<Figures>) | undefined

const prepare = async ({ base, invoices, token }: Extract<Order, { order: "prepare" }>) => {
  const api = connectApi(base, token, connections)
  const receiver = await openReceiver()
  const own = await prepareVictim(api, receiver, invoices)
  let next = 0
  victim = { api, receiver, own, nextInvoice: () => own.invoices[next++ % own.invoices.length] ?? "" }
}

const begin = () => {
  if (victim === undefined) throw new Error("The victim is not prepared")
  end = beginMeasuring(victim.api, victim.own, victim.receiver, victim.nextInvoice)
}

const settle = async () => {
  if (victim !== undefined) await settleVictim(victim.api, victim.receiver, victim.own)
}

const obey = (order: Order) => {
  switch (order.order) {
    case "prepare":
      return prepare(order)
    case "settle":
      return settle()
    case "begin":
      return begin()
    case "end":
      return end?.()
  }
}

process.on("message", async (order: Order) => {
  try {
    process.send?.({ result: { done: await obey(order) } })
  } catch (error) {
    process.send?.({ result: { fault: error instanceof Error ? error.message : String(error) } })
  }
})
process.on("disconnect", () => process.exit())
