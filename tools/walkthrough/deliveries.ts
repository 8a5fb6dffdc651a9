import { Webhook } from "standardwebhooks"
import type { ReceivedRequest } from "../../test/support/servers/receiver.ts"
import type { Api, CreatedResource } from "./api.ts"
import type { FakeServers } from "./fakeServers.ts"
import type { Integration } from "./integrations.ts"
import { pollUntil } from "./steps.ts"

/** Polls the deliveries of an integration until its only one is DELIVERED. */
const waitForDelivery = (api: Api, { id }: CreatedResource, seconds: number) =>
  pollUntil("the delivery", seconds, async () => {
    const { status, statusReason } = await api.get<Integration>(`/integrations/${id}`)
    if (status === "ERROR") throw new Error(`The integration stopped: ${statusReason}`)
    const [delivery] = await api.get<ReadonlyArray<{ readonly status: string }>>(`/integrations/${id}/deliveries`)
    return delivery?.status === "DELIVERED" ? delivery : undefined
  })

/** Returns the file in the drive and checks that it is a PDF. */
export const findDriveFile = async (
  api: Api,
  integration: CreatedResource,
  { drive: { files } }: FakeServers,
  seconds: number
) => {
  await waitForDelivery(api, integration, seconds)
  const [file, ...more] = files.values()
  if (file === undefined || more.length > 0) throw new Error(`Expected one file in the drive, found ${files.size}`)
  if (file.bytes.toString("latin1", 0, 5) !== "%PDF-") throw new Error(`${file.name} is not a PDF`)
  return file
}

/** Returns the webhook request after verifying its signature. */
export const findWebhook = async (
  api: Api,
  integration: CreatedResource & { readonly secret: string },
  { receiver }: FakeServers,
  seconds: number
): Promise<ReceivedRequest> => {
  await waitForDelivery(api, integration, seconds)
  const [request] = receiver.received
  if (request === undefined) throw new Error("The delivery is DELIVERED, but the receiver got no request")
  new Webhook(integration.secret).verify(request.text, request.headers)
  return request
}
