import type { Row } from "./row.ts"
import { largeBodies } from "./rows/bodies.ts"
import { manyConnections } from "./rows/connections.ts"
import { wideFanOut } from "./rows/fanOut.ts"
import { longLists } from "./rows/lists.ts"
import { manyMediaSlots } from "./rows/mediaSlots.ts"
import { manyConsumers } from "./rows/natsConsumers.ts"
import { longPdfs } from "./rows/pdfs.ts"
import { bulkRedelivery } from "./rows/redelivery.ts"
import { slowReceivers } from "./rows/slowReceivers.ts"

/** Each of these attacks once blocked all other callers. */
export const rows: ReadonlyArray<Row> = [
  ...largeBodies,
  wideFanOut,
  ...slowReceivers,
  bulkRedelivery,
  ...longPdfs,
  longLists,
  ...manyConnections,
  manyMediaSlots,
  manyConsumers
]
