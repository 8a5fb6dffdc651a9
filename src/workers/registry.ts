import { DeliveryLive } from "./delivery/Delivery.ts"
import { IntakeLive } from "./intake/Intake.ts"
import { JanitorLive } from "./janitor/Janitor.ts"
import { RelayLive } from "./relay/Relay.ts"

/** Every worker by its name on the command line. */
export const workers = { relay: RelayLive, delivery: DeliveryLive, intake: IntakeLive, janitor: JanitorLive }

export type WorkerName = keyof typeof workers
export const workerNames = Object.keys(workers) as ReadonlyArray<WorkerName> // keys of the literal above
export const isWorkerName = (name: string): name is WorkerName => name in workers
