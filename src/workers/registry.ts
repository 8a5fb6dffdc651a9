import type { SqlClient } from "@effect/sql/SqlClient"
import { Effect, Layer } from "effect"
import type { Settings } from "../layers/infra/config/Settings.ts"

type WorkerLive = Layer.Layer<never, Error, SqlClient | Settings>

/** Every worker by its name on the command line. A process loads only those that it runs. */
const programs = {
  relay: async (): Promise<WorkerLive> => (await import("./relay/Relay.ts")).RelayLive,
  delivery: async (): Promise<WorkerLive> => (await import("./delivery/Delivery.ts")).DeliveryLive,
  intake: async (): Promise<WorkerLive> => (await import("./intake/Intake.ts")).IntakeLive,
  janitor: async (): Promise<WorkerLive> => (await import("./janitor/Janitor.ts")).JanitorLive
}

export type WorkerName = keyof typeof programs
export const workerNames = Object.keys(programs) as ReadonlyArray<WorkerName> // keys of the literal above
export const isWorkerName = (name: string): name is WorkerName => name in programs

export const workerLive = (name: WorkerName) => Layer.unwrapEffect(Effect.promise(programs[name]))
