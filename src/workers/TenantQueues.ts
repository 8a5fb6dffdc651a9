/** What was taken for one tenant. */
export interface Turn<A> {
  readonly tenant: string
  readonly items: ReadonlyArray<A>
}

/** Items that wait, tenant by tenant. Tenants take turns with equal shares, and none can have more than `maxEach` wait. */
export const makeTenantQueues = <A>(maxEach: number) => {
  // A map keeps the order in which keys were set: a tenant that had its turn is set anew, behind the others.
  const queues = new Map<string, Array<A>>()
  let size = 0

  return {
    size: () => size,
    isWaiting: (tenant: string) => queues.has(tenant),

    /** Whether there was room for it. */
    offer: (tenant: string, item: A) => {
      const queue = queues.get(tenant) ?? []
      if (queue.length >= maxEach) return false
      queue.push(item)
      queues.set(tenant, queue)
      size++
      return true
    },

    /** Puts items that were taken before back in front, where there is always room for them. */
    putBack: (tenant: string, items: ReadonlyArray<A>) => {
      if (items.length === 0) return
      queues.set(tenant, [...items, ...(queues.get(tenant) ?? [])])
      size += items.length
    },

    /** The turns of the next tenants, but for those that are left out, with no more than `maxItems` in all. */
    take: (maxTenants: number, maxItems: number, isLeftOut: (tenant: string) => boolean): ReadonlyArray<Turn<A>> => {
      const tenants: Array<string> = []
      for (const tenant of queues.keys()) {
        if (tenants.length === maxTenants) break
        if (!isLeftOut(tenant)) tenants.push(tenant)
      }
      const share = Math.max(1, Math.floor(maxItems / tenants.length))
      return tenants.map((tenant) => {
        const queue = queues.get(tenant) ?? []
        const items = queue.splice(0, share)
        queues.delete(tenant)
        if (queue.length > 0) queues.set(tenant, queue)
        size -= items.length
        return { tenant, items }
      })
    }
  }
}
