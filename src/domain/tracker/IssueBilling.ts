import { Schema } from "effect"
import { fieldError, ValidationError } from "../Errors.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import {
  billableFields,
  maxBillablesPerRequest,
  maxMetadataValueLength,
  type NewBillable
} from "../invoicing/Billable.ts"
import { body, nonEmptyArray, optional, optionalWithDefault, text } from "../Schemas.ts"
import { maxIssueTextLength, type TrackedIssue, TrackedIssueId } from "./TrackedIssue.ts"

/** The `referenceType` of lines made from Jira issues. Their `referenceId` is the issue key. */
export const jiraReferenceType = "jira"

interface LineReference {
  readonly referenceType?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** The site of the issue that a line refers to, if the line names one. Two sites can have issues with the same key. */
export const siteOfLine = ({ metadata, referenceType }: LineReference) =>
  referenceType === jiraReferenceType ? metadata?.["siteId"] : undefined

/** The tracked issue that a line was made from, if any. The issue's key can have changed since. */
export const issueOfLine = ({ metadata, referenceType }: LineReference) => {
  const issue = metadata?.["issueId"]
  return referenceType === jiraReferenceType && Schema.is(TrackedIssueId)(issue) ? issue : undefined
}

/** Whether two references with the same key can mean the same issue. A missing site matches every site. */
export const canBeSameSite = (one: string | undefined, other: string | undefined) =>
  one === undefined || other === undefined || one === other

const IssueKeys = nonEmptyArray(text(1, 100), maxBillablesPerRequest)

const IssueFilter = body({
  projectKey: optional(text(1, 100)),
  state: optional(text(1, maxIssueTextLength.state))
}).annotations({ identifier: "IssueFilter" })

export const CreateBillablesFromIssues = body({
  integrationId: IntegrationId,
  issueKeys: optional(IssueKeys.annotations({ description: "These issues; one that is billed already is refused" })),
  filter: optional(IssueFilter.annotations({ description: "All such issues that are not billed yet" })),
  amountMinor: billableFields.amountMinor,
  quantity: optionalWithDefault(billableFields.quantity, 1),
  name: optional(
    billableFields.name.annotations({ description: "Of every line; the issue's key and title unless given" })
  )
}).annotations({ identifier: "CreateBillablesFromIssues" })
export type CreateBillablesFromIssues = typeof CreateBillablesFromIssues.Type

/** The validation error of the issue selection, if there is one. It needs exactly one of `issueKeys` and `filter`. */
export const selectionError = ({ filter, issueKeys }: CreateBillablesFromIssues) => {
  if (issueKeys === undefined && filter === undefined)
    return fieldError("issueKeys", "required", "is required, unless filter is given")
  return issueKeys !== undefined && filter !== undefined
    ? fieldError("filter", "unknown", "means nothing beside issueKeys")
    : undefined
}

const truncate = (value: string, maxLength: number) => [...value].slice(0, maxLength).join("")

/** Builds the line that bills an issue. */
export const issueToLine = (
  { id, issueKey, state, title, url }: TrackedIssue,
  siteId: string | undefined,
  { amountMinor, name, quantity = 1 }: CreateBillablesFromIssues
): NewBillable => ({
  name: name ?? truncate(title === undefined || title === "" ? issueKey : `${issueKey}: ${title}`, 255),
  amountMinor,
  quantity,
  referenceType: jiraReferenceType,
  referenceId: issueKey,
  metadata: {
    issueKey,
    issueId: id,
    ...(siteId === undefined ? {} : { siteId }),
    ...(title === undefined ? {} : { title: truncate(title, maxMetadataValueLength) }),
    ...(url === undefined ? {} : { url }),
    ...(state === undefined ? {} : { state })
  }
})

/** Renames the fields in errors of lines to those of the request for issues. */
export const toIssueErrors = ({ details = [], message }: ValidationError) =>
  new ValidationError({
    message,
    details: details.map((detail) => ({
      ...detail,
      field: detail.field.replace(/^billables\[(\d+)\]\.referenceId$/, "issueKeys[$1]")
    }))
  })
