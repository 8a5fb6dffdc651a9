import { JanitorLive } from "./Janitor.ts"

/** Every worker, by the name it is started under. */
export const workers = { janitor: JanitorLive }

export type WorkerName = keyof typeof workers
export const workerNames = Object.keys(workers) as ReadonlyArray<WorkerName> // keys of the literal above
export const isWorkerName = (name: string): name is WorkerName => name in workers
