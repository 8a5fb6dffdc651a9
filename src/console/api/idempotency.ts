/**
 * The Idempotency-Key of a form. It stays the same until the form has succeeded, also after a reload, so that a form that
 * was sent twice has done its work once. Session storage holds the key and nothing else.
 */
const storageName = (form: string) => `idempotency-key:${form}`

export const formKey = (form: string) => {
  const known = sessionStorage.getItem(storageName(form))
  if (known !== null) return known
  const created = crypto.randomUUID()
  sessionStorage.setItem(storageName(form), created)
  return created
}

export const forgetKey = (form: string) => sessionStorage.removeItem(storageName(form))

/** Runs a POST with the key of its form. A 4xx did nothing, so the next try is another request. */
export const withKey = async <A>(form: string, post: (headers: { "Idempotency-Key": string }) => Promise<A>) => {
  try {
    const result = await post({ "Idempotency-Key": formKey(form) })
    forgetKey(form)
    return result
  } catch (error) {
    const status = error instanceof Error && "status" in error ? Number(error.status) : 0
    if (status >= 400 && status < 500) forgetKey(form)
    throw error
  }
}
