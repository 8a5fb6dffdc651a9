import { parentPort } from "node:worker_threads"
import { getDocument } from "pdfjs-dist/legacy/build/pdf.mjs"

const readPage = async (page) => ({ view: page.view, items: (await page.getTextContent()).items })

const readFile = async (data) => {
  const reading = getDocument({ data, verbosity: 0 })
  const document = await reading.promise
  const pages = []
  for (let number = 1; number <= document.numPages; number++) pages.push(await readPage(await document.getPage(number)))
  const { info } = await document.getMetadata()
  await reading.destroy()
  return { pages, info }
}

parentPort.on("message", async ({ file, port }) => {
  try {
    port.postMessage({ document: await readFile(file) })
  } catch (error) {
    port.postMessage({ error: String(error) })
  } finally {
    port.close()
  }
})
