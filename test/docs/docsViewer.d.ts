declare module "*/scripts/docsViewer.mjs" {
  export const requestViewer: () => Promise<Buffer>
  export const viewerFile: string
}
