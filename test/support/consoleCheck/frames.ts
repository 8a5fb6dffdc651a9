import type { Browser, Page } from "playwright-core"

/** A task that blocks the page longer than this is felt. */
export const maxTaskMs = 100

/** A frame that takes longer than two of a screen with 60 Hz is seen. */
const slowFrameMs = 1000 / 30

export interface Frames {
  readonly count: number
  /** The share of frames that took longer than 1/30 s. */
  readonly slowShare: number
  readonly worstMs: number
  /** The longest task, or 0 if none took longer than 50 ms. */
  readonly longestTaskMs: number
  /** The most CPU time of one task, which other programs on the machine do not change. */
  readonly mostCpuMs: number
}

interface Recorded {
  readonly gaps: ReadonlyArray<number>
  readonly tasks: ReadonlyArray<number>
}

const beginRecording = `(() => {
  const gaps = []
  const tasks = []
  const note = (entries) => tasks.push(...entries.map(({ duration }) => duration))
  const observer = new PerformanceObserver((list) => note(list.getEntries()))
  observer.observe({ entryTypes: ["longtask"] })
  let isRecording = true
  let last = performance.now()
  const onFrame = (now) => {
    gaps.push(now - last)
    last = now
    if (isRecording) requestAnimationFrame(onFrame)
  }
  requestAnimationFrame(onFrame)
  window.endRecording = () => {
    isRecording = false
    note(observer.takeRecords())
    observer.disconnect()
    return { gaps, tasks }
  }
})()`

/** A part of the events of a trace of Chromium. Durations are in microseconds, `tdur` of CPU time. */
interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

const findMostCpuMs = (trace: Buffer) => {
  const { traceEvents }: { readonly traceEvents: ReadonlyArray<TraceEvent> } = JSON.parse(trace.toString())
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const isMain = ({ args, name }: TraceEvent) => name === "thread_name" && args.name === "CrRendererMain"
  const pages = new Set(traceEvents.filter(isMain).map(threadOf))
  const tasks = traceEvents.filter((event) => event.name.endsWith("RunTask") && pages.has(threadOf(event)))
  if (!tasks.some(({ tdur }) => tdur !== undefined)) throw new Error("The trace of Chromium has no task with CPU time")
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1000
}

const traceCategories = ["toplevel", "disabled-by-default-devtools.timeline"]

/** Records the frames and the long tasks of a page while something happens. */
export const recordFrames = async (browser: Browser, page: Page, work: () => Promise<unknown>): Promise<Frames> => {
  await browser.startTracing(page, { categories: traceCategories })
  await page.evaluate(beginRecording)
  await work()
  const { gaps, tasks } = await page.evaluate<Recorded>("endRecording()")
  const mostCpuMs = findMostCpuMs(await browser.stopTracing())
  return {
    mostCpuMs,
    count: gaps.length,
    slowShare: gaps.filter((gap) => gap > slowFrameMs).length / Math.max(gaps.length, 1),
    worstMs: Math.max(0, ...gaps),
    longestTaskMs: Math.max(0, ...tasks)
  }
}

/** What one notch of a wheel scrolls, in pixels. */
const notch = 120

/** Turns the wheel over the middle of the page for some seconds, as fast as the page follows. */
export const scrollByWheel = async (page: Page, seconds: number) => {
  await page.mouse.move(640, 500)
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) await page.mouse.wheel(0, notch)
}
