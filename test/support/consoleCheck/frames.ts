import type { Page } from "playwright-core"

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

/** Records the frames and the long tasks of a page while something happens. */
export const recordFrames = async (page: Page, work: () => Promise<unknown>): Promise<Frames> => {
  await page.evaluate(beginRecording)
  await work()
  const { gaps, tasks } = await page.evaluate<Recorded>("endRecording()")
  return {
    count: gaps.length,
    slowShare: gaps.filter((gap) => gap > slowFrameMs).length / Math.max(gaps.length, 1),
    worstMs: Math.max(0, ...gaps),
    longestTaskMs: Math.max(0, ...tasks)
  }
}

/** Turns the wheel over the middle of the page for some seconds. */
export const scrollByWheel = async (page: Page, seconds: number) => {
  await page.mouse.move(640, 500)
  const end = Date.now() + seconds * 1000
  while (Date.now() < end) await page.mouse.wheel(0, 600)
}
