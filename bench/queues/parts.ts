import { backlog } from "./backlog.ts"
import { erasing } from "./erasing.ts"
import { migrating } from "./migrating.ts"
import { pending } from "./pending.ts"
import { retaining } from "./retaining.ts"
import type { Part } from "./scene.ts"

export const parts: ReadonlyArray<Part> = [backlog, pending, erasing, retaining, migrating]
