import { type Signal, signal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
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

/** Reads a value for a view. `key` names it; another key reads another value. */
export const useQuery = <A>(key: string, reading: () => Promise<A>) => {
  // The cache holds under a key what `reading` returned for the same key.
  const state = useMemo(
    () => signal<Query<A>>({ value: cache.get(key) as A | undefined, error: undefined, isLoading: true }),
    [key]
  )
  const latest = useRef(reading)
  latest.current = reading
  const version = changes.value
  useEffect(() => {
    let isCurrent = true
    latest.current().then(
      (value) => {
        remember(key, value)
        if (isCurrent) state.value = { value, error: undefined, isLoading: false }
      },
      (cause: unknown) => {
        if (isCurrent) state.value = { value: state.peek().value, error: asFailure(cause), isLoading: false }
      }
    )
    return () => {
      isCurrent = false
    }
  }, [key, version, state])
  return state.value
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

const noPages = { items: [], error: undefined, isLoading: true, hasMore: false }

const appendPage = async <A>(
  state: Signal<Pages<A>>,
  reading: Promise<Loaded<ReadonlyArray<A>>>,
  isCurrent: () => boolean
) => {
  try {
    const { cursor, value } = await reading
    if (!isCurrent()) return undefined
    state.value = {
      items: [...state.peek().items, ...value],
      error: undefined,
      isLoading: false,
      hasMore: cursor !== undefined
    }
    return cursor
  } catch (cause) {
    if (isCurrent()) state.value = { ...state.peek(), error: asFailure(cause), isLoading: false, hasMore: false }
    return undefined
  }
}

/** Reads a list page by page, as far as somebody scrolls. */
export const usePages = <A>(
  key: string,
  readPage: (cursor: string | undefined) => Promise<Loaded<ReadonlyArray<A>>>
) => {
  const version = changes.value
  const list = useMemo(() => {
    const state = signal<Pages<A>>(noPages)
    return { state, cursor: undefined as string | undefined, isCurrent: true, key, version }
  }, [key, version])
  useEffect(() => {
    void appendPage(list.state, readPage(undefined), () => list.isCurrent).then((cursor) => {
      list.cursor = cursor
    })
    return () => {
      list.isCurrent = false
    }
  }, [list])
  const loadMore = () => {
    if (list.cursor === undefined || list.state.peek().isLoading) return
    list.state.value = { ...list.state.peek(), isLoading: true }
    void appendPage(list.state, readPage(list.cursor), () => list.isCurrent).then((cursor) => {
      list.cursor = cursor
    })
  }
  return { ...list.state.value, loadMore }
}
