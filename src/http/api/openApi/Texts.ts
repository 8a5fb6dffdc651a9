import { type Role, roles } from "../../../domain/tenancy/Roles.ts"
import type { AccessRule } from "../Access.ts"
import type { OperationTraits } from "../DocumentedErrors.ts"
import type { OperationText } from "../Operation.ts"

const orList = (words: ReadonlyArray<string>) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`

const rolesFrom = (role: Role) => orList(roles.slice(roles.indexOf(role)))

/** Who may call an operation. Completes the sentence that begins with "Who may call it:". */
export const describeAccess = (access: AccessRule): string => {
  switch (access.for) {
    case "anyone":
      return "everyone, without a token."
    case "caller":
      return "every caller with a valid token."
    case "optionalAuth":
      return "everyone. A token is optional."
    case "resourceMember":
      return "every member of the tenant that owns the resource."
    case "tracker":
      return `the tracker, with a token that it signed, or a member of the tenant with the role ${rolesFrom("ADMIN")}.`
    case "member": {
      const members =
        access.role === "VIEWER"
          ? "every member of the tenant"
          : `members of the tenant with the role ${rolesFrom(access.role)}`
      return `${members}.${access.hidden ? " Everyone else gets a 404." : ""}`
    }
  }
}

/** What all operations of a kind reject. */
const commonRejections = ({ acceptsIfMatch, hasPayload, hasPathParameter, isUpload }: OperationTraits) => [
  ...(hasPayload && !isUpload ? ["a body with a missing, invalid or unknown field (400)"] : []),
  ...(hasPathParameter ? ["a resource that does not exist (404)"] : []),
  ...(acceptsIfMatch ? ["an `If-Match` with another version than the current one (412)"] : [])
]

/** The description of an operation, in Markdown. */
export const describeOperation = (
  { description, events = [], rejects = [] }: OperationText,
  traits: OperationTraits
) => {
  const rejections = [...rejects, ...commonRejections(traits)]
  return [
    description,
    `**Who may call it:** ${describeAccess(traits.access)}`,
    ...(rejections.length === 0 ? [] : [`**It rejects:**\n${rejections.map((what) => `- ${what}`).join("\n")}`]),
    ...(traits.method === "GET" && events.length === 0
      ? []
      : [`**Events:** ${events.length === 0 ? "none" : events.map((type) => `\`${type}\``).join(", ")}`])
  ].join("\n\n")
}

/** The description of a success response. */
export const describeSuccess = ({ hasCsvForm, isPaged, method, returnsList }: OperationTraits, status: string) => {
  if (status === "201") return "Created. `Location` is its URL."
  if (status === "202") return "Accepted. `data` is what happens next in the background."
  if (status === "204") return "Done. The response has no body."
  if (returnsList && isPaged)
    return (
      "One page of the list. `Link` has the URL of the next one. With `Accept: text/csv`, the whole list as CSV, unless " +
      "there is a `limit`."
    )
  if (returnsList && method === "GET") return "The whole list. With `Accept: text/csv`, as CSV."
  if (hasCsvForm) return "Found. With `Accept: text/csv`, as CSV."
  return method === "GET" ? "Found." : "Done. `data` is the result."
}
