import { ApiFailure, isRejection } from "./client.ts"

/**
 * The Idempotency-Key of a form. It stays the same until the form has succeeded, also after a reload, so that a form that
 * was sent twice has done its work once. Session storage holds the key and nothing else.
 */
const storageName = (form: string) => `idempotency-key:${form}`

const formKey = (form: string) => {
  const known = sessionStorage.getItem(storageName(form))
  if (known !== null) return known
  const created = crypto.randomUUID()
  sessionStorage.setItem(storageName(form), created)
  return created
}

const forgetKey = (form: string) => sessionStorage.removeItem(storageName(form))

/** The service knows the key from another request: an earlier try has succeeded, and its answer was lost. */
const isKeyOfAnother = ({ message, status }: ApiFailure) => status === 409 && message.includes("Idempotency-Key")

const earlierTry = "An earlier try has succeeded, with other values. Look at it before you send this again."

/**
 * Runs a POST, or several for one thing, with the key of their form. A rejection did nothing, so the next try is another
 * request. A form that can be used again on a changed resource has the version of the resource in its name.
 */
export const withKey = async <A>(form: string, post: (headers: { "Idempotency-Key": string }) => Promise<A>) => {
  try {
    const result = await post({ "Idempotency-Key": formKey(form) })
    forgetKey(form)
    return result
  } catch (error) {
    if (!isRejection(error)) throw error
    forgetKey(form)
    throw isKeyOfAnother(error) ? new ApiFailure(error.status, earlierTry) : error
  }
}

/** Runs the second of two steps. If the service rejects it, the first one is undone, so that nothing is left of both. */
export const orUndo = async <A>(second: Promise<A>, undoFirst: () => Promise<unknown>) => {
  try {
    return await second
  } catch (error) {
    // The rejection is what somebody has to see. What cannot be undone stays in its list.
    if (isRejection(error)) await undoFirst().catch(() => undefined)
    throw error
  }
}
