import { Effect } from "effect"
import { CurrentMember } from "../../domain/tenancy/RequestContext.ts"
import { Members } from "../../layers/tenancy/Members.ts"
import { handleGroup } from "../server/Handlers.ts"
import { listPage } from "../server/response/Paging.ts"
import { MembersApi } from "./MembersApi.ts"

export const members = handleGroup(MembersApi, Members, (members) => ({
  list: ({ query }) => listPage(query, members.page),
  create: ({ payload }) => members.create(payload),
  me: () => Effect.flatMap(CurrentMember, ({ id }) => members.get(id)),
  get: ({ path }) => members.get(path.memberId),
  patch: ({ path, payload }) => members.patch(path.memberId, payload),
  remove: ({ path }) => members.remove(path.memberId)
}))
