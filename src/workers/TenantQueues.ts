/** The items taken for one tenant. */
export interface TenantBatch<A> {
  readonly tenant: string
  readonly items: ReadonlyArray<A>
}

/** A bounded queue per tenant. `take` serves the tenants round-robin, with equal shares. */
export const makeTenantQueues = <A>(maxPerTenant: number) => {
  // A map iterates in insertion order: `take` inserts a served tenant again, behind the others.
  const queues = new Map<string, Array<A>>()
  let size = 0

  return {
    size: () => size,
    hasItems: (tenant: string) => queues.has(tenant),

    /** Returns false when the tenant's queue is full. */
    offer: (tenant: string, item: A) => {
      const queue = queues.get(tenant) ?? []
      if (queue.length >= maxPerTenant) return false
      queue.push(item)
      queues.set(tenant, queue)
      size++
      return true
    },

    /** Puts taken items back at the front. They may exceed the bound. */
    requeue: (tenant: string, items: ReadonlyArray<A>) => {
      if (items.length === 0) return
      queues.set(tenant, [...items, ...(queues.get(tenant) ?? [])])
      size += items.length
    },

    /** Takes the next batch of each of the next tenants, `maxItems` in total, and skips excluded tenants. */
    take: (
      maxTenants: number,
      maxItems: number,
      isExcluded: (tenant: string) => boolean
    ): ReadonlyArray<TenantBatch<A>> => {
      const tenants: Array<string> = []
      for (const tenant of queues.keys()) {
        if (tenants.length === maxTenants) break
        if (!isExcluded(tenant)) tenants.push(tenant)
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
