/** A rule of the standard that an e-invoice does not meet. */
export interface ReadinessError {
  /** Name of the rule in EN 16931, or XML-CHAR for a character that XML cannot contain. */
  readonly rule: string
  /** Field of the API that has to change. */
  readonly field: string
  /** What to do, as a sentence. */
  readonly message: string
}

/** The error, unless the rule is met. */
export const requireRule = (
  isMet: boolean,
  rule: string,
  field: string,
  message: string
): ReadonlyArray<ReadinessError> => (isMet ? [] : [{ rule, field, message }])
