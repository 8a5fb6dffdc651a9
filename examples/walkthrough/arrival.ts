import { Webhook } from "standardwebhooks"
import type { ReceivedRequest } from "../../test/support/servers/receiver.ts"
import type { Api, Made } from "./api.ts"
import type { Integration } from "./integrations.ts"
import type { StandIns } from "./standIns.ts"
import { until } from "./steps.ts"

/** Reads in the ledger of an integration until the one thing it is to be sent was delivered. */
const delivered = (api: Api, { id }: Made, seconds: number) =>
  until("the delivery", seconds, async () => {
    const { status, statusReason } = await api.get<Integration>(`/integrations/${id}`)
    if (status === "ERROR") throw new Error(`The integration stopped: ${statusReason}`)
    const [delivery] = await api.get<ReadonlyArray<{ readonly status: string }>>(`/integrations/${id}/deliveries`)
    return delivery?.status === "DELIVERED" ? delivery : undefined
  })

/** The file that lies in the drive. */
export const arriveInDrive = async (api: Api, drive: Made, { drive: { files } }: StandIns, seconds: number) => {
  await delivered(api, drive, seconds)
  const [file, ...more] = files.values()
  if (file === undefined || more.length > 0) throw new Error(`There are ${files.size} files in the drive, not one`)
  if (file.bytes.toString("latin1", 0, 5) !== "%PDF-") throw new Error(`${file.name} is no PDF`)
  return file
}

/** The webhook that reached the receiver, if it is really from the service. */
export const arriveAtReceiver = async (
  api: Api,
  hook: Made & { readonly secret: string },
  { receiver }: StandIns,
  seconds: number
): Promise<ReceivedRequest> => {
  await delivered(api, hook, seconds)
  const [received] = receiver.received
  if (received === undefined) throw new Error("It is delivered, but the receiver got nothing")
  new Webhook(hook.secret).verify(received.text, received.headers)
  return received
}
