const day = 86_400_000

/** How a moment is written. */
export const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A moment so many days after another one, which is now unless it is told. */
export const inDays = (days: number, from: unknown = new Date().toISOString()) =>
  new Date(Date.parse(String(from)) + days * day).toISOString()
