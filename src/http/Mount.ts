import { assemble } from "./api/Assemble.ts"
import { clients } from "./handlers/Clients.ts"
import { members } from "./handlers/Members.ts"
import { tenants } from "./handlers/Tenants.ts"

/** Everything that is served, a line a resource: the contract, the routes and the document all follow from this list. */
export const mounted = [tenants, members, clients]

export const Api = assemble(mounted.map(({ group }) => group))
