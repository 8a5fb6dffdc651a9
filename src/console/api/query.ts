import { signal } from "@preact/signals"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { ApiFailure, type Loaded } from "./client.ts"

export interface Query<A> {
  readonly value: A | undefined
  readonly error: ApiFailure | undefined
  readonly isLoading: boolean
}

const asFailure = (cause: unknown) => (cause instanceof ApiFailure ? cause : new ApiFailure(0, String(cause)))

/** What was read before, so that Back shows it at once while it is read again. */
const cache = new Map<string, unknown>()
const maxCached = 200

const remember = (key: string, value: unknown) => {
  const [oldest] = cache.keys()
  if (oldest !== undefined && cache.size >= maxCached) cache.delete(oldest)
  cache.set(key, value)
}

/** Forgets what was read, after signing out or changing the tenant. */
export const clearCache = () => cache.clear()

/** Counts up with every change that this page makes, so that the views read again. */
export const changes = signal(0)

interface PollOptions {
  /** Reads again after this time, while the page is visible. */
  readonly pollMs?: number | undefined
}

interface QueryOptions<A> extends PollOptions {
  /** Whether a value needs no polls, because it changes no more. */
  readonly isFinal?: (value: A) => boolean
}

/**
 * Counts up while a view is polled. Not during a reading, which the next one would make void: with answers slower than
 * the polls the view would never change.
 */
const usePolls = ({ pollMs }: PollOptions, isReading: () => boolean) => {
  const [polls, setPolls] = useState(0)
  const latest = useRef(isReading)
  latest.current = isReading
  useEffect(() => {
    if (pollMs === undefined) return
    const timer = setInterval(() => document.hidden || latest.current() || setPolls((count) => count + 1), pollMs)
    return () => clearInterval(timer)
  }, [pollMs])
  return polls
}

/** Counts readings that have no answer yet. */
const makeReadingCount = () => {
  let count = 0
  return {
    isReading: () => count > 0,
    counted: async <A>(reading: Promise<A>) => {
      count++
      try {
        return await reading
      } finally {
        count--
      }
    }
  }
}

/** Reads a value for a view. `key` names it; another key reads another value. */
export const useQuery = <A>(key: string, reading: () => Promise<A>, options: QueryOptions<A> = {}) => {
  // The cache holds under a key what `reading` returned for the same key.
  const state = useMemo(
    () => signal<Query<A>>({ value: cache.get(key) as A | undefined, error: undefined, isLoading: true }),
    [key]
  )
  const latest = useRef(reading)
  latest.current = reading
  const version = changes.value
  const { counted, isReading } = useMemo(makeReadingCount, [])
  const shown = state.value
  const polls = usePolls(shown.value !== undefined && options.isFinal?.(shown.value) ? {} : options, isReading)
  useEffect(() => {
    let isCurrent = true
    // After a change another reading begins, though only when the view has rendered.
    const isLatest = () => isCurrent && changes.peek() === version
    counted(latest.current()).then(
      (value) => {
        if (isLatest()) remember(key, value)
        if (isLatest()) state.value = { value, error: undefined, isLoading: false }
      },
      (cause: unknown) => {
        if (isLatest()) state.value = { value: state.peek().value, error: asFailure(cause), isLoading: false }
      }
    )
    return () => {
      isCurrent = false
    }
  }, [key, version, polls, state])
  return shown
}

/** The same without what was read before: for a form, whose fields begin with what holds now. */
export const useFreshQuery = <A>(key: string, reading: () => Promise<A>): Query<A> => {
  const query = useQuery(key, reading)
  return query.isLoading ? { ...query, value: undefined } : query
}

export interface Pages<A> {
  readonly items: ReadonlyArray<A>
  readonly error: ApiFailure | undefined
  readonly isLoading: boolean
  readonly hasMore: boolean
}

type ReadPage<A> = (cursor: string | undefined) => Promise<Loaded<ReadonlyArray<A>>>

/** The pages of one list. Reading it again shows the old items until the new ones are there. */
const makeList = <A>() => {
  const state = signal<Pages<A>>({ items: [], error: undefined, isLoading: true, hasMore: false })
  let cursor: string | undefined
  let pageCount = 0
  // A page that was asked for before the list was read again does not belong to it.
  let reads = 0
  const { counted, isReading } = makeReadingCount()
  const readAfter = async (readPage: ReadPage<A>, start: string | undefined) => {
    const current = start === undefined ? ++reads : reads
    try {
      const page = await counted(readPage(start))
      if (current !== reads) return
      cursor = page.cursor
      pageCount = start === undefined ? 1 : pageCount + 1
      const before = start === undefined ? [] : state.peek().items
      state.value = {
        items: [...before, ...page.value],
        error: undefined,
        isLoading: false,
        hasMore: cursor !== undefined
      }
    } catch (cause) {
      if (current === reads)
        state.value = { ...state.peek(), error: asFailure(cause), isLoading: false, hasMore: false }
    }
  }
  return {
    state,
    /** Whether somebody has scrolled on, and would lose the place. */
    hasManyPages: () => pageCount > 1,
    isReading,
    readFirst: (readPage: ReadPage<A>) => readAfter(readPage, undefined),
    loadMore: (readPage: ReadPage<A>) => {
      if (cursor === undefined || state.peek().isLoading) return
      state.value = { ...state.peek(), isLoading: true }
      void readAfter(readPage, cursor)
    },
    forget: () => {
      reads++
    }
  }
}

/** Reads a list page by page, as far as somebody scrolls. */
export const usePages = <A>(key: string, readPage: ReadPage<A>, options: PollOptions = {}) => {
  const version = changes.value
  const list = useMemo(() => makeList<A>(), [key])
  const polls = usePolls(options, list.isReading)
  const lastPoll = useRef(polls)
  useEffect(() => {
    const isPoll = lastPoll.current !== polls
    lastPoll.current = polls
    if (!isPoll || !list.hasManyPages()) void list.readFirst(readPage)
  }, [list, version, polls])
  useEffect(() => list.forget, [list])
  return { ...list.state.value, loadMore: () => list.loadMore(readPage) }
}
