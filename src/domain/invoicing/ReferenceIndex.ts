import type { ErrorDetail } from "../Errors.ts"
import { canBeSameSite, issueOfLine, siteOfLine } from "../trackers/IssueBilling.ts"

/** The fields of a line that say what it bills. */
export interface ReferenceFields {
  readonly referenceType?: string | undefined
  readonly referenceId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

export const hasReference = ({ referenceId, referenceType }: ReferenceFields) =>
  referenceId !== undefined && referenceType !== undefined

/** A line that uses a reference. `invoice` is undefined for a line of the current request. */
interface ReferenceUse {
  readonly site: string | undefined
  readonly invoice: string | undefined
}

const keyOf = ({ referenceId, referenceType }: ReferenceFields) => JSON.stringify([referenceType, referenceId])

/** Index of lines by reference, and by the tracked issue that they were created from. */
export class ReferenceIndex {
  readonly #byKey = new Map<string, Array<ReferenceUse>>()
  readonly #byIssue = new Map<string, ReferenceUse>()

  add(line: ReferenceFields, invoice?: string) {
    const use = { site: siteOfLine(line), invoice }
    const issue = issueOfLine(line)
    const sameKey = this.#byKey.get(keyOf(line))
    if (sameKey === undefined) this.#byKey.set(keyOf(line), [use])
    else sameKey.push(use)
    // Stryker disable next-line ConditionalExpression: no line is looked up by a missing issue
    if (issue !== undefined) this.#byIssue.set(issue, use)
  }

  #find(line: ReferenceFields) {
    const site = siteOfLine(line)
    const sameReference = this.#byKey.get(keyOf(line))?.find((use) => canBeSameSite(use.site, site))
    // Stryker disable next-line StringLiteral: any text that is no identifier does
    return sameReference ?? this.#byIssue.get(issueOfLine(line) ?? "")
  }

  /** Adds the lines of a request. Returns an error for each that bills what is billed already, or an earlier line. */
  addRequest(lines: ReadonlyArray<ReferenceFields>, fieldOf: (index: number) => string): ReadonlyArray<ErrorDetail> {
    return lines.flatMap((line, index): ReadonlyArray<ErrorDetail> => {
      if (!hasReference(line)) return []
      const use = this.#find(line)
      this.add(line)
      if (use === undefined) return []
      const { invoice } = use
      const message = invoice === undefined ? "is used by an earlier line" : `is already billed on invoice ${invoice}`
      return [{ field: fieldOf(index), constraint: "unique", message }]
    })
  }
}
