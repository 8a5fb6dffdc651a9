/** What can say more about a failed test than its error. */
export const failureDescribers = new Set<() => Promise<string>>()
