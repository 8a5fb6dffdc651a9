import { signal } from "@preact/signals"
import { useEffect, useMemo } from "preact/hooks"
import { ApiFailure, api, load, type Schemas } from "../../api/client.ts"
import { changes, type Pages } from "../../api/query.ts"
import { nameOfResource } from "./resourceOf.ts"

/** A row of the feed. It leaves out the data, so that a long list needs little memory. */
export interface FeedRow {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly createdBy: string | undefined
  readonly name: string
}

const toRow = (event: Schemas["Event"]): FeedRow => ({
  id: event.id,
  type: event.type,
  timestamp: event.timestamp,
  createdBy: event.createdBy,
  name: nameOfResource(event)
})

const pageSize = 100
/** How many new events are read at once. If there are more, the list begins anew at the end. */
const maxNews = 200
/** Older rows leave a live feed, and return when somebody scrolls to them. */
const maxLiveRows = 1000
const pollMs = 1500

type Pattern = Schemas["EventPattern"] | undefined

const readEvents = async (query: { order?: "desc"; after?: string; limit: number }, type: Pattern) => {
  const { cursor, value } = await load(
    api.GET("/api/v1/events", { params: { query: { ...query, ...(type === undefined ? {} : { type }) } } })
  )
  return { rows: value.map(toRow), hasMore: cursor !== undefined }
}

/** The feed of one type, newest first: its end, what comes after it, and older events on demand. */
const makeFeed = (type: Pattern) => {
  const state = signal<Pages<FeedRow>>({ items: [], error: undefined, isLoading: true, hasMore: false })
  let isReading = false
  /** One request at a time, so that no event is added twice. */
  const reading = async (read: () => Promise<Pick<Pages<FeedRow>, "items" | "hasMore">>) => {
    if (isReading) return
    isReading = true
    try {
      state.value = { ...(await read()), error: undefined, isLoading: false }
    } catch (cause) {
      const error = cause instanceof ApiFailure ? cause : new ApiFailure(0, String(cause))
      // A feed that was there stays there while the service cannot be reached.
      state.value = { ...state.peek(), error: state.peek().items.length === 0 ? error : undefined, isLoading: false }
    } finally {
      isReading = false
    }
  }
  const readEnd = async () => {
    const { hasMore, rows } = await readEvents({ order: "desc", limit: pageSize }, type)
    return { items: rows, hasMore }
  }
  const readNews = async () => {
    const { hasMore, items } = state.peek()
    const [newest] = items
    if (newest === undefined) return readEnd()
    const news = await readEvents({ after: newest.id, limit: maxNews }, type).catch((cause: unknown) => {
      // The newest event that the page knows has expired.
      if (cause instanceof ApiFailure && cause.status === 400) return { rows: [], hasMore: true }
      throw cause
    })
    if (news.hasMore) return readEnd()
    const all = [...news.rows.toReversed(), ...items]
    return { items: all.slice(0, maxLiveRows), hasMore: hasMore || all.length > maxLiveRows }
  }
  const readOlder = async () => {
    const { items } = state.peek()
    const oldest = items.at(-1)
    if (oldest === undefined) return readEnd()
    const older = await readEvents({ order: "desc", after: oldest.id, limit: pageSize }, type)
    return { items: [...items, ...older.rows], hasMore: older.hasMore }
  }
  return {
    state,
    begin: () => void reading(readEnd),
    poll: () => void reading(readNews),
    loadMore: () => state.peek().hasMore && void reading(readOlder)
  }
}

/** The live feed of a tenant. A paused feed shows nothing new. */
export const useFeed = (key: string, type: Pattern, isPaused: boolean) => {
  const version = changes.value
  const feed = useMemo(() => makeFeed(type), [key])
  useEffect(() => {
    if (!isPaused) feed.begin()
  }, [feed, version])
  useEffect(() => {
    if (isPaused) return
    feed.poll()
    const timer = setInterval(() => document.hidden || feed.poll(), pollMs)
    return () => clearInterval(timer)
  }, [feed, isPaused])
  return { ...feed.state.value, loadMore: feed.loadMore }
}
