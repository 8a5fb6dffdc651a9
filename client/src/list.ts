interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** The query of the next page, if there is one. */
  readonly next: string | undefined
}

/** A list of the API. It requests a page when the iteration gets there; each iteration starts anew. */
export class List<A> implements AsyncIterable<A> {
  readonly #read: (next: string | undefined) => Promise<Page<A>>

  constructor(read: (next: string | undefined) => Promise<Page<A>>) {
    this.#read = read
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<A, void, undefined> {
    for await (const page of this.pages()) yield* page
  }

  /** Iterates over pages instead of items. `limit` sets their size. */
  async *pages(): AsyncGenerator<ReadonlyArray<A>, void, undefined> {
    let next: string | undefined
    do {
      const page = await this.#read(next)
      yield page.items
      next = page.next
    } while (next !== undefined)
  }

  /** Reads all pages. */
  async toArray(): Promise<Array<A>> {
    const items: Array<A> = []
    for await (const page of this.pages()) items.push(...page)
    return items
  }
}
