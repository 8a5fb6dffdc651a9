import { Schema } from "effect"
import { breaks, ValidationError } from "../Errors.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import { mostAtOnce, mostInMetadata, type NewLine, writable } from "../invoicing/Billable.ts"
import { body, defaulting, nonEmptyArray, optional, text } from "../Schemas.ts"
import { mostKept, type TrackedIssue, TrackedIssueId } from "./TrackedIssue.ts"

/** What the lines of issues refer to: their key, which is what people know them by. */
export const issueReference = "jira"

interface Referring {
  readonly referenceType?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** The site whose issue a line refers to, as far as it says: two sites may have issues of the same key. */
export const siteOfLine = ({ metadata, referenceType }: Referring) =>
  referenceType === issueReference ? metadata?.["siteId"] : undefined

/** The tracked issue a line was made of, if it was: its key may have been another one then. */
export const issueOfLine = ({ metadata, referenceType }: Referring) => {
  const issue = metadata?.["issueId"]
  return referenceType === issueReference && Schema.is(TrackedIssueId)(issue) ? issue : undefined
}

/** Whether two that bear the same key may be the same issue. One that names no site may be of any. */
export const mayBeOfSameSite = (one: string | undefined, other: string | undefined) =>
  one === undefined || other === undefined || one === other

const Keys = nonEmptyArray(text(1, 100), mostAtOnce)

const Filter = body({
  projectKey: optional(text(1, 100)),
  state: optional(text(1, mostKept.state))
}).annotations({ identifier: "IssueFilter" })

export const CreateBillablesFromIssues = body({
  integrationId: IntegrationId,
  issueKeys: optional(Keys.annotations({ description: "These issues; one that is billed already is refused" })),
  filter: optional(Filter.annotations({ description: "All such issues that are not billed yet" })),
  amountMinor: writable.amountMinor,
  quantity: defaulting(writable.quantity, 1),
  name: optional(writable.name.annotations({ description: "Of every line; the issue's key and title unless given" }))
}).annotations({ identifier: "CreateBillablesFromIssues" })
export type CreateBillablesFromIssues = typeof CreateBillablesFromIssues.Type

/** What is wrong with asking for these issues, if anything is. */
export const choiceFault = ({ filter, issueKeys }: CreateBillablesFromIssues) => {
  if (issueKeys === undefined && filter === undefined)
    return breaks("issueKeys", "required", "is required, unless filter is given")
  return issueKeys !== undefined && filter !== undefined
    ? breaks("filter", "unknown", "means nothing beside issueKeys")
    : undefined
}

const cut = (words: string, most: number) => [...words].slice(0, most).join("")

/** The line an issue becomes. */
export const lineOfIssue = (
  { id, issueKey, state, title, url }: TrackedIssue,
  siteId: string | undefined,
  { amountMinor, name, quantity = 1 }: CreateBillablesFromIssues
): NewLine => ({
  name: name ?? cut(title === undefined || title === "" ? issueKey : `${issueKey}: ${title}`, 255),
  amountMinor,
  quantity,
  referenceType: issueReference,
  referenceId: issueKey,
  metadata: {
    issueKey,
    issueId: id,
    ...(siteId === undefined ? {} : { siteId }),
    ...(title === undefined ? {} : { title: cut(title, mostInMetadata) }),
    ...(url === undefined ? {} : { url }),
    ...(state === undefined ? {} : { state })
  }
})

/** Faults of lines in the words of who asked for issues. */
export const faultsOfIssues = ({ details = [], message }: ValidationError) =>
  new ValidationError({
    message,
    details: details.map((detail) => ({
      ...detail,
      field: detail.field.replace(/^billables\[(\d+)\]\.referenceId$/, "issueKeys[$1]")
    }))
  })
