/** Offers a file to save. The browser keeps the bytes as long as the page may need them. */
export const saveFile = (file: Blob, name: string) => {
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement("a"), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
