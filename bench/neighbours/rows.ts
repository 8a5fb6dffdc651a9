import type { Row } from "./row.ts"
import { unreadPages } from "./rows/anonymous.ts"
import { largeBodies } from "./rows/bodies.ts"
import { brokenLines } from "./rows/brokenLines.ts"
import { manyConnections } from "./rows/connections.ts"
import { unreadExports } from "./rows/exports.ts"
import { wideFanOut } from "./rows/fanOut.ts"
import { longLists } from "./rows/lists.ts"
import { manyMediaSlots } from "./rows/mediaSlots.ts"
import { manyConsumers } from "./rows/natsConsumers.ts"
import { longPdfs } from "./rows/pdfs.ts"
import { bulkRedelivery } from "./rows/redelivery.ts"
import { shortSearches } from "./rows/searches.ts"
import { slowReceivers } from "./rows/slowReceivers.ts"

/** Each of these attacks once blocked all other callers. */
export const rows: ReadonlyArray<Row> = [
  ...largeBodies,
  wideFanOut,
  ...slowReceivers,
  bulkRedelivery,
  ...longPdfs,
  brokenLines,
  ...longLists,
  shortSearches,
  unreadExports,
  unreadPages,
  ...manyConnections,
  manyMediaSlots,
  manyConsumers
]
