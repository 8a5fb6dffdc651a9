import { backlog } from "./backlog.ts"
import { pending } from "./pending.ts"
import type { Part } from "./scene.ts"

export const parts: ReadonlyArray<Part> = [backlog, pending]
