import type { Row } from "./row.ts"
import { hugeBodies } from "./rows/bodies.ts"
import { manyConnections } from "./rows/connections.ts"
import { wideFanOut } from "./rows/fanOut.ts"
import { wholeList } from "./rows/lists.ts"
import { manySlots } from "./rows/media.ts"
import { manyConsumers } from "./rows/natsConsumers.ts"
import { longPdfs } from "./rows/pdfs.ts"
import { bulkRedelivery } from "./rows/redeliver.ts"
import { slowReceivers } from "./rows/slowReceivers.ts"

/** Each of these stopped every other caller once. */
export const rows: ReadonlyArray<Row> = [
  ...hugeBodies,
  wideFanOut,
  ...slowReceivers,
  bulkRedelivery,
  ...longPdfs,
  wholeList,
  ...manyConnections,
  manySlots,
  manyConsumers
]
