import { Either, Schema } from "effect"
import { fieldError, requireNoErrors, ValidationError } from "../Errors.ts"
import { exampleId } from "../Ids.ts"
import { IntegrationId } from "../integrations/Integration.ts"
import {
  billableFields,
  maxBillablesPerRequest,
  maxMetadataValueLength,
  type NewBillable,
  newTaxRateIds
} from "../invoicing/Billable.ts"
import { describeValue } from "../RejectedValue.ts"
import { body, field, nonEmptyArray, optional, optionalWithDefault, text } from "../Schemas.ts"
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
  projectKey: optional(field(text(1, 100), "Only issues of this project of the tracker.", "NORTH")),
  state: optional(field(text(1, maxIssueTextLength.state), "Only issues in this state.", "Done"))
}).annotations({ identifier: "IssueFilter", description: "Selects all matching issues that are not billed yet." })

export const CreateBillablesFromIssues = body({
  integrationId: field(IntegrationId, "The integration that tracks the issues."),
  issueKeys: optional(field(IssueKeys, "Keys of the issues to bill. Give either these or `filter`.", ["NORTH-318"])),
  filter: optional(IssueFilter),
  amountMinor: billableFields.amountMinor,
  quantity: optionalWithDefault(billableFields.quantity, 1),
  name: optional(
    field(billableFields.name, "Text of every line. Default: key and title of the issue.", "Pump inspection")
  ),
  taxRateIds: newTaxRateIds
}).annotations({
  identifier: "CreateBillablesFromIssues",
  description: "Which issues to bill, and at what price. Give either `issueKeys` or `filter`.",
  // A composed example would have both.
  examples: [
    { integrationId: IntegrationId.make(exampleId("int")), issueKeys: ["NORTH-318"], amountMinor: 8800, quantity: 2.5 }
  ]
})
export type CreateBillablesFromIssues = typeof CreateBillablesFromIssues.Type

/** Fails unless the request selects its issues by exactly one of `issueKeys` and `filter`. */
export const requireSelection = ({
  filter,
  issueKeys
}: Pick<CreateBillablesFromIssues, "filter" | "issueKeys">): Either.Either<void, ValidationError> => {
  if (issueKeys === undefined && filter === undefined)
    return Either.left(fieldError("issueKeys", "required", "is required unless filter is given"))
  return issueKeys !== undefined && filter !== undefined
    ? Either.left(fieldError("filter", "unknown", "cannot be combined with issueKeys; send one of them"))
    : Either.void
}

/** The issues with these keys, in their order. Fails with an error for each key without an issue. */
export const requireAllFound = <Issue>(
  keys: ReadonlyArray<string>,
  found: ReadonlyMap<string, Issue>
): Either.Either<ReadonlyArray<Issue>, ValidationError> => {
  const missing = keys.flatMap((key, index) =>
    found.has(key)
      ? []
      : [
          {
            field: `issueKeys[${index}]`,
            constraint: "exists",
            message: `does not exist: the integration has no issue ${describeValue(key)}`
          } as const
        ]
  )
  return Either.map(requireNoErrors(missing), () => keys.flatMap((key) => found.get(key) ?? []))
}

/** The issues that a filter matches. Fails unless one request can bill them all. */
export const requireBillableCount = <Issue>(
  found: ReadonlyArray<Issue>
): Either.Either<ReadonlyArray<Issue>, ValidationError> => {
  if (found.length === 0) return Either.left(fieldError("filter", "minItems", "matches no unbilled issue"))
  return found.length > maxBillablesPerRequest
    ? Either.left(
        fieldError("filter", "maxItems", `matches more than ${maxBillablesPerRequest} unbilled issues; narrow it down`)
      )
    : Either.right(found)
}

const truncate = (value: string, maxLength: number) => [...value].slice(0, maxLength).join("")

/** Builds the line that bills an issue. */
export const issueToLine = (
  { id, issueKey, state, title, url }: TrackedIssue,
  siteId: string | undefined,
  { amountMinor, name, quantity = 1, taxRateIds }: CreateBillablesFromIssues
): NewBillable => ({
  name: name ?? truncate(title === undefined || title === "" ? issueKey : `${issueKey}: ${title}`, 255),
  amountMinor,
  quantity,
  ...(taxRateIds === undefined ? {} : { taxRateIds }),
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

/**
 * Renames the fields in errors of lines to those of the request for issues. All lines have the same tax rates, so that an
 * error of these is reported once.
 */
export const toIssueErrors = ({ details = [], message }: ValidationError, hasKeys: boolean) => {
  const renamed = details.map((detail) => {
    const field = detail.field.replace(/^billables\[\d+\]\.(?=taxRateIds)/, "")
    return { ...detail, field: hasKeys ? field.replace(/^billables\[(\d+)\]\.referenceId$/, "issueKeys[$1]") : field }
  })
  const isFirst = ({ constraint, field }: (typeof renamed)[number], index: number) =>
    renamed.findIndex((other) => other.field === field && other.constraint === constraint) === index
  return new ValidationError({ message, details: renamed.filter(isFirst) })
}
