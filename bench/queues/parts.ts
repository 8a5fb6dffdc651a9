import { backlog } from "./backlog.ts"
import { erasure } from "./erasure.ts"
import { migration } from "./migration.ts"
import { pendingDeliveries } from "./pendingDeliveries.ts"
import type { QueuePart } from "./queuePart.ts"
import { retention } from "./retention.ts"

export const parts: ReadonlyArray<QueuePart> = [backlog, pendingDeliveries, erasure, retention, migration]
